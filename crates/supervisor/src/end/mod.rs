//! The end of a task.
//!
//! `plan` is the kill as a value: signal, grace, SIGKILL. `killing` carries it out on the `tree`. `leader` sees the first
//! process end, and `record` writes that down before anybody is told.

pub(crate) mod killing;
pub(crate) mod leader;
pub(crate) mod plan;
pub(crate) mod record;
pub(crate) mod tree;
