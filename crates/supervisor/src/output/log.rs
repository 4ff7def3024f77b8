//! The log and its index: appends by `splice`, keeps a head and a live tail under the cap, and counts
//! what it had to drop.
//!
//! The pair is replaced when the middle is dropped: index first, log second, both by rename. The
//! index header names the log's inode, so a reader (or a successor) can tell which of the two renames
//! has happened.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use mw_model::wire::{Entry, EntryKind, HEADER_LEN, INDEX_FILE, LOG_FILE, segments};
use rustix::io::Errno;

use crate::clock;
use crate::fail_point::slow_point;
use crate::sys;
use crate::sys::Board;

mod compact;
mod damage;
mod dropping;
mod index_file;
mod old_batch;
mod slow;
mod succession;
mod writer;

use super::log::slow::Writer;

/// Most bytes moved by one call, which is also the size asked for our pipes.
pub(crate) const CHUNK: usize = 1 << 19;
/// An index beyond this is compacted along with its log, where there is a cap.
const INDEX_LIMIT: u64 = 1 << 20;
const NEW_LOG: &str = "output.log.new";
const NEW_INDEX: &str = "output.idx.new";

/// One of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// What a call of [`Log::append_from`] did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// Took this many bytes, kept or dropped.
    Bytes(u64),
    /// There was nothing to take.
    Nothing,
}

/// An open log.
pub(crate) struct Log {
    dir: PathBuf,
    path: PathBuf,
    file: File,
    /// Made when it has something to tell: a second stream, a later time, dropped bytes. A log without
    /// one is all stdout.
    index: Option<File>,
    null: File,
    board: Board,
    cap: u64,
    prefix: u64,
    /// Physical size.
    size: u64,
    index_len: u64,
    /// Logical end: every byte taken so far.
    end: u64,
    /// Bytes taken that are not in the log.
    dropped: u64,
    /// The stream the index announced last, and when.
    announced: Option<(Stream, u64)>,
    /// When the first byte came.
    born_us: Option<u64>,
    /// The log's, 0 before anybody asked.
    inode: u64,
    way: Way,
    /// When a write last took long, on the monotonic clock.
    slow_ms: Option<u64>,
}

/// How bytes come into the log.
enum Way {
    /// This process writes them.
    Straight,
    /// A process of its own does, because the disk was seen to be slow.
    Through(Box<Writer>),
    /// Not at all: what a predecessor left could not be opened yet. Bytes are counted and dropped.
    Closed,
}

impl Log {
    /// Makes an empty log without a cap.
    pub(crate) fn create(dir: &Path, board: Board) -> io::Result<Self> {
        // What lies here is from a start that was called off or killed before it executed anything.
        let _ = fs::remove_file(dir.join(INDEX_FILE));
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(dir.join(LOG_FILE))?;
        Self::with(dir, file, None, board)
    }

    fn with(dir: &Path, file: File, index: Option<File>, board: Board) -> io::Result<Self> {
        let null = OpenOptions::new().write(true).open("/dev/null")?;
        let index_len = HEADER_LEN;
        Ok(Self {
            dir: dir.to_owned(),
            path: dir.join(LOG_FILE),
            file,
            index,
            null,
            board,
            cap: 0,
            prefix: 0,
            size: 0,
            index_len,
            end: 0,
            dropped: 0,
            announced: None,
            born_us: None,
            inode: 0,
            way: Way::Straight,
            slow_ms: None,
        })
    }

    /// Sets the most bytes of output the log may hold; 0 = no cap.
    pub(crate) fn set_cap(&mut self, cap: u64) {
        self.cap = cap;
    }

    /// Puts text outside all offsets at the head of an empty log.
    pub(crate) fn write_header(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        self.prefix = text.len() as u64;
        self.size = self.prefix;
        self.open_index().map(|_| ())
    }

