//! Tells other processes that something has changed.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use mw_model::{DEFAULT_SHELL, Timestamp};

use super::stores::Database;
use crate::disk::alarm::{self, AlarmState};
use crate::disk::wake_up;

/// Executes its arguments in the background. Descriptors that the caller has inherited are closed, because whoever reads the other
/// end of one would wait for this process.
const DETACH: &str = "\"$@\" </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &";

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
        self.spawn_detached(&[])
    }

    /// Makes sure that a process sleeps until the time at which the next task is due, and starts it then; without such a task, that
    /// none does. What was due at the time `since` needs no alarm: this process starts it, or whoever frees a slot for it. Best
    /// effort: the next change of the queue does it again.
    pub(crate) fn set_alarm(&self, due: Option<Timestamp>, since: Timestamp) {
        match (alarm::state(&self.home), due) {
            (AlarmState::Off, Some(_)) => _ = self.spawn_detached(&["--alarm"]),
            (AlarmState::Until(until), Some(due)) if until > due && due > since => {
                alarm::ring(&self.home);
            }
            (AlarmState::Until(_), None) => alarm::ring(&self.home),
            (AlarmState::Off, None) | (AlarmState::Until(_), Some(_)) => {}
        }
    }

    fn spawn_detached(&self, options: &[&str]) -> io::Result<()> {
        let words = self.settings.executables.settle.iter().map(|word| OsStr::from_bytes(word.as_bytes()));
        let mut shell = Command::new(DEFAULT_SHELL)
            .args(["-c", DETACH, "sh"])
            .args(words)
            .args(options)
            .current_dir(self.home.root())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        shell.wait().map(drop)
    }
}
