//! The HTTP API under `/api/v1`, and its description in OpenAPI.
//!
//! ```text
//! request ─▶ parameters, body (typed)  ─ wrong ─▶ problem+json
//!             └▶ Api::read, change ─▶ a thread that may block: Desk ─▶ reply (typed)
//! /events, /tasks/ID/output/stream ─▶ hubs: one reader for all viewers ─▶ server-sent events
//! ```
//!
//! Every route is declared once, with its description; the document is made from the same declarations.

#![expect(unused_qualifications, reason = "the descriptions of routes are expanded to qualified names")]

mod approvals;
mod event_stream;
mod events;
mod extract;
mod groups;
mod live_log;
mod metrics;
mod output;
mod reply;
mod routes;
mod shared_reads;
mod state;
mod task_changes;
mod tasks;
mod timeline;
mod usage;
mod wait;

pub use groups::AgentInfo;
pub use routes::{document, routes};
pub use state::{Api, NewRule, Options};