    /// Logical end: every byte the task printed so far.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Bytes that are not in the log.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The last bytes of the log as it stands.
    pub(crate) fn tail(&self, most: u64) -> Vec<u8> {
        // Whoever else writes it may have replaced it.
        let file = match self.way {
            Way::Straight => None,
            Way::Through(_) | Way::Closed => File::open(&self.path).ok(),
        };
        let file = file.as_ref().unwrap_or(&self.file);
        let size = match self.way {
            Way::Straight => self.size,
            Way::Through(_) | Way::Closed => file.metadata().map_or(0, |found| found.size()),
        };
        let from = size.saturating_sub(most).max(self.prefix).min(size);
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
            [] => segments(&[Entry { offset: 0, kind: EntryKind::Stdout(0) }], self.prefix, self.size),
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

    /// Takes what a pipe holds, up to one chunk, and keeps it; drops and counts it where that is not
    /// possible. Never blocks on the pipe.
    pub(crate) fn append_from(&mut self, stream: Stream, source: impl AsFd, now_us: u64) -> Moved {
        let kept = match &self.way {
            Way::Straight => self.keep(stream, &source, now_us),
            Way::Through(_) => return self.pass_on(stream, &source),
            Way::Closed => self.reopen().and_then(|()| self.keep(stream, &source, now_us)),
        };
        kept.unwrap_or_else(|_| self.discard(&source))
    }

    fn keep(&mut self, stream: Stream, source: &impl AsFd, now_us: u64) -> io::Result<Moved> {
        let mut begun_ms = clock::monotonic_ms();
        slow_point();
        self.notice_damage()?;
        self.write_pending_drop()?;
        if self.cap > 0 && (self.held() >= self.cap || self.index_len > INDEX_LIMIT) {
            self.drop_middle()?;
            // Copying much takes its time on any disk.
            begun_ms = clock::monotonic_ms();
        }
        let moved = self.write(stream, source, now_us);
        self.judge_disk(begun_ms);
        moved
    }

    fn write(&mut self, stream: Stream, source: &impl AsFd, now_us: u64) -> io::Result<Moved> {
        let room = self.room()?;
        self.announce(stream, now_us)?;
        match sys::move_bytes(source, &self.file, room) {
            Ok(moved) => {
                self.size += moved as u64;
                self.end += moved as u64;
                Ok(Moved::Bytes(moved as u64))
            }
            Err(Errno::AGAIN) => Ok(Moved::Nothing),
            Err(Errno::INVAL) => self.copy(source, room),
            Err(error) => Err(error.into()),
        }
    }

    /// Bytes that count against the cap: the header does not.
    fn held(&self) -> u64 {
        self.size.saturating_sub(self.prefix)
    }

    /// How much may be written at once; an error where that is nothing, since nothing would ever be taken then.
    fn room(&self) -> io::Result<usize> {
        if self.cap == 0 {
            return Ok(CHUNK);
        }
        match self.cap.saturating_sub(self.held()) {
            0 => Err(io::ErrorKind::StorageFull.into()),
            left => Ok(CHUNK.min(left as usize)),
        }
    }

    /// For file systems that cannot splice.
    fn copy(&mut self, source: &impl AsFd, room: usize) -> io::Result<Moved> {
        let mut buffer = vec![0; room.min(64 << 10)];
        let read = match rustix::io::read(source, &mut buffer) {
            Ok(read) => read,
            Err(Errno::AGAIN) => return Ok(Moved::Nothing),
            Err(error) => return Err(error.into()),
        };
        self.end += read as u64;
        match self.file.write_all(&buffer[..read]) {
            Ok(()) => self.size += read as u64,
            Err(_) => {
                self.count_drop(read as u64);
                self.rewind_to(self.size)?;
            }
        }
        Ok(Moved::Bytes(read as u64))
    }

    fn rewind_to(&mut self, size: u64) -> io::Result<()> {
        self.file.set_len(size)?;
        self.file.seek(SeekFrom::Start(size))?;
        self.size = size;
        Ok(())
    }
}

/// For systems that cannot splice.
fn read_away(source: &impl AsFd, most: usize) -> Result<usize, Errno> {
    let mut buffer = [0; 4096];
    let most = most.min(buffer.len());
    rustix::io::read(source, &mut buffer[..most])
}

fn fresh(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests;
