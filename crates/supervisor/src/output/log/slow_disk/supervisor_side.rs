//! The supervisor's side of a slow disk: forks the writer, feeds it through two pipes, and drops output if it is behind.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use mw_model::Stream;
use rustix::io::Errno;

use crate::clock;
use crate::fail_point::fail_point;
use crate::output::log::buffer::Buffering;
use crate::output::log::log_file::{CHUNK, Log, Moved, WriteMode};
use crate::spawn::pipe::OutputPipe;
use crate::sys;
use crate::sys::{Board, Fork};

/// A write that takes longer is slow. If a full pipe takes the writer longer, output is dropped.
const SLOW_MS: u64 = 250;
/// How long the disk must have been fast before the writer ends; short in tests.
const WELL_MS: u64 = if cfg!(debug_assertions) { 1_000 } else { 30_000 };
/// How often a writer that is behind is checked.
const POLL_INTERVAL_MS: u64 = 1000;

pub(super) const STREAMS: [Stream; 2] = [Stream::Stdout, Stream::Stderr];

/// The writer, as the supervisor sees it.
pub(in crate::output::log) struct Writer {
    pid: u32,
    /// We also hold the reading ends, in case the writer is killed.
    pipes: [OutputPipe; 2],
    flow: Flow,
    /// Which of the pipes were full at the last attempt.
    full: [bool; 2],
    /// The number of gaps so far. At most two gaps are open at a time, because between two gaps bytes are passed on only
    /// after everything before the first was written, and the second ends only after they were.
    gaps: usize,
    /// When the disk was last known to be slow.
    slow_ms: u64,
}

/// Whether the writer keeps up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// It keeps up.
    Free,
    /// A pipe was full at this time; the logical end at that time.
    Behind { since_ms: u64, end: u64 },
    /// Bytes are dropped until the writer has reached this offset.
    Dropping { from: u64 },
}

impl Log {
    /// Checks how long the last write took.
    pub(in crate::output::log) fn check_speed(&mut self, begun_ms: u64) {
        let now = clock::monotonic_ms();
        if now.saturating_sub(begun_ms) > SLOW_MS {
            self.slow_ms = Some(now);
        }
    }

    /// Returns whether a write took so long that a writer is needed.
    pub(crate) const fn needs_writer(&self) -> bool {
        self.slow_ms.is_some()
    }

    /// Starts or ends the writer. It keeps the journal locked as long as it writes.
    pub(crate) fn manage_writer(&mut self, journal: impl AsFd) {
        match &mut self.way {
            WriteMode::Straight => {
                if let Some(slow_ms) = self.slow_ms.take() {
                    // If no writer can be started, the task waits for its disk.
                    let _ = self.start_writer(slow_ms, journal.as_fd());
                }
            }
            WriteMode::Through(writer) => {
                writer.slow_ms = writer.slow_ms.max(self.board.slow_ms.get());
                if self.board.written.get() == self.end
                    && clock::monotonic_ms().saturating_sub(writer.slow_ms) >= WELL_MS
                {
                    self.rejoin();
                }
            }
            WriteMode::Closed => {}
        }
    }

    /// Returns whether some output may not be in the log yet.
    pub(crate) const fn is_written_elsewhere(&self) -> bool {
        match self.way {
            WriteMode::Straight => false,
            WriteMode::Through(_) | WriteMode::Closed => true,
        }
    }

    /// When to check the writer again.
    pub(crate) fn due_ms(&self) -> Option<u64> {
        let WriteMode::Through(writer) = &self.way else { return None };
        let soon = clock::monotonic_ms() + POLL_INTERVAL_MS;
        Some(match writer.flow {
            Flow::Behind { since_ms, .. } if writer.full.contains(&true) => since_ms + SLOW_MS,
            Flow::Free | Flow::Behind { .. } if self.board.written.get() == self.end => {
                writer.slow_ms + WELL_MS
            }
            Flow::Free | Flow::Behind { .. } | Flow::Dropping { .. } => soon,
        })
    }

    /// Returns the full pipe to poll instead of the task's pipe.
    pub(crate) fn full_pipe(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        match &self.way {
            WriteMode::Through(writer) if writer.full[stream as usize] => {
                Some(writer.pipes[stream as usize].write.as_fd())
            }
            WriteMode::Through(_) | WriteMode::Straight | WriteMode::Closed => None,
        }
    }

