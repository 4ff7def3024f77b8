//! An open log: appends to it and keeps count.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use mw_model::Stream;
use mw_model::wire::{HEADER_LEN, INDEX_FILE, LOG_FILE};
use rustix::io::Errno;

use crate::clock;
use crate::fail_point::slow_point;
use crate::sys;
use crate::sys::Board;

use super::buffer::Buffering;
use super::slow_disk::Writer;

/// Maximum number of bytes moved by one call, and the size of our pipes.
pub(crate) const CHUNK: usize = 1 << 19;
/// A larger index is compacted together with its log, if there is a cap.
pub(super) const INDEX_LIMIT: u64 = 1 << 20;
pub(super) const NEW_LOG: &str = "output.log.new";
pub(super) const NEW_INDEX: &str = "output.idx.new";

/// The result of [`Log::append_from`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// Took this many bytes, kept or dropped.
    Bytes(u64),
    /// There was nothing to take.
    Nothing,
}

/// An open log.
pub(crate) struct Log {
    pub(super) dir: PathBuf,
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// Created when it is needed: for a second stream, a later time or dropped bytes. Without an index all bytes are
    /// stdout.
    pub(super) index: Option<File>,
    pub(super) null: File,
    pub(super) board: Board,
    pub(super) cap: u64,
    pub(super) prefix: u64,
    /// Physical size.
    pub(super) size: u64,
    pub(super) index_len: u64,
    /// Logical end: every byte taken so far.
    pub(super) end: u64,
    /// Bytes taken that are not in the log.
    pub(super) dropped: u64,
    /// The stream of the last index entry, and its time.
    pub(super) announced: Option<(Stream, u64)>,
    /// The time of the first byte.
    pub(super) born_us: Option<u64>,
    /// The log's inode; 0 until it is needed.
    pub(super) inode: u64,
    pub(super) buffering: Buffering,
    /// Whether the log has the note that dropped bytes are counted only on the shared page.
    pub(super) is_unnoted: bool,
    pub(super) way: WriteMode,
    /// When a write was last slow, on the monotonic clock.
    pub(super) slow_ms: Option<u64>,
}

/// How bytes get into the log.
pub(super) enum WriteMode {
    /// This process writes them.
    Straight,
    /// A writer process writes them, because the disk was slow.
    Through(Box<Writer>),
    /// The log of a predecessor could not be opened yet; bytes are dropped and counted.
    Closed,
}

impl Log {
    /// Creates an empty log without a cap.
    pub(crate) fn create(dir: &Path, board: Board) -> io::Result<Self> {
        // An existing index is from a start that was cancelled or killed before it executed anything.
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

    /// The log of another process, which is opened when this process has to continue it.
    pub(crate) fn unopened(dir: &Path, board: Board) -> io::Result<Self> {
        let nothing = OpenOptions::new().write(true).open("/dev/null")?;
        Ok(Self { way: WriteMode::Closed, ..Self::with(dir, nothing, None, board)? })
    }

    pub(super) fn with(dir: &Path, file: File, index: Option<File>, board: Board) -> io::Result<Self> {
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
            buffering: Buffering::Untried,
            is_unnoted: false,
            way: WriteMode::Straight,
            slow_ms: None,
        })
    }

    /// Sets the maximum size of the output in the log; 0 means no cap.
    pub(crate) fn set_cap(&mut self, cap: u64) {
        self.cap = cap;
    }

    /// Writes a header, which has no offsets, to an empty log.
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

    /// Returns whether bytes were dropped that nobody has counted.
    pub(crate) fn has_uncounted_drops(&self) -> bool {
        self.board.output_lost.get()
    }

    /// Counts what the task has written to the log itself; returns whether it has grown.
    pub(crate) fn measure(&mut self) -> bool {
        if matches!(self.way, WriteMode::Closed) && self.reopen().is_err() {
            return false;
        }
        let size = self.file.metadata().map_or(self.size, |found| found.len());
        let grew = size > self.size;
        self.size = size;
        self.end = size.saturating_sub(self.prefix);
        grew
    }

    /// Moves the content of a pipe, up to one chunk, to the log; drops and counts it if that fails. Never blocks on
    /// the pipe.
    pub(crate) fn append_from(&mut self, stream: Stream, source: impl AsFd, now_us: u64) -> Moved {
        let kept = match &self.way {
            WriteMode::Straight => self.keep(stream, &source, now_us),
            WriteMode::Through(_) => return self.pass_on(stream, &source),
            WriteMode::Closed => self.reopen().and_then(|()| self.keep(stream, &source, now_us)),
        };
        kept.unwrap_or_else(|_| self.discard(&source))
    }

    pub(super) fn keep(&mut self, stream: Stream, source: &impl AsFd, now_us: u64) -> io::Result<Moved> {
        let mut begun_ms = clock::monotonic_ms();
        slow_point();
        self.check_damage()?;
        self.write_pending_drop()?;
        if self.cap > 0 && (self.held() >= self.cap || self.index_len > INDEX_LIMIT) {
            self.drop_middle()?;
            // Copying a large log is slow on any disk.
            begun_ms = clock::monotonic_ms();
        }
        let moved = self.write(stream, source, now_us);
        self.check_speed(begun_ms);
        moved
    }

    pub(super) fn write(&mut self, stream: Stream, source: &impl AsFd, now_us: u64) -> io::Result<Moved> {
        let room = self.room()?;
        self.announce(stream, now_us)?;
        if let Some(moved) = self.move_much(source, room)? {
            return Ok(Moved::Bytes(moved));
        }
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

    /// Returns the bytes that count against the cap; the header does not.
    pub(super) fn held(&self) -> u64 {
        self.size.saturating_sub(self.prefix)
    }

    /// Returns how much may be written at once; an error if there is no room, because nothing would ever be taken
    /// then.
    pub(super) fn room(&self) -> io::Result<usize> {
        if self.cap == 0 {
            return Ok(CHUNK);
        }
        match self.cap.saturating_sub(self.held()) {
            0 => Err(io::ErrorKind::StorageFull.into()),
            left => Ok(CHUNK.min(left as usize)),
        }
    }

    /// For file systems without `splice`.
    pub(super) fn copy(&mut self, source: &impl AsFd, room: usize) -> io::Result<Moved> {
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

    pub(super) fn rewind_to(&mut self, size: u64) -> io::Result<()> {
        self.file.set_len(size)?;
        self.file.seek(SeekFrom::Start(size))?;
        self.size = size;
        Ok(())
    }
}

/// For systems without `splice`.
pub(super) fn read_and_drop(source: &impl AsFd, most: usize) -> Result<usize, Errno> {
    let mut buffer = [0; 4096];
    let most = most.min(buffer.len());
    rustix::io::read(source, &mut buffer[..most])
}

pub(super) fn fresh(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}
