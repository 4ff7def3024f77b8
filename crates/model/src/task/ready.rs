//! What makes a running task ready for those who wait for it.

use serde::{Deserialize, Serialize};

/// What a task has to do to be ready. It is so once per run, and only while its first process lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadyWhen {
    /// Print a line that fits this regular expression.
    Line(String),
    /// Listen on this port; another process that does is none of its tree.
    Port(u16),
    /// Listen on any port.
    AnyPort,
}
