//! Where tasks run.
//!
//! A back-end turns a spec into what a supervisor executes. The supervisor, the log, the ledger and everything above do
//! not know where that is: back-ends differ only in what they can do, what they refuse, what they execute, how it is
//! asked to stop, and whether they can be used at all.
//!
//! `process` runs the command itself, `agent` the driver of an agent, `mock` nothing.

mod agent;
mod choose;
mod mock;
mod process;

use mw_model::TaskSpec;
use mw_model::wire::Launch;

use crate::error::Result;
use crate::request::TaskRequest;

pub(crate) use choose::{backend_for, backend_of};

/// Where tasks run. Every implementation keeps these promises:
///
/// - `check` changes nothing, and what it passes `plan` can plan unless the machine changes in between.
/// - `plan` is a function of the spec and the run: who adopts a task can plan it again.
/// - What `plan` returns ends when the task ends, with the task's own exit status.
pub(crate) trait Backend: Sync {
    /// Says what tasks can do here.
    fn capabilities(&self) -> Capabilities;

    /// Refuses what could never run here, before anything is changed.
    fn check(&self, request: &TaskRequest) -> Result<()>;

    /// Returns what a supervisor executes.
    fn plan(&self, spec: &TaskSpec, run: u32) -> Result<Launch>;

    /// Says how a task is asked to stop.
    fn stop(&self) -> Stop;
}

/// What tasks can do in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capabilities {
    /// They can have a terminal.
    pub(crate) terminal: bool,
    /// Limits on resources hold them.
    pub(crate) resources: bool,
}

/// How a task is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// All its processes get the signal.
    Tree,
    /// Its first process gets the signal and stops the others; after the grace all get SIGKILL.
    LeaderFirst,
}
