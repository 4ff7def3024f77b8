//! The database: tasks and events, one transaction per change. The only module that knows SQL.
//!
//! Events are the truth and the state column a cache of what they add up to; both are written in the
//! same transaction. What a function's documentation calls durable survives the death of any process
//! of ours; a power cut may take the last moments, which are then rebuilt from the task directories.

mod approvals;
mod by_state;
mod connection;
mod cursors;
mod error;
mod events;
mod filter;
mod inspect;
mod latches;
mod list;
mod migrations;
mod notices;
mod queue;
mod read;
mod resolve;
mod rows;
mod sessions;
mod spans;
#[cfg(test)]
mod stored_formats;
mod write;

pub use approvals::Entry as ApprovalEntry;
pub use error::StoreError;
pub use events::EventRow;
pub use filter::{Filter, Order, Page};
pub use sessions::SessionInfo;
pub use spans::ExportState;

pub(crate) use connection::{Opened, Store};
pub(crate) use inspect::{DatabaseReport, inspect_copy};
pub(crate) use notices::{NoticeRow, Stage, ordinal};
pub(crate) use read::{Ended, Outline, Totals};
pub(crate) use resolve::Naming;
pub(crate) use rows::new_task;
pub(crate) use write::{Change, Transaction};
