//! The interface to a system that runs tasks in the background.

use std::path::PathBuf;
use std::time::Duration;

use super::outcome::{Outcome, Trouble};
use super::stand::{Call, Stand};

/// The number of parallel tasks in the throughput measurement.
pub(super) const AT_ONCE: u32 = 8;

/// A task that was started.
pub(super) struct Started {
    /// The peer's id of the task.
    pub(super) id: String,
    /// The wall clock in nanoseconds at the start of the command.
    pub(super) at: i128,
    /// How long the command took to return.
    pub(super) took: Duration,
}

impl Started {
    pub(super) fn new(id: impl Into<String>, call: &Call) -> Self {
        Self { id: id.into(), at: call.at, took: call.took }
    }
}

/// A measured system. Operations are its own commands. An unsupported operation returns `Unsupported`.
pub(super) trait Peer {
    /// Returns the name in the report.
    fn name(&self) -> &'static str;

    /// Returns the directory and environment of the peer.
    fn stand(&self) -> &Stand;

    /// Runs a script in the background. Its output goes to a file.
    fn start(&mut self, script: &str) -> Outcome<Started>;

    /// Waits for the end of a task.
    fn wait(&mut self, _id: &str) -> Outcome<Duration> {
        Err(Trouble::Unsupported)
    }

    /// Kills a task.
    fn kill(&mut self, _id: &str) -> Outcome<Duration> {
        Err(Trouble::Unsupported)
    }

    /// Lists tasks.
    fn list(&mut self) -> Outcome<Duration> {
        Err(Trouble::Unsupported)
    }

    /// Returns the file with a task's output.
    fn log(&mut self, _id: &str) -> Outcome<PathBuf> {
        Err(Trouble::Unsupported)
    }

    /// Fills the store until it contains this many finished tasks.
    fn seed(&mut self, _count: u32) -> Outcome<()> {
        Err(Trouble::Unsupported)
    }

    /// Sets the number of tasks that may run at once.
    fn set_slots(&mut self, _slots: u32) -> Outcome<()> {
        Err(Trouble::Unsupported)
    }

    /// Starts tasks one after the other, as one client would.
    fn start_many(&mut self, count: u32, script: &str) -> Outcome<()> {
        self.set_slots(AT_ONCE)?;
        for _ in 0..count {
            self.start(script)?;
        }
        Ok(())
    }

    /// Returns whether the peer's own processes continue to work after the last task has run.
    fn settles_later(&self) -> bool {
        false
    }

    /// Returns whether an operation takes a large part of a second where others take milliseconds. Such a peer is
    /// measured less often.
    fn is_slow(&self) -> bool {
        false
    }
}
