//! Batches: tasks with a common name.

use std::collections::BTreeMap;

use meanwhile::model::Timestamp;
use meanwhile::{Result, TaskFilter};
use serde::Serialize;

use crate::desk::Desk;

/// The number of newest tasks among which batches are looked for.
const SEARCHED: u32 = 2000;

/// A batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Batch {
    /// Its name.
    pub id: String,
    /// The session of its tasks.
    pub session: String,
    /// How many of its tasks are in each state.
    pub states: BTreeMap<&'static str, u32>,
    /// The number of its tasks.
    pub tasks: u32,
    /// The number of its live tasks.
    pub live: u32,
    /// When its first task was requested.
    pub created_at: Timestamp,
    /// When its last task ended, if all have.
    pub ended_at: Option<Timestamp>,
}

impl Desk {
    /// Returns the batches among the newest tasks, newest first.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read.
    pub fn batches(&self) -> Result<Vec<Batch>> {
        let newest = TaskFilter { limit: SEARCHED, ..TaskFilter::new(self.scope()) };
        let page = self.with(|runtime| runtime.tasks().list(&newest))?;
        let mut batches: BTreeMap<(String, String), Batch> = BTreeMap::new();
        for task in &page.tasks {
            let Some(id) = &task.batch_id else { continue };
            let batch = batches.entry((task.session.clone(), id.clone())).or_insert_with(|| Batch {
                id: id.clone(),
                session: task.session.clone(),
                states: BTreeMap::new(),
                tasks: 0,
                live: 0,
                created_at: task.created_at,
                ended_at: None,
            });
            batch.tasks += 1;
            batch.live += u32::from(!task.status.is_terminal());
            *batch.states.entry(task.status.word()).or_default() += 1;
            batch.created_at = batch.created_at.min(task.created_at);
            batch.ended_at = batch.ended_at.max(task.ended_at);
        }
        let mut batches: Vec<_> = batches.into_values().collect();
        batches.iter_mut().filter(|batch| batch.live > 0).for_each(|batch| batch.ended_at = None);
        batches.sort_by_key(|batch| std::cmp::Reverse(batch.created_at));
        Ok(batches)
    }
}
