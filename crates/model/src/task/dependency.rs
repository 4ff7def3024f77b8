//! A task that another task waits for.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::id::TaskId;
use super::state::Status;

/// How a task must end before one that waits for it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndWanted {
    /// It completed.
    #[default]
    Completed,
    /// It ended, however.
    Any,
    /// It ended, but did not complete.
    Failed,
}

impl EndWanted {
    /// Returns whether an end with this status is wanted. The status must be terminal.
    #[must_use]
    pub const fn is_met_by(self, status: Status) -> bool {
        match self {
            Self::Completed => matches!(status, Status::Completed),
            Self::Any => true,
            Self::Failed => !matches!(status, Status::Completed),
        }
    }
}

/// A task that must end first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Form", into = "Form")]
pub struct Dependency {
    /// The task.
    pub id: TaskId,
    /// How it must end.
    pub end: EndWanted,
}

/// The id alone means that the task must complete.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Completed(TaskId),
    Other { id: TaskId, end: EndWanted },
}

impl From<Form> for Dependency {
    fn from(form: Form) -> Self {
        match form {
            Form::Completed(id) => id.into(),
            Form::Other { id, end } => Self { id, end },
        }
    }
}

impl From<Dependency> for Form {
    fn from(Dependency { id, end }: Dependency) -> Self {
        match end {
            EndWanted::Completed => Self::Completed(id),
            EndWanted::Any | EndWanted::Failed => Self::Other { id, end },
        }
    }
}

impl From<TaskId> for Dependency {
    fn from(id: TaskId) -> Self {
        Self { id, end: EndWanted::Completed }
    }
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end {
            EndWanted::Completed => write!(f, "{}", self.id),
            EndWanted::Any => write!(f, "any end of {}", self.id),
            EndWanted::Failed => write!(f, "a failure of {}", self.id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_without_a_word_is_the_id_alone() {
        let id: TaskId = "bash-k3f9x2ab".parse().unwrap();
        for (end, text) in [
            (EndWanted::Completed, r#""bash-k3f9x2ab""#),
            (EndWanted::Any, r#"{"id":"bash-k3f9x2ab","end":"any"}"#),
            (EndWanted::Failed, r#"{"id":"bash-k3f9x2ab","end":"failed"}"#),
        ] {
            let dependency = Dependency { id: id.clone(), end };
            assert_eq!(serde_json::to_string(&dependency).unwrap(), text);
            assert_eq!(serde_json::from_str::<Dependency>(text).unwrap(), dependency);
        }
    }

    #[test]
    fn a_cancelled_or_lost_task_counts_as_failed() {
        for status in [Status::Failed, Status::Cancelled, Status::TimedOut, Status::Lost] {
            assert!(EndWanted::Failed.is_met_by(status) && !EndWanted::Completed.is_met_by(status));
        }
        assert!(!EndWanted::Failed.is_met_by(Status::Completed));
    }
}
