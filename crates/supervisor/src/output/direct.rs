//! A log that the task writes itself (`Io::Direct`): the supervisor only measures it.
//!
//! No byte passes through the supervisor, so nothing wakes it. While a client follows the output, inotify does.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::SystemTime;

use mw_model::wire::LOG_FILE;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

/// Whether the log is being watched for growth.
#[derive(Default)]
pub(crate) struct DirectOutput {
    watch: Option<OwnedFd>,
}

impl DirectOutput {
    /// Returns the command's end of both streams: the log, opened so that concurrent writes follow each other.
    pub(crate) fn for_command() -> io::Result<OwnedFd> {
        Ok(OpenOptions::new().append(true).open(LOG_FILE)?.into())
    }

    /// Begins or ends a watch of the log with inotify; returns whether the watch has just begun. If inotify is not available,
    /// clients check the log at intervals.
    pub(crate) fn watch_while(&mut self, is_wanted: bool) -> bool {
        let begins = is_wanted && self.watch.is_none();
        if !is_wanted {
            self.watch = None;
        } else if begins {
            self.watch = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)
                .and_then(|watch| inotify::add_watch(&watch, LOG_FILE, WatchFlags::MODIFY).map(|_| watch))
                .ok();
        }
        begins
    }

    /// Returns what to poll for growth.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().map(AsFd::as_fd)
    }

    /// Takes the reports of growth that have arrived, so that the next poll waits for another.
    pub(crate) fn clear(&self) {
        let mut reports = [0; 1024];
        if let Some(watch) = &self.watch {
            while rustix::io::read(watch, &mut reports).is_ok_and(|read| read > 0) {}
        }
    }

    /// Returns for how long the task has written nothing.
    pub(crate) fn silent_ms() -> u64 {
        let written = std::fs::metadata(LOG_FILE).and_then(|found| found.modified());
        let silent = written.ok().and_then(|written| SystemTime::now().duration_since(written).ok());
        silent.map_or(0, |silent| silent.as_millis() as u64)
    }
}
