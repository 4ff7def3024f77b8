//! From a written task to a running process.
//!
//! `hand_over` passes the task to a supervisor and takes its answer. `fork_server` keeps supervisors ready for a process
//! that starts many tasks. `backend` says what is executed and where. `adopt` gives a task whose supervisor was killed a new one.

pub(crate) mod adopt;
pub(crate) mod backend;
pub(crate) mod fork_server;
pub(crate) mod hand_over;
pub(crate) mod program;
