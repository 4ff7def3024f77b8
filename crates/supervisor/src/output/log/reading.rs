//! Reads the log back: its last bytes, and the number of its lines.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};

use mw_model::wire::{EntryKind, IndexEntry, segments};

use super::log_file::{Log, WriteMode};

impl Log {
    /// Returns the last bytes of the log.
    pub(crate) fn tail(&self, most: u64) -> Vec<u8> {
        // Another process writes it and may have replaced it.
        let file = match self.way {
            WriteMode::Straight => None,
            WriteMode::Through(_) | WriteMode::Closed => File::open(&self.path).ok(),
        };
        let file = file.as_ref().unwrap_or(&self.file);
        let size = match self.way {
            WriteMode::Straight => self.size,
            WriteMode::Through(_) | WriteMode::Closed => file.metadata().map_or(0, |found| found.size()),
        };
        let from = size.saturating_sub(most).max(self.prefix).min(size);
        if from == size {
            return Vec::new();
        }
        let mut bytes = vec![0; (size - from) as usize];
        let read = file.read_at(&mut bytes, from).unwrap_or(0);
        bytes.truncate(read);
        bytes
    }

    /// Counts the lines of each stream; nothing for a log that is too large to read through.
    pub(crate) fn count_lines(&self) -> Option<(u64, u64)> {
        const LARGEST: u64 = 16 << 20;
        if self.size > LARGEST {
            return None;
        }
        let entries = self.entries().ok()?;
        let parts = match &*entries {
            [] => segments(&[IndexEntry { offset: 0, kind: EntryKind::Stdout(0) }], self.prefix, self.size),
            entries => segments(entries, self.prefix, self.size),
        };
        let mut counts = (0, 0);
        let mut buffer = vec![0; (64 << 10).min(self.size as usize)];
        for part in parts {
            let counter = match part.kind {
                EntryKind::Stdout(_) => &mut counts.0,
                EntryKind::Stderr(_) => &mut counts.1,
                EntryKind::Drop(_) => continue,
            };
            let mut at = 0;
            while at < part.len {
                let most = buffer.len().min((part.len - at) as usize);
                let read = self
                    .file
                    .read_at(&mut buffer[..most], part.physical + at)
                    .ok()
                    .filter(|read| *read > 0)?;
                *counter += buffer[..read].iter().filter(|byte| **byte == b'\n').count() as u64;
                at += read as u64;
            }
        }
        Some(counts)
    }
}
