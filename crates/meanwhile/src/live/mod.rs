//! Talking to a running task.
//!
//! Everything goes through the control socket of the task's supervisor: `kill`, `input`, `ready`, `holders`. `usage` and
//! `ports` look at its processes, `vanished` ends processes that no supervisor can be asked about, and `keepers` are those
//! that keep an agent alive.

pub(crate) mod holders;
pub(crate) mod input;
pub(crate) mod keepers;
pub(crate) mod kill;
pub(crate) mod ports;
pub(crate) mod ready;
pub(crate) mod usage;
pub(crate) mod vanished;

use crate::base::part;

part! {
    /// Talks to running tasks.
    Live
}
