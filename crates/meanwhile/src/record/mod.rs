//! Keeps the database and the task directories consistent.
//!
//! `database` opens the database and brings it up to date. `arrivals` adds tasks that were started without it,
//! `rebuild` fills an empty one, `mend` restores what was lost with the write-ahead log, and `heal` replaces a damaged
//! one. `on_disk` reads a task from its directory. `look_at` inspects a task's directory, `findings` derives the
//! events, and `apply` records them. `ending` records endings without a supervisor, and `change` changes one task on
//! request. `lookup` finds a task by name, and `retained` describes tasks that were not removed.

mod apply;
pub(crate) mod arrivals;
pub(crate) mod change;
pub(crate) mod database;
pub(crate) mod ending;
pub(crate) mod findings;
pub(crate) mod heal;
mod look_at;
pub(crate) mod lookup;
pub(crate) mod mend;
pub(crate) mod on_disk;
mod rebuild;
pub(crate) mod retained;

use crate::base::part;

part! {
    /// Records what happened to tasks.
    Records
}

part! {
    /// Finds a task by id, handle or name.
    Lookup
}
