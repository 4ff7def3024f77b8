//! Bytes that are not kept: taken all the same, counted, and marked as soon as there is room for a marker.
//!
//! The count stands on the page that guardian and supervisor share and, where the index has room for an entry, there
//! too, so that it outlives both.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use mw_model::wire::{Entry, EntryKind, drop_marker};

use super::{CHUNK, Log, Moved, Way, read_away};
use crate::fail_point::fail_point;
use crate::sys;

impl Log {
    /// Takes bytes out of a pipe and drops them.
    pub(super) fn discard(&mut self, source: &impl AsFd) -> Moved {
        match sys::move_bytes(source, &self.null, CHUNK).or_else(|_| read_away(source, CHUNK)) {
            Ok(gone) => {
                self.end += gone as u64;
                self.count_drop(gone as u64);
                Moved::Bytes(gone as u64)
            }
            Err(_) => Moved::Nothing,
        }
    }

    /// Counts bytes that end where everything taken so far ends.
    pub(super) fn count_drop(&mut self, bytes: u64) {
        self.dropped += bytes;
        match self.way {
            Way::Straight => {
                let pending = self.board.pending_drop() + bytes;
                self.board.set_pending_drop(pending);
                self.note_drop(pending);
            }
            Way::Through(ref writer) => writer.widen_gap(self.board, bytes),
            // Counted against the log when that is open again.
            Way::Closed => {}
        }
    }

    /// Notes a drop without a marker at the end of the index, where the next entry will stand. Best effort: on a full
    /// disk there is mostly room for it in the index's last block.
    fn note_drop(&mut self, count: u64) {
        let entry = Entry { offset: self.end.saturating_sub(count), kind: EntryKind::Drop(count) };
        if let Ok(at) = self.open_index()
            && let Some(index) = &self.index
        {
            let _ = index.write_all_at(&entry.encode(), at);
        }
    }

    /// Puts a marker behind the last bytes, if some are missing there and there is room for it.
    pub(crate) fn mark_drops(&mut self) {
        if let Way::Straight = self.way {
            let _ = self.write_pending_drop();
        }
    }

    /// Puts a marker where bytes were dropped, as soon as there is room for it.
    pub(super) fn write_pending_drop(&mut self) -> io::Result<()> {
        let count = self.board.pending_drop();
        if count == 0 {
            return Ok(());
        }
        let size = self.size;
        let index_len = self.open_index()?;
        let written = self.append_drop(count);
        if written.is_err() {
            self.board.set_pending_drop(count);
            self.rewind_to(size)?;
            self.cut_index(index_len)?;
            self.note_drop(count);
        }
        written
    }

    /// A successor knows an unfinished drop by its marker, which is missing or cut short; so the shared page forgets
    /// the count while that is so, and nobody counts it twice.
    fn append_drop(&mut self, count: u64) -> io::Result<()> {
        self.append_entry(Entry { offset: self.end - count, kind: EntryKind::Drop(count) })?;
        self.write_index_header()?;
        fail_point("drop-announced");
        self.board.set_pending_drop(0);
        let marker = drop_marker(count);
        self.file.write_all(marker.as_bytes())?;
        fail_point("drop-marked");
        self.size += marker.len() as u64;
        self.announced = None;
        Ok(())
    }
}
