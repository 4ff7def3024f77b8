//! The database and the task directories, kept in step.
//!
//! `database` opens the database and brings it up to date. `arrivals` takes in tasks that were started
//! without it, `rebuild` fills an empty one, `mend` finds what was lost with the write-ahead log, and `heal` replaces a
//! damaged one. `on_disk` is a task as its directory has it. `look_at` looks at a task's
//! directory, `findings` says what follows, and `apply` records it. `ending` writes endings that no supervisor saw, and
//! `change` is the one way to change a task. `lookup` finds a task by name, and `retained` names tasks that stay.

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
    /// Finds the task that somebody means.
    Lookup
}
