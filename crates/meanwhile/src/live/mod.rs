//! Talking to a running task.
//!
//! Everything goes through the `control` socket of the task's supervisor: `kill`, input, usage, readiness. `vanished` ends
//! what no supervisor can be asked about, `agent` keeps the record of a task that is an agent.

pub(crate) mod agent;
pub(crate) mod control;
pub(crate) mod kill;
pub(crate) mod ports;
pub(crate) mod progress;
pub(crate) mod ready;
pub(crate) mod usage;
pub(crate) mod vanished;
