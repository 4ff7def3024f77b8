//! What a task's owner knows of it, for those who show tasks.

use crate::error::Result;
use crate::runtime::Runtime;
use crate::task::Scope;

/// News of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskNews {
    /// Of which run.
    pub run: u32,
    /// `ended`, `stalled` or `ready`.
    pub kind: String,
    /// Whether the owner knows.
    pub told: Told,
}

/// Whether an owner knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Not yet.
    Waiting,
    /// A host has it and has not said that it was read.
    HandedOver,
    /// It does.
    Known,
}

impl Runtime {
    /// Returns the news of a task, oldest first, and whether its owner knows them.
    ///
    /// # Errors
    /// When the task is unknown, or the database fails.
    pub fn news_of(&self, handle: &str, scope: &Scope) -> Result<Vec<TaskNews>> {
        let id = self.resolve(handle, scope)?;
        let rows = self.store()?.notices_of(&id)?.into_iter();
        Ok(rows
            .map(|(run, kind, stage)| {
                let told = match stage {
                    0 => Told::Waiting,
                    2 | 4 => Told::HandedOver,
                    _ => Told::Known,
                };
                TaskNews { run, kind, told }
            })
            .collect())
    }
}
