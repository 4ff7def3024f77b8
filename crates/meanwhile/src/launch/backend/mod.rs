//! Where tasks run.
//!
//! A back-end turns a spec into what a supervisor executes. The supervisor, the log, the ledger and the layers above
//! do not depend on the back-end. Back-ends differ only in what they support, what they refuse, what they execute,
//! how it is asked to stop, and whether they are available.
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

/// Where tasks run. Every implementation guarantees:
///
/// - `check` changes nothing. `plan` accepts what `check` accepts, unless the machine changes in between.
/// - `plan` depends only on the spec and the run, so an adopter can plan a task again.
/// - What `plan` returns ends when the task ends, with the task's own exit status.
pub(crate) trait Backend: Sync {
    /// Returns what tasks support here.
    fn capabilities(&self) -> Capabilities;

    /// Refuses a request that could never run here, before anything is changed.
    fn check(&self, request: &TaskRequest) -> Result<()>;

    /// Returns what a supervisor executes.
    fn plan(&self, spec: &TaskSpec, run: u32) -> Result<Launch>;

    /// Returns how a task is asked to stop.
    fn stop(&self) -> Stop;
}

/// What a back-end supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capabilities {
    /// Whether tasks can have a terminal.
    pub(crate) terminal: bool,
    /// Whether resource limits apply.
    pub(crate) resources: bool,
}

/// How a task is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// All its processes get the signal.
    Tree,
    /// Its first process gets the signal and stops the others. After the grace period all get SIGKILL.
    LeaderFirst,
}
