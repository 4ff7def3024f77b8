//! Continues a log of another process.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use mw_model::wire::{
    EntryKind, HEADER_LEN, INDEX_FILE, IndexEntry, IndexHeader, LOG_FILE, Segment, drop_marker, segments,
};

use super::dropping::UNNOTED_DROP;
use super::log_file::{Log, NEW_LOG, WriteMode};
use crate::clock;
use crate::sys;
use crate::sys::Board;

/// How long a successor waits for a writer before it drops output.
const WRITER_TIMEOUT_MS: u64 = 1000;

impl Log {
    /// Opens the log of a predecessor and finishes a replacement that was interrupted.
    pub(crate) fn recover(dir: &Path, board: Board) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let mut index = OpenOptions::new().read(true).write(true).open(dir.join(INDEX_FILE)).ok();
        if let Some(index) = &mut index {
            index.read_to_end(&mut bytes)?;
        }
        let header = IndexHeader::decode(&bytes);
        let inode = |path: &Path| fs::metadata(path).map(|found| found.ino()).ok();
        if let Some(header) = &header
            && inode(&dir.join(LOG_FILE)) != Some(header.log_inode)
            && inode(&dir.join(NEW_LOG)) == Some(header.log_inode)
        {
            fs::rename(dir.join(NEW_LOG), dir.join(LOG_FILE))?;
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(dir.join(LOG_FILE))?;
        let size = file.seek(SeekFrom::End(0))?;
        let mut log = Self::with(dir, file, None, board)?;
        log.size = size;
        log.end = size;
        log.is_unnoted = log.file.metadata()?.mode() & UNNOTED_DROP != 0;
        if log.is_unnoted && board.pending_drop.get() == 0 {
            board.output_lost.set(true);
        }
        if let (Some(header), Some(index)) = (header, index) {
            let whole = bytes.len() - (bytes.len() - HEADER_LEN as usize) % IndexEntry::LEN;
            index.set_len(whole as u64)?;
            let entries: Vec<_> = bytes[HEADER_LEN as usize..whole]
                .chunks(IndexEntry::LEN)
                .filter_map(IndexEntry::decode)
                .collect();
            let mut found = segments(&entries, header.prefix_len, size);
            log.index = Some(index);
            log.index_len = whole as u64;
            log.prefix = header.prefix_len;
            if let Some((count, marker)) = found.last().and_then(|last| unfinished(last, size)) {
                found.pop();
                log.rewind_to(marker)?;
                // The entry stays until the next one replaces it: it may be the only count on disk.
                log.index_len -= IndexEntry::LEN as u64;
                board.pending_drop.set(board.pending_drop.get().max(count));
            }
            log.end = found.last().map_or(0, |last| last.logical + last.len);
            let drops = found.iter().filter(|part| matches!(part.kind, EntryKind::Drop(_)));
            log.dropped = drops.map(|part| part.len).sum();
        }
        let pending = board.pending_drop.get();
        log.end += pending;
        log.dropped += pending;
        log.finish_batch()?;
        Ok(log)
    }

    /// Continues the log after the supervisor that this process has forked was killed.
    ///
    /// The state in memory is from before the log was written. If the log cannot be opened now, bytes are dropped and
    /// counted until it can.
    pub(crate) fn succeed(&mut self) {
        self.way = WriteMode::Closed;
        let on_disk = fs::metadata(&self.path).map_or(0, |found| found.size());
        self.end = self.board.taken.get().max(on_disk);
        self.dropped = 0;
        let deadline = clock::monotonic_ms() + WRITER_TIMEOUT_MS;
        while self.is_being_written() && clock::monotonic_ms() < deadline {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let _ = self.reopen();
    }

    /// Opens a log that could not be opened before.
    pub(super) fn reopen(&mut self) -> io::Result<()> {
        if self.is_being_written() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let mut log = Self::recover(&self.dir, self.board)?;
        log.set_cap(self.cap);
        // Taken out of the task's pipes by the predecessor or by us, and neither in the log nor in a pipe.
        let missing = self.board.taken.get().saturating_sub(log.end) + self.dropped;
        log.lose(missing);
        self.board.writer.set(None);
        self.board.taken.set(0);
        *self = log;
        Ok(())
    }

    /// Counts drops that the exit record has and the index has not: on a full disk the index had no room for them.
    pub(crate) fn count_recorded_drops(&mut self, recorded: u64) {
        // A log that is not open yet counts them when it is opened.
        if !matches!(self.way, WriteMode::Closed) {
            self.lose(recorded.saturating_sub(self.dropped));
        }
    }

    fn is_being_written(&self) -> bool {
        self.board.writer.get().is_some_and(|pid| sys::start_ticks(pid).is_some())
    }

    /// Counts bytes that are neither in the log nor in a pipe.
    pub(super) fn lose(&mut self, bytes: u64) {
        if bytes > 0 {
            self.end += bytes;
            self.count_drop(bytes);
        }
    }
}

/// Checks whether the last entry is a drop with an incomplete marker; returns the count and where the marker begins.
fn unfinished(last: &Segment, log_size: u64) -> Option<(u64, u64)> {
    match last.kind {
        EntryKind::Drop(count) => {
            let complete = last.physical + drop_marker(count).len() as u64 <= log_size;
            (!complete).then_some((count, last.physical))
        }
        EntryKind::Stdout(_) | EntryKind::Stderr(_) => None,
    }
}
