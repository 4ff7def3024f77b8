//! The processes that supervise tasks, seen from a client.
//!
//! `process` starts a supervisor, hands it a task and reads its answer. `fork_server` creates supervisors for a process
//! that starts many tasks. `control` talks to the supervisor of a running task.

pub(crate) mod control;
mod fork_server;
mod process;

pub(crate) use process::{Purpose, SupervisorLink};
