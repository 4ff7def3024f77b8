//! Talking to a running task.
//!
//! Everything goes through the control socket of the task's supervisor: `kill`, `input`, `progress`, `ready`. `usage` and
//! `ports` look at its processes, `vanished` ends what no supervisor can be asked about, and `agent` keeps the record of a
//! task that is an agent.

pub(crate) mod agent;
pub(crate) mod input;
pub(crate) mod kill;
pub(crate) mod ports;
pub(crate) mod progress;
pub(crate) mod ready;
pub(crate) mod silence;
pub(crate) mod usage;
pub(crate) mod vanished;

use crate::base::part;

part! {
    /// Tasks that are agents: their messages, records and results.
    Agents
}

part! {
    /// Talks to running tasks.
    Live
}
