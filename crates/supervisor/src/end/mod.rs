//! The end of a task.
//!
//! `plan` is the schedule of a kill: signal, grace period, SIGKILL. `killing` carries it out on the `tree`. `leader`
//! handles the end of the first process, `driver` that of a process which only stands for a task elsewhere, and `record` writes it to disk before any client is answered. `conclude` is the last
//! act.

pub(crate) mod conclude;
pub(crate) mod driver;
pub(crate) mod kill_plan;
pub(crate) mod killing;
pub(crate) mod leader;
pub(crate) mod record;
pub(crate) mod tree;
