//! Dropped bytes: taken out of the pipe, counted, and marked in the log as soon as there is room for a marker.
//!
//! The count is on the page that guardian and supervisor share and, if the index has room for an entry, there, too,
//! so that it survives both. If the index has no room, the log gets a mode bit, which needs none: if both are killed then, a successor
//! knows that output is missing, but not how much.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use mw_model::wire::{EntryKind, IndexEntry, drop_marker};

use rustix::fs::Mode;

use super::log_file::{CHUNK, Log, Moved, WriteMode, read_and_drop};
use crate::fail_point::fail_point;
use crate::sys;

/// The mode of a log.
const LOG_MODE: u32 = 0o600;
/// The bit of a log's mode (on files the kernel ignores it) that says that the number of dropped bytes is not on disk.
pub(super) const UNNOTED_DROP: u32 = 0o1000;

impl Log {
    /// Takes bytes out of a pipe and drops them.
    pub(super) fn discard(&mut self, source: &impl AsFd) -> Moved {
        match sys::move_bytes(source, &self.null, CHUNK).or_else(|_| read_and_drop(source, CHUNK)) {
            Ok(gone) => {
                self.end += gone as u64;
                self.count_drop(gone as u64);
                Moved::Bytes(gone as u64)
            }
            Err(_) => Moved::Nothing,
        }
    }

    /// Counts dropped bytes at the current end.
    pub(super) fn count_drop(&mut self, bytes: u64) {
        self.dropped += bytes;
        match self.way {
            WriteMode::Straight => {
                let pending = self.board.pending_drop.get() + bytes;
                self.board.pending_drop.set(pending);
                self.note_drop(pending);
            }
            WriteMode::Through(ref writer) => writer.widen_gap(self.board, bytes),
            // [`Log::reopen`] counts them.
            WriteMode::Closed => {}
        }
    }

    /// Records a drop without a marker at the end of the index, where the next entry will be written. On a full disk there is
    /// usually room in the index's last block.
    fn note_drop(&mut self, count: u64) {
        let entry = IndexEntry { offset: self.end.saturating_sub(count), kind: EntryKind::Drop(count) };
        let is_noted = match (self.open_index(), &self.index) {
            (Ok(at), Some(index)) => index.write_all_at(&entry.encode(), at).is_ok(),
            (Ok(_) | Err(_), _) => false,
        };
        self.mark_unnoted(!is_noted);
    }

    /// Notes whether dropped bytes are counted only on the shared page. The note stays once such a count was lost.
    fn mark_unnoted(&mut self, is_unnoted: bool) {
        if self.is_unnoted == is_unnoted || self.board.output_lost.get() {
            return;
        }
        let mode = if is_unnoted { LOG_MODE | UNNOTED_DROP } else { LOG_MODE };
        if rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode)).is_ok() {
            self.is_unnoted = is_unnoted;
        }
    }

    /// Writes a marker at the end if bytes are missing there and there is room for it.
    pub(crate) fn mark_drops(&mut self) {
        if let WriteMode::Straight = self.way {
            let _ = self.write_pending_drop();
        }
    }

    /// Writes a marker where bytes were dropped, as soon as there is room for it.
    pub(super) fn write_pending_drop(&mut self) -> io::Result<()> {
        let count = self.board.pending_drop.get();
        if count == 0 {
            return Ok(());
        }
        let size = self.size;
        let index_len = self.open_index()?;
        let written = self.append_drop(count);
        if written.is_err() {
            self.board.pending_drop.set(count);
            self.rewind_to(size)?;
            self.cut_index(index_len)?;
            self.note_drop(count);
        } else {
            self.mark_unnoted(false);
        }
        written
    }

    /// A successor recognises an unfinished drop by its marker, which is missing or incomplete. So the count is
    /// removed from the shared page before, and is not counted twice.
    fn append_drop(&mut self, count: u64) -> io::Result<()> {
        self.append_entry(IndexEntry { offset: self.end - count, kind: EntryKind::Drop(count) })?;
        self.write_index_header()?;
        fail_point("drop-announced");
        self.board.pending_drop.set(0);
        let marker = drop_marker(count);
        self.file.write_all(marker.as_bytes())?;
        fail_point("drop-marked");
        self.size += marker.len() as u64;
        self.announced = None;
        Ok(())
    }
}
