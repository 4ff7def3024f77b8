//! The way of much output into the log.
//!
//! Moving bytes from a pipe to a file takes the kernel as long as copying them, and nobody can write to the pipe
//! meanwhile: the task and its supervisor would take turns, each spinning in wait for the other. So a large amount
//! is *shared* with a pipe of our own, which copies nothing, goes to the log from there, and is taken out of its own
//! pipe last. The bytes are in the kernel's hands all the time, and after a death between any two steps it can be
//! told which it was: see [`super::batch`].

mod waste;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use rustix::fs::fstat;

use super::batch;
use super::batch::{Batch, Notes, Remedy, WINDOW};
use super::{CHUNK, Log, Stream, read_away};
use crate::boot::descriptors::has_spare;
use crate::fail_point::fail_point;
use crate::sys;
use waste::Waste;

/// With less than this in the pipe, or room for less, the short way is shorter.
const LEAST: usize = 64 << 10;
/// Most bytes of one batch: less than a task's pipe holds, so that the task can write on meanwhile.
const MOST: usize = 376 << 10;
/// After so many batches a task is one that prints much.
const MANY: u32 = 4;
/// Batches of whole pages are copied fastest.
const PAGE: usize = 4 << 10;

/// Whether there is a stage.
pub(super) enum Staging {
    /// Nothing called for one so far.
    Untried,
    Ready(Box<Stage>),
    /// The system has none.
    Impossible,
}

/// What a batch goes through.
pub(super) struct Stage {
    pipes: Pipes,
    notes: Notes,
    /// Which pipe each stream comes from, as far as anybody asked.
    inodes: [Option<u64>; 2],
    /// The next batch, if it is shared already: whose it is and how much there is of it.
    ahead: Option<(Stream, usize)>,
    /// Whether batches have an odd length. Output that repeats itself looks alike at the beginning of a batch and
    /// behind it when the length is a multiple of the period.
    odd: bool,
    batches: u32,
    /// Who frees the memory of what was taken; nobody at first.
    waste: Option<Waste>,
}

/// Pipes of our own, as large as a task's. Both are empty between two batches, but for what is shared ahead.
struct Pipes {
    shared: (OwnedFd, OwnedFd),
    batch: (OwnedFd, OwnedFd),
}

/// What came of the attempt to get a batch ready.
enum Made {
    /// So many bytes are ready to be copied.
    Bytes(usize),
    /// The bytes behind the batch look like its beginning.
    Alike,
}

impl Log {
    /// How much of a stream's next bytes is known to be there.
    pub(crate) fn shared_ahead(&self, stream: Stream) -> Option<u64> {
        match &self.staging {
            Staging::Ready(stage) => {
                stage.ahead.filter(|(whose, _)| *whose == stream).map(|(_, len)| len as u64)
            }
            Staging::Untried | Staging::Impossible => None,
        }
    }

    /// Gives up what was shared ahead: the bytes will go another way.
    pub(super) fn unshare(&mut self, stream: Stream) {
        if self.shared_ahead(stream).is_some()
            && let Staging::Ready(stage) = &mut self.staging
        {
            stage.ahead = None;
            stage.pipes.clear(&self.null);
        }
    }

    /// Moves much of what a pipe holds; nothing when that must go the short way.
    pub(super) fn keep_much(
        &mut self,
        stream: Stream,
        source: &impl AsFd,
        waiting: usize,
        room: usize,
    ) -> io::Result<Option<u64>> {
        let moved = self.move_batch(stream, source, waiting, room);
        if !matches!(moved, Ok(Some(_))) {
            self.unshare(stream);
        }
        moved
    }

