//! The end of a task.
//!
//! `plan` is the schedule of a kill: signal, grace period, SIGKILL. `killing` carries it out on the `tree`. `leader`
//! handles the end of the first process, and `record` writes it to disk before any client is answered.

pub(crate) mod killing;
pub(crate) mod leader;
pub(crate) mod plan;
pub(crate) mod record;
pub(crate) mod tree;
