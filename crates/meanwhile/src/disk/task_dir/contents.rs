//! What a task's directory records about its runs.

use std::fs;
use std::path::Path;
use std::time::Duration;

use mw_model::wire::{ExitRecord, JOURNAL_FILE, JournalLine, LOG_FILE, RESULT_FILE, RUNS_DIR};

use super::TaskDir;
use crate::disk::file_lock::within;
use crate::disk::optional_file::{has_text, look, read};
use crate::error::Result;

impl TaskDir<'_> {
    /// Returns whether the task has a directory.
    pub(crate) fn is_present(&self) -> Result<bool> {
        let path = &self.path;
        Ok(look(path, fs::metadata(path))?.is_some_and(|found| found.is_dir()))
    }

    /// Returns whether there are traces of a run, with or without a spec.
    pub(crate) fn was_begun(&self) -> Result<bool> {
        for name in [JOURNAL_FILE, LOG_FILE, RESULT_FILE, RUNS_DIR] {
            if has_text(&self.path.join(name))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the exit record of a run, if there is one.
    pub(crate) fn result(&self, run: u32) -> Result<Option<ExitRecord>> {
        read_result(&self.path, run)
    }

    /// Waits briefly for a run's exit record; returns whether it exists.
    pub(crate) fn await_record(&self, run: u32, timeout: Duration) -> Result<bool> {
        within(timeout, Duration::from_millis(1), || Ok(self.result(run)?.is_some()))
    }

    /// Reads the exit record of an earlier run.
    pub(crate) fn earlier_result(&self, run: u32) -> Result<Option<ExitRecord>> {
        read_result(&self.earlier_run(run), run)
    }

    /// Reads the journal. A line that is invalid, because its writer was killed or the disk was full, is skipped.
    pub(crate) fn journal(&self) -> Result<Vec<JournalLine>> {
        let text = read(&self.path.join(JOURNAL_FILE))?.unwrap_or_default();
        Ok(text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }
}

fn read_result(directory: &Path, run: u32) -> Result<Option<ExitRecord>> {
    let text = read(&directory.join(RESULT_FILE))?;
    let record = text.and_then(|text| serde_json::from_slice::<ExitRecord>(&text).ok());
    Ok(record.filter(|record| record.run == run))
}
