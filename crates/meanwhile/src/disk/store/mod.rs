//! The database: tasks and events, one transaction per change. This is the only module with SQL. `damage` sets a damaged
//! file aside, and `inspect` describes a home for `mw doctor`.
//!
//! Events are authoritative, and the state column is a cache of their result. Both are written in the same
//! transaction. Data that a function's documentation calls durable survives the death of any process of ours. A power
//! failure may lose the last moments, which are then rebuilt from the task directories.

mod approvals;
mod by_state;
mod check_copy;
mod connection;
mod cursors;
pub(crate) mod damage;
mod error;
mod events;
mod filter;
pub(crate) mod inspect;
mod list;
mod migrations;
mod notices;
mod query;
mod queue;
mod read;
mod reservations;
mod resolve;
mod rows;
mod sessions;
mod spans;
#[cfg(test)]
mod stored_formats_tests;
mod write;
mod writer_turn;

pub use approvals::ApprovalEntry;
pub(crate) use error::StoreError;
pub use events::TaskEvent;
pub use filter::{ListOrder, TaskFilter, TaskPage};
pub use sessions::SessionInfo;
pub use spans::ExportState;

pub(crate) use connection::{Opened, Store};
pub(crate) use notices::{NoticeRow, Stage, ordinal};
pub(crate) use read::{BatchCounts, EndedTask, Outline, Totals};
pub(crate) use resolve::Naming;
pub(crate) use write::Transaction;

pub(crate) use crate::task::Change;
