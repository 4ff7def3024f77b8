//! The metadata file that co-cli's tools read, where no supervisor writes it: before a run, and after an end that no
//! supervisor recorded.

use std::{fs, io};

use mw_model::wire::{METADATA_FILE, Metadata, SPAN_FILE};
use mw_model::{Cause, Status, Timestamp};

use super::TaskDir;

impl TaskDir<'_> {
    /// Writes the metadata file. Best effort: nothing depends on it.
    pub(crate) fn write_metadata(&self, metadata: &Metadata) {
        let text = serde_json::to_vec_pretty(metadata).map_err(io::Error::from);
        let _ = text.and_then(|text| self.replace(METADATA_FILE, &text));
        if let Some(span) = metadata.span_id {
            let _ = self.replace(SPAN_FILE, format!("{span}\n").as_bytes());
        }
    }

    /// Returns the metadata of a queued task.
    pub(crate) fn waiting_metadata(&self) -> Option<Metadata> {
        self.metadata().filter(|metadata| metadata.status == Status::Pending)
    }

    fn metadata(&self) -> Option<Metadata> {
        serde_json::from_slice(&fs::read(self.path.join(METADATA_FILE)).ok()?).ok()
    }

    /// Records an end that no supervisor recorded.
    pub(crate) fn end_metadata(&self, cause: &Cause, at: Timestamp) {
        if let Some(mut metadata) = self.metadata() {
            metadata.set_status(cause.status());
            (metadata.completed_at, metadata.exit_code) = (Some(at), cause.exit_code());
            self.write_metadata(&metadata);
        }
    }
}
