//! The database and the task directories, kept in step.
//!
//! `database` opens the database and brings it up to date. `index` takes in tasks that only their directories know, `mend`
//! finds what was lost with the write-ahead log, `heal` replaces a
//! damaged database, `findings` looks at a task's directory and records what is new, `ending`
//! writes endings that no supervisor saw, and `change` is the one way to change a task.

pub(crate) mod change;
pub(crate) mod database;
pub(crate) mod ending;
pub(crate) mod findings;
pub(crate) mod heal;
pub(crate) mod index;
pub(crate) mod lookup;
pub(crate) mod mend;
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
