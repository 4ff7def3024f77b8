//! Tasks that were not removed, and why.

use std::sync::Arc;

use mw_model::TaskId;
use serde::Serialize;

use super::Error;

/// A task that was not removed.
#[derive(Clone, Debug, Serialize)]
pub struct Retained {
    /// The task.
    pub id: TaskId,
    /// Why it was kept, as a sentence.
    pub reason: String,
    /// What to do about it.
    pub hint: String,
    /// Why it was kept, as data.
    #[serde(skip)]
    pub cause: KeepCause,
}

/// Why a task was not removed.
#[derive(Clone, Debug)]
pub enum KeepCause {
    /// It has not ended.
    Live,
    /// Its owner has not been notified of its end.
    Undelivered,
    /// The disk is full.
    DiskFull,
    /// Removing it failed.
    Failed(Arc<Error>),
}

impl Retained {
    fn new(id: &TaskId, reason: impl Into<String>, hint: impl Into<String>, cause: KeepCause) -> Self {
        Self { id: id.clone(), reason: reason.into(), hint: hint.into(), cause }
    }

    pub(crate) fn live(id: &TaskId, reason: String) -> Self {
        Self::new(id, reason, "end it first", KeepCause::Live)
    }

    pub(crate) fn undelivered(id: &TaskId) -> Self {
        let reason = "its owner has not been notified of its end";
        Self::new(id, reason, "deliver its notifications first", KeepCause::Undelivered)
    }

    pub(crate) fn without_room(id: &TaskId) -> Self {
        let reason = "its output was removed, but the disk is too full to update the database";
        Self::new(id, reason, "free disk space and clear it again", KeepCause::DiskFull)
    }

    /// A task that cannot be removed or shown, with the error.
    pub(crate) fn because(id: &TaskId, error: impl Into<Arc<Error>>) -> Self {
        let error = error.into();
        Self::new(id, error.to_string(), error.hint(), KeepCause::Failed(error))
    }
}
