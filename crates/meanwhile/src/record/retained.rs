//! Tasks that were not removed, and why.

use std::sync::Arc;

use mw_model::TaskId;
use serde::Serialize;

use crate::error::Error;

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
    NoRoom,
    /// Removing it failed.
    Failed(Arc<Error>),
}

impl Retained {
    pub(crate) fn live(id: &TaskId, reason: String) -> Self {
        Self { id: id.clone(), reason, hint: "end it first".to_owned(), cause: KeepCause::Live }
    }

    pub(crate) fn undelivered(id: &TaskId) -> Self {
        Self {
            id: id.clone(),
            reason: "its owner has not been notified of its end".to_owned(),
            hint: "deliver its notifications first".to_owned(),
            cause: KeepCause::Undelivered,
        }
    }

    pub(crate) fn without_room(id: TaskId) -> Self {
        Self {
            id,
            reason: "its output was removed, but the disk is too full to update the database".to_owned(),
            hint: "free disk space and clear it again".to_owned(),
            cause: KeepCause::NoRoom,
        }
    }

    /// A task that cannot be removed or shown, with the error.
    pub(crate) fn because(id: &TaskId, error: impl Into<Arc<Error>>) -> Self {
        let error = error.into();
        Self {
            id: id.clone(),
            reason: error.to_string(),
            hint: error.hint(),
            cause: KeepCause::Failed(error),
        }
    }
}
