//! The database, kept consistent with the task directories.
//!
//! `stores` opens it and brings it up to date. `arrivals` adds tasks that were started without it, `rebuild` fills an
//! empty one, `restore_lost_log` restores what was lost with the write-ahead log, and `replace_damaged` replaces a damaged
//! one. `on_disk` reads a task from its directory. `look_at` inspects a task's directory, `findings` derives the events,
//! and `apply` records them. `event` applies one event with its notifications and spans. `ending` records endings without
//! a supervisor, and `change` changes one task on request. `announce` informs other processes of a change. `lookup` finds
//! a task by name.

mod announce;
mod apply;
pub(crate) mod arrivals;
pub(crate) mod change;
pub(crate) mod ending;
mod event;
pub(crate) mod findings;
mod look_at;
pub(crate) mod lookup;
pub(crate) mod on_disk;
mod rebuild;
mod replace_damaged;
mod restore_lost_log;
pub(crate) mod stores;

pub use lookup::Lookup;
pub(crate) use stores::Database;
