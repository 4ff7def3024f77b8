//! Bringing notifications to whoever is connected: a client of the MCP server, or the model of the built-in agent.
//!
//! A `teller` holds a session and takes its notifications from the ledger. What a reply carries is acknowledged by its
//! `receipts` once the reply is written; `calls` are those under way, and `instructions` tell a model what to expect.

pub(crate) mod calls;
pub(crate) mod instructions;
pub(crate) mod receipts;
pub(crate) mod teller;

pub use teller::Tells;
