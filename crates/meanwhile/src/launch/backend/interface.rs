//! What every back-end offers.

use mw_model::wire::Launch;
use mw_model::{Place, TaskSpec};

use crate::error::{Error, Result};
use crate::request::TaskRequest;

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
    fn stop(&self) -> Stop {
        Stop::Tree
    }

    /// Checks whether tasks can run here now. An error says what is missing.
    fn probe(&self) -> Result<()>;
}

/// A back-end and whether tasks can run there now.
#[derive(Debug)]
pub struct BackendReport {
    /// The place that a request names.
    pub place: Place,
    /// What tasks support there.
    pub capabilities: Capabilities,
    /// Why tasks cannot run there now, if they cannot.
    pub problem: Option<Error>,
}

/// What a back-end supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether tasks can have a terminal.
    pub terminal: bool,
    /// Whether resource limits apply.
    pub resources: bool,
}

/// How a task is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// All its processes get the signal.
    Tree,
    /// Its first process gets the signal and stops the others. After the grace period all get SIGKILL.
    LeaderFirst,
}
