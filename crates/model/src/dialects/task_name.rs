//! The facts from which the names of a task are derived.

use std::borrow::Cow;

use crate::task::id::{TaskId, TaskKind};
use crate::task::spec::TaskSpec;
use crate::time::Timestamp;

/// The facts from which every dialect derives its name for a task.
#[derive(Clone, Debug)]
pub struct TaskName<'a> {
    /// The canonical id.
    pub id: &'a TaskId,
    /// The kind of work.
    pub kind: TaskKind,
    /// The context in which it is numbered, if it was started in one.
    pub context: Option<&'a str>,
    /// Its number among the background tasks of its context, or else of its session; `None` in the foreground.
    pub handle_number: Option<u64>,
    /// When it was requested.
    pub created_at: Timestamp,
    /// Its command, as a person would type it.
    pub line: Cow<'a, str>,
}

impl<'a> From<&'a TaskSpec> for TaskName<'a> {
    fn from(spec: &'a TaskSpec) -> Self {
        Self {
            id: &spec.id,
            kind: spec.kind,
            context: spec.context.as_deref(),
            handle_number: spec.handle_number,
            created_at: spec.created_at,
            line: spec.to_line().into(),
        }
    }
}
