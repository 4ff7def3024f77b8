//! The end of a task.
//!
//! `kill_plan` is the schedule of a kill: signal, grace period, SIGKILL. `killing` carries it out on the `tree`. `leader`
//! handles the end of the first process; if that is the driver of a back-end, `driver` reads how the command ended elsewhere.
//! `record` writes the end to disk before any client is answered. `conclude` releases the
//! guardian and executes `mw settle` if that is due.

pub(crate) mod conclude;
pub(crate) mod driver;
pub(crate) mod kill_plan;
pub(crate) mod killing;
pub(crate) mod leader;
pub(crate) mod record;
pub(crate) mod tree;