    fn move_batch(
        &mut self,
        stream: Stream,
        source: &impl AsFd,
        waiting: usize,
        room: usize,
    ) -> io::Result<Option<u64>> {
        if waiting < LEAST || room < LEAST {
            return Ok(None);
        }
        if let Staging::Untried = self.staging {
            let stage = Stage::open(&self.dir).ok().filter(|_| has_spare(&self.null));
            self.staging = stage.map_or(Staging::Impossible, Staging::Ready);
        }
        let Staging::Ready(stage) = &mut self.staging else { return Ok(None) };
        let (log_inode, pipe_inode) = (self.inode, stage.inode_of(stream, source)?);
        let most = (waiting - WINDOW).min(room).min(MOST) / PAGE * PAGE - usize::from(stage.odd);
        let len = match stage.make_batch(stream, source, most, &self.null) {
            Ok(Made::Bytes(len)) => len,
            Ok(Made::Alike) => {
                stage.odd = !stage.odd;
                stage.pipes.clear(&self.null);
                return Ok(None);
            }
            Err(_) => {
                self.staging = Staging::Impossible;
                return Ok(None);
            }
        };
        let batch = Batch { log_inode, pipe_inode, start: self.size, len: len as u64 };
        if stage.notes.begin(&batch).is_err() || !stage.pipes.copy_to(&self.file, len) {
            // The short way finds out why, from where this began.
            stage.pipes.clear(&self.null);
            let rewound = self.rewind_to(batch.start);
            self.end_batch();
            return rewound.map(|()| None);
        }
        fail_point("output-copied");
        self.size += batch.len;
        self.end += batch.len;
        stage.take(source, len, &self.null);
        fail_point("output-taken");
        // At once: the task wakes up now, and then the pipe is in its hands for a while.
        stage.share_ahead(stream, source, &self.null);
        self.end_batch();
        fail_point("output-forgotten");
        Ok(Some(batch.len))
    }

    fn end_batch(&mut self) {
        if let Staging::Ready(stage) = &self.staging
            && stage.notes.end().is_err()
        {
            self.staging = Staging::Impossible;
        }
    }

    /// Gives up what was shared ahead, whosever it is.
    pub(super) fn unshare_all(&mut self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            self.unshare(stream);
        }
    }

    /// Finishes or undoes the batch that a predecessor was killed in.
    pub(crate) fn finish_batch(&mut self, pipes: [&OwnedFd; 2]) -> io::Result<()> {
        let Some(batch) = batch::left_behind(&self.dir) else { return Ok(()) };
        let is_its = |pipe: &&OwnedFd| fstat(pipe).is_ok_and(|found| found.st_ino == batch.pipe_inode);
        if let Some(pipe) = pipes.into_iter().find(is_its) {
            let own = Pipes::open()?;
            let inode = self.file.metadata()?.ino();
            let is_still_there = || own.peek(pipe).is_some_and(|head| self.has_at(batch.start, &head));
            match batch.remedy(inode, self.size, is_still_there) {
                Remedy::None => {}
                Remedy::CutLogTo(start) => {
                    self.end -= self.size - start;
                    self.rewind_to(start)?;
                }
                Remedy::TakeFromPipe(len) => take_away(pipe, len as usize, &self.null),
            }
            fail_point("output-recovered");
        }
        batch::forget(&self.dir);
        Ok(())
    }

    fn has_at(&self, place: u64, wanted: &[u8]) -> bool {
        let mut found = [0; WINDOW];
        self.file.read_exact_at(&mut found, place).is_ok_and(|()| found == wanted)
    }

    /// Removes what only a supervisor at work needs.
    pub(crate) fn tidy(&self) {
        if let Staging::Ready(_) = self.staging {
            batch::forget(&self.dir);
        }
    }
}

impl Stage {
    fn open(dir: &Path) -> io::Result<Box<Self>> {
        Ok(Box::new(Self {
            pipes: Pipes::open()?,
            notes: Notes::create(dir)?,
            inodes: [None; 2],
            ahead: None,
            odd: false,
            batches: 0,
            waste: None,
        }))
    }

    fn inode_of(&mut self, stream: Stream, source: &impl AsFd) -> io::Result<u64> {
        let known = &mut self.inodes[stream as usize];
        match *known {
            Some(inode) => Ok(inode),
            None => Ok(*known.insert(fstat(source)?.st_ino)),
        }
    }

