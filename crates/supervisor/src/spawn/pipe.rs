//! The pipes that are a command's stdout and stderr.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::fstat;

use crate::output::log::CHUNK;
use crate::sys;

/// Our ends of a pipe. We hold a writing end too, so that ours never reports an end of input.
pub(crate) struct OutputPipe {
    pub(crate) read: OwnedFd,
    pub(crate) write: OwnedFd,
}

impl OutputPipe {
    pub(crate) fn new() -> io::Result<Self> {
        let (read, write) = sys::new_pipe(CHUNK)?;
        rustix::io::ioctl_fionbio(&read, true)?;
        Ok(Self { read, write })
    }

    /// Returns the command's end.
    ///
    /// It is open for both directions, so that a reader is never missing even when all of ours are
    /// dead: the command feels nothing, and an adopter finds the pipe again by its inode.
    pub(crate) fn for_command(&self) -> io::Result<OwnedFd> {
        sys::reopen_read_write(self.read.as_fd()).or_else(|_| self.write.try_clone())
    }

    /// Returns the number by which the pipe can be found again.
    pub(crate) fn inode(&self) -> u64 {
        fstat(&self.read).map(|found| found.st_ino).unwrap_or(0)
    }

    /// Finds a pipe that its supervisors left behind; nothing when no process holds it any more, and what it held is
    /// gone.
    pub(crate) fn find(inode: u64, holders: impl IntoIterator<Item = u32>) -> io::Result<Option<Self>> {
        Ok(sys::find_pipe(inode, holders)?.map(|(read, write)| Self { read, write }))
    }
}
