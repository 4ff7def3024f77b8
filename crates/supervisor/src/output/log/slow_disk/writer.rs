//! The process that writes the log on a slow disk. It only writes and may block.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, poll};

use super::supervisor_side::STREAMS;
use crate::clock;
use crate::fail_point::fail_point;
use crate::output::log::log_file::Log;
use crate::spawn::pipe::OutputPipe;
use crate::sys;

impl Log {
    /// Writes what arrives in the pipes, until the supervisor closes them.
    pub(super) fn write_for(&mut self, [stdout, stderr]: [OutputPipe; 2], journal: BorrowedFd<'_>) -> ! {
        let own = [self.file.as_fd(), self.null.as_fd(), journal, stdout.read.as_fd(), stderr.read.as_fd()];
        let index = self.index.as_ref().map(AsFd::as_fd);
        // A process that waits for the end of one of our streams must not wait for this one.
        sys::close_all_but(&own.into_iter().chain(index).collect::<Vec<_>>());
        // The supervisor may be killed before it records this.
        self.board.writer.set(Some(std::process::id()));
        let sources = [stdout.read.as_fd(), stderr.read.as_fd()];
        let mut gaps = 0;
        loop {
            let mut left = 0;
            for (stream, source) in STREAMS.into_iter().zip(sources) {
                let waiting = rustix::io::ioctl_fionread(source).unwrap_or(0);
                if waiting > 0 {
                    self.write_down_gap(&mut gaps);
                    let now_us = clock::wall().as_micros().max(0) as u64;
                    let _ = self.append_from(stream, source, now_us);
                    fail_point("writer-wrote");
                    self.report();
                }
                left += waiting;
            }
            if left == 0 && !wait_for_input(sources) {
                break;
            }
        }
        if self.write_down_gap(&mut gaps) {
            let _ = self.write_pending_drop();
        }
        self.tidy();
        sys::exit_at_once(0)
    }

    fn report(&mut self) {
        if let Some(slow_ms) = self.slow_ms.take() {
            self.board.slow_ms.set(slow_ms);
        }
        self.board.written.set(self.end);
    }

    /// Counts what the supervisor dropped after the bytes that were written so far; returns whether there was any.
    fn write_down_gap(&mut self, gaps: &mut usize) -> bool {
        let (from, bytes) = self.board.gap(*gaps);
        let is_here = bytes > 0 && self.end == from;
        if is_here {
            self.lose(bytes);
            self.board.set_gap_bytes(*gaps, 0);
            *gaps += 1;
        }
        is_here
    }
}

/// Waits for bytes in one of the pipes; false if both are closed and empty.
fn wait_for_input(sources: [BorrowedFd<'_>; 2]) -> bool {
    let mut fds = sources.map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN));
    let _ = poll(&mut fds, None);
    fds.iter().any(|fd| !fd.revents().contains(PollFlags::HUP) || fd.revents().contains(PollFlags::IN))
}