    /// Gets a batch ready, if its beginning differs from what follows it in its pipe.
    fn make_batch(
        &mut self,
        stream: Stream,
        source: &impl AsFd,
        most: usize,
        null: &File,
    ) -> io::Result<Made> {
        let shared = match self.ahead.take() {
            Some((whose, len)) if whose == stream => len,
            other => {
                if other.is_some() {
                    self.pipes.clear(null);
                }
                sys::share_bytes(source, &self.pipes.shared.1, most + WINDOW)?
            }
        };
        let len = shared.saturating_sub(WINDOW).min(most);
        if len < LEAST - 2 * PAGE || !self.pipes.split_off(len) {
            // Pipes of our own that are too small, or a pipe full of crumbs.
            return Err(io::ErrorKind::Unsupported.into());
        }
        let behind = read_window(&self.pipes.shared.0);
        if shared > len + WINDOW {
            empty(&self.pipes.shared.0, null);
        }
        let beginning = self.pipes.peek(&self.pipes.batch.0);
        if behind.is_none() || behind == beginning { Ok(Made::Alike) } else { Ok(Made::Bytes(len)) }
    }

    /// Takes a batch out of its pipe: as [`take_away`], or with somebody's help.
    fn take(&mut self, source: &impl AsFd, len: usize, null: &File) {
        self.batches = self.batches.saturating_add(1);
        if self.batches == MANY {
            // Where there is no room for a further thread, it is done without.
            self.waste = Waste::begin(null).ok();
        }
        let taken = self.waste.as_ref().map_or(0, |waste| waste.take(source, len));
        take_away(source, len - taken, null);
    }

    /// Shares the next batch, if there is enough for one already.
    fn share_ahead(&mut self, stream: Stream, source: &impl AsFd, null: &File) {
        let most = MOST - usize::from(self.odd) + WINDOW;
        match sys::share_bytes(source, &self.pipes.shared.1, most) {
            Ok(len) if len >= LEAST => self.ahead = Some((stream, len)),
            Ok(_) => empty(&self.pipes.shared.0, null),
            Err(_) => {}
        }
    }
}

impl Pipes {
    fn open() -> io::Result<Self> {
        let make = || {
            let pipe = sys::new_pipe(CHUNK)?;
            rustix::io::ioctl_fionbio(&pipe.0, true)?;
            io::Result::Ok(pipe)
        };
        Ok(Self { shared: make()?, batch: make()? })
    }

    /// Makes the first bytes that are shared the batch.
    fn split_off(&self, len: usize) -> bool {
        sys::move_bytes(&self.shared.0, &self.batch.1, len).is_ok_and(|moved| moved == len)
    }

    /// Copies the batch to the end of a file; says whether all of it went there.
    fn copy_to(&self, file: &File, len: usize) -> bool {
        fail_point("output-noted");
        let mut left = len;
        while left > 0 {
            match sys::move_bytes(&self.batch.0, file, left) {
                Ok(moved) if moved > 0 => left -= moved,
                Ok(_) | Err(_) => return false,
            }
        }
        true
    }

    /// Looks at the head of a pipe.
    fn peek(&self, pipe: &impl AsFd) -> Option<[u8; WINDOW]> {
        sys::share_bytes(pipe, &self.shared.1, WINDOW).ok()?;
        read_window(&self.shared.0)
    }

    fn clear(&self, null: &File) {
        for pipe in [&self.shared, &self.batch] {
            empty(&pipe.0, null);
        }
    }
}

/// Takes bytes out of a pipe that certainly holds them. The kernel does so in one go: it looks for signals before the
/// first byte and when a pipe has run dry, not in between.
fn take_away(source: &impl AsFd, len: usize, null: &File) {
    let mut left = len;
    while left > 0 {
        match sys::move_bytes(source, null, left).or_else(|_| read_away(source, left)) {
            Ok(gone) if gone > 0 => left -= gone,
            Ok(_) | Err(_) => break,
        }
    }
}

fn empty(pipe: &impl AsFd, null: &File) {
    while sys::move_bytes(pipe, null, CHUNK).is_ok_and(|gone| gone == CHUNK) {}
}

fn read_window(pipe: &impl AsFd) -> Option<[u8; WINDOW]> {
    let mut window = [0; WINDOW];
    let read = rustix::io::read(pipe, &mut window).ok()?;
    (read == WINDOW).then_some(window)
}

#[cfg(test)]
mod tests;
