//! Readiness conditions of running tasks.

use serde::{Deserialize, Serialize};

/// When a task counts as ready. It becomes ready once per run at most, and only while its first process is alive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadyWhen {
    /// It prints a line that matches this regular expression.
    Line(String),
    /// It listens on this port. Processes outside its tree do not count.
    Port(u16),
    /// It listens on any port.
    AnyPort,
}
