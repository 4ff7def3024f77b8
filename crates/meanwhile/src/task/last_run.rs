//! How the last run of a task ended that waits for its next one.

use mw_model::wire::ExitRecord;
use mw_model::{Status, Timestamp};
use serde::Serialize;

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LastRun {
    /// Its number.
    pub run: u32,
    /// The status of its end.
    pub status: Status,
    /// Why it ended, in words.
    pub cause: String,
    /// When it ended.
    pub ended_at: Timestamp,
}

impl From<&ExitRecord> for LastRun {
    fn from(record: &ExitRecord) -> Self {
        let cause = record.cause();
        Self {
            run: record.run,
            status: cause.status(),
            cause: cause.to_words(),
            ended_at: record.completed_at,
        }
    }
}
