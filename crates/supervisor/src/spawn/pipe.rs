//! The pipes of a command's stdout and stderr, and those to a writer.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::fstat;

use crate::output::log::CHUNK;
use crate::sys;

/// Our ends of a pipe. We also hold a writing end, so that the reading end never reports an end of input.
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
    /// It is open for both directions. So there is a reader even if all supervisors are dead, and the command gets no
    /// SIGPIPE; an adopter finds the pipe by its inode.
    pub(crate) fn for_command(&self) -> io::Result<OwnedFd> {
        sys::reopen_read_write(self.read.as_fd()).or_else(|_| self.write.try_clone())
    }

    /// Returns the number by which the pipe can be found again.
    pub(crate) fn inode(&self) -> u64 {
        fstat(&self.read).map(|found| found.st_ino).unwrap_or(0)
    }

    /// Finds the pipe of a task whose supervisors were killed; nothing if no process holds it any more, and its
    /// content is lost.
    pub(crate) fn find(inode: u64, holders: impl IntoIterator<Item = u32>) -> io::Result<Option<Self>> {
        Ok(sys::find_pipe(inode, holders)?.map(|(read, write)| Self { read, write }))
    }
}
