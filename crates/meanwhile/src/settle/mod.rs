//! What happened becomes events.
//!
//! `reconcile` compares the database with the task directories and records what is new; `index` brings in tasks that the
//! database does not have; `mend` finds what was lost with its log; `ending` writes endings that no supervisor saw; `change` is the one way to change a task;
//! `after_end` starts the next task, runs hooks and removes what is old.

pub(crate) mod after_end;
pub(crate) mod change;
pub(crate) mod ending;
pub(crate) mod index;
pub(crate) mod mend;
pub(crate) mod reconcile;
