//! From a recorded task to a running process.
//!
//! `launcher` starts a task that was given a slot. `backend` decides what is executed and where, `hand_over` passes
//! that to a supervisor and reads its answer, and `fork_server` creates supervisors for a process that starts many
//! tasks. `adopt` gives a task whose supervisor was killed a new one.

pub(crate) mod adopt;
pub(crate) mod backend;
pub(crate) mod fork_server;
pub(crate) mod hand_over;
pub(crate) mod launcher;
pub(crate) mod program;

use crate::base::part;

part! {
    /// Turns a recorded task into a running process.
    Launcher
}
