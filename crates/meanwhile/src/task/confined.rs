//! The confinement of a task, as front ends see it.

use mw_model::TaskGrant;
use mw_model::wire::Enforcer;
use serde::Serialize;

/// The beginning of a script whose caller asks for the user's approval to run it without a confinement. To the shell it is a
/// comment.
pub(crate) const ASK_MARK: &str = "# ask:";

/// What a task may do, and what enforces it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TaskConfinement {
    /// What it may do, in words.
    pub grant: String,
    /// The features of the kernel that enforce it; empty before the first run, if everything is granted, and on a kernel
    /// without them.
    pub by: Vec<&'static str>,
    /// What the command printed when it was refused something, if it failed and that may be the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl TaskConfinement {
    pub(crate) fn of(grant: &TaskGrant, by: &[Enforcer]) -> Self {
        Self {
            grant: grant.grant.in_words(),
            by: by.iter().map(|enforcer| enforcer.word()).collect(),
            refused: None,
        }
    }

    /// Says that the confinement may be the reason of a failure, and how to ask for more; `None` if it is not.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        let refused = self.refused.as_ref()?;
        Some(format!(
            "its confinement may have stopped it ({}): {refused}; retry with approval: begin the command with a line \
             `{ASK_MARK} what it needs`, and a person is asked",
            self.grant
        ))
    }

    /// Describes it in a line: `writes in the project, no network (landlock, namespaces, seccomp)`.
    #[must_use]
    pub fn to_words(&self) -> String {
        match self.by.is_empty() {
            true => format!("{} (not enforced)", self.grant),
            false => format!("{} ({})", self.grant, self.by.join(", ")),
        }
    }
}
