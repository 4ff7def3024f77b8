//! What a system that runs tasks in the background can be asked to do.

use std::path::PathBuf;
use std::time::Duration;

use super::outcome::{Outcome, Trouble};
use super::stand::{Call, Stand};

/// How many tasks run at once where throughput is measured.
pub(super) const AT_ONCE: u32 = 8;

/// A task that was started.
pub(super) struct Started {
    /// What the peer calls it.
    pub(super) id: String,
    /// Wall clock in nanoseconds when the command was begun.
    pub(super) at: i128,
    /// How long the command took to return.
    pub(super) took: Duration,
}

impl Started {
    pub(super) fn new(id: impl Into<String>, call: &Call) -> Self {
        Self { id: id.into(), at: call.at, took: call.took }
    }
}

/// A system under measurement. Verbs are commands of its own; one it does not have answers `Unsupported`.
pub(super) trait Peer {
    /// The name in the report.
    fn name(&self) -> &'static str;

    /// Where it lives.
    fn stand(&self) -> &Stand;

    /// Runs a script in the background with its output in a file.
    fn start(&mut self, script: &str) -> Outcome<Started>;

    /// Waits for a task's end.
    fn wait(&mut self, _id: &str) -> Outcome<Duration> {
        Err(Trouble::Unsupported)
    }

    /// Ends a task.
    fn kill(&mut self, _id: &str) -> Outcome<Duration> {
        Err(Trouble::Unsupported)
    }

    /// Lists tasks.
    fn list(&mut self) -> Outcome<Duration> {
        Err(Trouble::Unsupported)
    }

    /// Names the file with a task's output.
    fn log(&mut self, _id: &str) -> Outcome<PathBuf> {
        Err(Trouble::Unsupported)
    }

    /// Sees to it that this many finished tasks are in its store.
    fn seed(&mut self, _count: u32) -> Outcome<()> {
        Err(Trouble::Unsupported)
    }

    /// Sets how many tasks may run at once.
    fn set_slots(&mut self, _slots: u32) -> Outcome<()> {
        Err(Trouble::Unsupported)
    }

    /// Hands in tasks one command after the other, as one client would.
    fn start_many(&mut self, count: u32, script: &str) -> Outcome<()> {
        self.set_slots(AT_ONCE)?;
        for _ in 0..count {
            self.start(script)?;
        }
        Ok(())
    }

    /// Whether processes of its own work on after the last task has run.
    fn settles_later(&self) -> bool {
        false
    }

    /// Whether it takes a large part of a second for what others do in milliseconds; it is then asked less often.
    fn is_slow(&self) -> bool {
        false
    }
}
