//! The view that co-cli's tools read, where no supervisor writes it: before a run, and after endings that none saw.

use std::{fs, io};

use mw_model::wire::{METADATA_FILE, Metadata, SPAN_FILE};
use mw_model::{Cause, Status, TaskId, Timestamp};

use super::home::Home;

impl Home {
    /// Writes the view. Best effort: nothing is decided by it.
    pub(crate) fn write_metadata(&self, id: &TaskId, metadata: &Metadata) {
        let text = serde_json::to_vec_pretty(metadata).map_err(io::Error::from);
        let _ = text.and_then(|text| self.replace(id, METADATA_FILE, &text));
        if let Some(span) = metadata.span_id {
            let _ = self.replace(id, SPAN_FILE, format!("{span}\n").as_bytes());
        }
    }

    /// Returns the view of a task that waits.
    pub(crate) fn waiting_metadata(&self, id: &TaskId) -> Option<Metadata> {
        self.metadata(id).filter(|metadata| metadata.status == Status::Pending)
    }

    fn metadata(&self, id: &TaskId) -> Option<Metadata> {
        serde_json::from_slice(&fs::read(self.task(id).join(METADATA_FILE)).ok()?).ok()
    }

    /// Enters an ending that no supervisor saw.
    pub(crate) fn end_metadata(&self, id: &TaskId, cause: &Cause, at: Timestamp) {
        if let Some(mut metadata) = self.metadata(id) {
            metadata.set_status(cause.status());
            (metadata.completed_at, metadata.exit_code) = (Some(at), cause.exit_code());
            self.write_metadata(id, &metadata);
        }
    }
}