    fn start_writer(&mut self, slow_ms: u64, journal: BorrowedFd<'_>) -> io::Result<()> {
        let pipes = [OutputPipe::new()?, OutputPipe::new()?];
        // The writer makes its own buffer.
        self.buffering = Buffering::Untried;
        self.board.taken.set(self.end);
        self.board.written.set(self.end);
        self.board.slow_ms.set(slow_ms);
        for slot in 0..2 {
            self.board.set_gap_bytes(slot, 0);
        }
        match sys::fork()? {
            Fork::Child => self.write_for(pipes, journal),
            Fork::Parent(pid) => {
                self.board.writer.set(Some(pid));
                let writer = Writer { pid, pipes, flow: Flow::Free, full: [false; 2], gaps: 0, slow_ms };
                self.way = WriteMode::Through(Box::new(writer));
                Ok(())
            }
        }
    }

    /// Passes the content of a task's pipe to the writer; drops it if the writer does not keep up.
    pub(in crate::output::log) fn pass_on(&mut self, stream: Stream, source: &impl AsFd) -> Moved {
        let WriteMode::Through(writer) = &mut self.way else { return Moved::Nothing };
        let written = self.board.written.get();
        let now = clock::monotonic_ms();
        match writer.flow {
            Flow::Dropping { from } if written < from => return self.discard_behind(source),
            Flow::Behind { end, .. } if written < end => {}
            Flow::Free | Flow::Behind { .. } | Flow::Dropping { .. } => writer.flow = Flow::Free,
        }
        let pipe = &writer.pipes[stream as usize];
        let moved = sys::move_bytes(source, &pipe.write, CHUNK);
        writer.full[stream as usize] = moved == Err(Errno::AGAIN);
        match (moved, writer.flow) {
            (Ok(moved), _) => {
                self.end += moved as u64;
                self.board.taken.set(self.end);
                return Moved::Bytes(moved as u64);
            }
            (Err(Errno::AGAIN), Flow::Free | Flow::Dropping { .. }) => {
                writer.flow = Flow::Behind { since_ms: now, end: self.end };
                return Moved::Nothing;
            }
            (Err(Errno::AGAIN), Flow::Behind { since_ms, .. }) if now < since_ms + SLOW_MS => {
                return Moved::Nothing;
            }
            (Err(_), _) => {}
        }
        writer.slow_ms = now;
        writer.full = [false; 2];
        writer.flow = Flow::Dropping { from: self.end };
        writer.gaps += 1;
        self.board.begin_gap(writer.gaps - 1, self.end);
        self.discard_behind(source)
    }

    fn discard_behind(&mut self, source: &impl AsFd) -> Moved {
        let moved = self.discard(source);
        self.board.taken.set(self.end);
        moved
    }

    /// Ends the writer, waits for it and writes in this process again. Opens a log that the writer of a predecessor
    /// has used.
    pub(crate) fn rejoin(&mut self) {
        let writer = match std::mem::replace(&mut self.way, WriteMode::Closed) {
            WriteMode::Straight => {
                self.way = WriteMode::Straight;
                return;
            }
            WriteMode::Closed => {
                let _ = self.reopen();
                return;
            }
            WriteMode::Through(writer) => writer,
        };
        let Writer { pid, pipes: [stdout, stderr], .. } = *writer;
        let pipes = [stdout.read, stderr.read];
        drop((stdout.write, stderr.write));
        // The writer may have been reaped already.
        let _ = sys::reap(pid);
        self.board.writer.set(None);
        fail_point("writer-ended");
        let taken = self.end;
        self.dropped = 0;
        let Ok(mut log) = Self::recover(&self.dir, self.board) else { return };
        log.set_cap(self.cap);
        log.empty_pipes(&pipes);
        log.lose(taken.saturating_sub(log.end));
        self.board.taken.set(0);
        *self = log;
    }

    /// Writes what a killed writer left in its pipes.
    fn empty_pipes(&mut self, pipes: &[OwnedFd; 2]) {
        let now_us = clock::wall().as_micros().max(0) as u64;
        for (stream, pipe) in STREAMS.into_iter().zip(pipes) {
            while let Ok(1..) = rustix::io::ioctl_fionread(pipe) {
                match self.append_from(stream, pipe, now_us) {
                    Moved::Bytes(0) | Moved::Nothing => break,
                    Moved::Bytes(_) => {}
                }
            }
        }
    }
}

impl Writer {
    /// Counts bytes of the open gap.
    pub(in crate::output::log) fn widen_gap(&self, board: Board, bytes: u64) {
        let slot = self.gaps.saturating_sub(1);
        board.set_gap_bytes(slot, board.gap(slot).1 + bytes);
    }
}
