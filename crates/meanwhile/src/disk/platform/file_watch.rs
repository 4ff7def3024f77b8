//! Changes of a file.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

/// A descriptor that can be read when a file has changed.
pub(crate) struct FileWatch {
    inotify: OwnedFd,
}

impl FileWatch {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        inotify::add_watch(&inotify, path, WatchFlags::MODIFY)?;
        Ok(Self { inotify })
    }

    /// Discards the changes so far.
    pub(crate) fn forget_changes(&self) {
        let mut events = [0; 1024];
        while rustix::io::read(&self.inotify, &mut events).is_ok_and(|read| read > 0) {}
    }
}

impl AsFd for FileWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}
