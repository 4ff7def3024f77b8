//! The updates of an agent, as its driver has stored them.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use mw_model::wire::TRANSCRIPT_FILE;
use mw_model::{TaskId, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use crate::agent::Agents;

/// An update of an agent.
#[derive(Clone, Debug, Deserialize)]
pub struct AgentUpdate {
    /// When it arrived.
    pub at: Timestamp,
    /// The run of the task.
    pub run: u32,
    /// The update, in the form of the Agent Client Protocol. It may have secrets.
    pub update: Value,
}

impl Agents<'_> {
    /// Returns the last updates of an agent, oldest first, from at most this many bytes, and whether there are earlier ones.
    /// What is not an update is left out.
    #[must_use]
    pub fn last_updates(&self, id: &TaskId, most: u64) -> (Vec<AgentUpdate>, bool) {
        let Ok(mut file) = File::open(self.base.home.task(id).join(TRANSCRIPT_FILE)) else {
            return (Vec::new(), false);
        };
        let begin = file.metadata().map_or(0, |about| about.len().saturating_sub(most));
        let mut text = Vec::new();
        let read = file.seek(SeekFrom::Start(begin)).and_then(|_| file.take(most).read_to_end(&mut text));
        if read.is_err() {
            return (Vec::new(), begin > 0);
        }
        let lines = text.split(|byte| *byte == b'\n').skip(usize::from(begin > 0));
        (lines.filter_map(|line| serde_json::from_slice(line).ok()).collect(), begin > 0)
    }
}
