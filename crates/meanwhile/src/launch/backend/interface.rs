//! What every back-end offers.

use std::path::Path;

use mw_model::wire::{DriverCommand, Launch};
use mw_model::{Place, TaskSpec};

use crate::error::{Error, Result};
use crate::request::TaskRequest;
use crate::settings::Settings;

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

    /// Returns what a supervisor executes for a task of this home.
    fn plan(&self, home: &Path, spec: &TaskSpec, run: u32) -> Result<Plan>;

    /// Returns whether commands run on this machine, where the supervisor confines and limits them.
    fn runs_here(&self) -> bool {
        true
    }

    /// Returns how a task is asked to stop.
    fn stop(&self) -> Stop {
        Stop::Tree
    }

    /// Checks whether this machine has what a start needs. An error says what is missing. Only the driver of a place
    /// elsewhere can tell whether that place accepts tasks.
    fn probe(&self, settings: &Settings) -> Result<()>;
}

/// What a supervisor executes.
pub(crate) struct Plan {
    /// The program.
    pub(crate) launch: Launch,
    /// The driver that the supervisor executes again when it was killed; absent if the command runs on this machine.
    pub(crate) driver: Option<DriverCommand>,
}

impl Plan {
    /// A command that runs on this machine.
    pub(super) const fn here(launch: Launch) -> Self {
        Self { launch, driver: None }
    }
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
    /// Whether standard input can stay open.
    pub input: bool,
    /// Whether tasks can write their log themselves.
    pub direct: bool,
    /// Whether tasks can report progress on a descriptor.
    pub progress: bool,
    /// Whether the ports of tasks are those of this machine.
    pub ports: bool,
    /// Whether a memory limit and a limit of processes apply.
    pub memory: bool,
    /// Whether a limit of CPUs applies.
    pub cpus: bool,
    /// Whether a limit of CPU time applies.
    pub cpu_time: bool,
    /// Whether an end by a signal is distinguished from an exit code above 128.
    pub signals: bool,
    /// Whether tasks survive a reboot of this machine.
    pub survives_reboot: bool,
}

impl Capabilities {
    /// What a process of this machine supports.
    pub(super) const LOCAL: Self = Self {
        terminal: true,
        input: true,
        direct: true,
        progress: true,
        ports: true,
        memory: true,
        cpus: true,
        cpu_time: true,
        signals: true,
        survives_reboot: false,
    };

    /// What every back-end supports.
    pub(super) const LEAST: Self = Self {
        terminal: false,
        input: false,
        direct: false,
        progress: false,
        ports: false,
        memory: false,
        cpus: false,
        cpu_time: false,
        signals: false,
        survives_reboot: false,
    };

    /// Returns each with its name, in the order of the documentation.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, bool); 10] {
        [
            ("terminal", self.terminal),
            ("input", self.input),
            ("direct", self.direct),
            ("progress", self.progress),
            ("ports", self.ports),
            ("memory", self.memory),
            ("cpus", self.cpus),
            ("cpu_time", self.cpu_time),
            ("signals", self.signals),
            ("survives_reboot", self.survives_reboot),
        ]
    }
}

/// How a task is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// All its processes get the signal.
    Tree,
    /// Its first process gets the signal and stops the others. After the grace period all get SIGKILL.
    LeaderFirst,
}
