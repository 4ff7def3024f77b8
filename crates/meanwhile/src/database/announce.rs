//! Tells other processes that something has changed.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use mw_model::DEFAULT_SHELL;

use super::stores::Database;
use crate::disk::wake_up;

impl Database {
    /// Wakes listeners, and starts `mw settle` to run hooks and export spans.
    pub(crate) fn announce(&self) {
        wake_up::send(&self.home);
        let to_deliver = self.spans_wait.take() && self.settings.traces.export;
        if (self.settings.hooks.any() || to_deliver) && !self.settles_itself.get() {
            // Best effort, like hooks: the next end catches up.
            let _ = self.spawn_settle();
        }
    }

    /// Starts `mw settle` as a detached process. The caller need not wait for it.
    pub(crate) fn spawn_settle(&self) -> io::Result<()> {
        let words = self.settings.executables.settle.iter().map(|word| OsStr::from_bytes(word.as_bytes()));
        let mut shell = Command::new(DEFAULT_SHELL)
            .args(["-c", "\"$@\" </dev/null >/dev/null 2>&1 &", "sh"])
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        shell.wait().map(drop)
    }
}
