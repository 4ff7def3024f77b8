//! What a home and its tasks are configured with. Front ends fill this in; the library reads no file
//! and no environment for it.

use std::path::PathBuf;

use mw_model::{Limits, QueueLimits, RawText, Sampler, TaskTrace, TraceParent};

use crate::redact::SecretPattern;

/// What to do with a start when no slot is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtCapacity {
    /// Keep it until one is.
    #[default]
    Queue,
    /// Refuse it.
    Reject,
}

/// How many tasks may run at a time.
#[derive(Clone, Copy, Debug)]
pub struct QueueSettings {
    /// Per session.
    pub max_running: u32,
    /// Agents per session; they do not count among the others.
    pub max_agents: u32,
    /// On this home altogether; 0 = no limit.
    pub max_running_total: u32,
    /// What a start does beyond that.
    pub at_capacity: AtCapacity,
}

impl QueueSettings {
    /// Returns what a task keeps of them.
    pub(crate) const fn limits(&self) -> QueueLimits {
        QueueLimits {
            max_running: self.max_running,
            max_agents: self.max_agents,
            max_running_total: self.max_running_total,
        }
    }
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self { max_running: 8, max_agents: 4, max_running_total: 0, at_capacity: AtCapacity::Queue }
    }
}

/// The executables that do the work.
#[derive(Clone, Debug)]
pub struct Programs {
    /// `mw-supervisor`.
    pub supervisor: PathBuf,
    /// What a supervisor becomes at the end, such as `mw settle --home DIR`; the task's id is added.
    pub settle: Vec<RawText>,
    /// Whether this process ends as soon as it has started a task. A supervisor need not leave the
    /// family of such a starter by a fork of its own: the starter's end makes it an orphan.
    pub starter_exits: bool,
}

/// How long finished tasks are kept; 0 = no limit.
#[derive(Clone, Copy, Debug)]
pub struct RetentionSettings {
    /// Since they ended.
    pub max_age_ms: u64,
    /// How many.
    pub max_tasks: u64,
    /// How many bytes they may take together.
    pub max_disk: u64,
    /// Whether they are looked through now and then without being asked to.
    pub automatic: bool,
}

impl Default for RetentionSettings {
    fn default() -> Self {
        Self { max_age_ms: 7 * 24 * 3600 * 1000, max_tasks: 0, max_disk: 0, automatic: true }
    }
}

/// Commands that are run when something happens; see `hooks`.
#[derive(Clone, Debug)]
pub struct HookSettings {
    /// When a task has started.
    pub start: Option<String>,
    /// When a run has ended.
    pub exit: Option<String>,
    /// When a task is silent behind a prompt.
    pub stall: Option<String>,
    /// When a task is ready.
    pub ready: Option<String>,
    /// When a task passes to another session.
    pub reassign: Option<String>,
    /// Whether ends, stalls and readiness are shown on the desktop.
    pub desktop: bool,
    /// Where everything is posted to.
    pub webhook: Option<String>,
    /// How long one hook may take.
    pub timeout_ms: u64,
}

impl Default for HookSettings {
    fn default() -> Self {
        Self {
            start: None,
            exit: None,
            stall: None,
            ready: None,
            reassign: None,
            desktop: false,
            webhook: None,
            timeout_ms: 10_000,
        }
    }
}

impl HookSettings {
    /// Tells whether there is anything to run.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.start.is_some()
            || self.exit.is_some()
            || self.stall.is_some()
            || self.ready.is_some()
            || self.reassign.is_some()
            || self.desktop
            || self.webhook.is_some()
    }
}

/// What becomes of spans beyond this home.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceSettings {
    /// Which traces are recorded.
    pub sampler: Sampler,
    /// Whether the spans of tasks that are started are kept for an exporter; see
    /// [`Traces::deliver_spans`](crate::engine::Traces::deliver_spans).
    pub export: bool,
}

impl TraceSettings {
    /// Chooses a place in the trace of whoever asks, or in one of its own.
    pub(crate) fn place(self, random: [u8; 32], host: Option<TraceParent>) -> TaskTrace {
        TaskTrace { export: self.export, ..TaskTrace::new(random, host, self.sampler) }
    }
}

/// What is hidden wherever texts of tasks are shown; see `redact`.
#[derive(Clone, Debug)]
pub struct RedactSettings {
    /// Whether anything is.
    pub enabled: bool,
    /// What is hidden beside that which is known to be secret.
    pub patterns: Vec<SecretPattern>,
}

impl Default for RedactSettings {
    fn default() -> Self {
        Self { enabled: true, patterns: Vec::new() }
    }
}

/// Everything a [`Runtime`](crate::engine::Runtime) is opened with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Directory of the database and of all tasks.
    pub home: PathBuf,
    /// The executables.
    pub programs: Programs,
    /// Concurrency.
    pub queue: QueueSettings,
    /// Limits of tasks that ask for none of their own.
    pub limits: Limits,
    /// How long finished tasks are kept.
    pub retention: RetentionSettings,
    /// What is run when something happens.
    pub hooks: HookSettings,
    /// What becomes of spans.
    pub traces: TraceSettings,
    /// What is hidden where it is shown.
    pub redact: RedactSettings,
    /// Whether logs begin with co-cli's four header lines.
    pub log_header: bool,
    /// How long after the death of a session's last host another may take its place, before tasks end.
    pub session_grace_ms: u64,
    /// Most milliseconds between two looks of a waiter that heard nothing.
    pub fallback_ms: u64,
    /// Whether the end of a batch is told, beside the ends of its tasks.
    pub batch_notices: bool,
    /// Called with a sentence for the person at the terminal: what is waited for, or was repaired.
    pub tell: fn(&str),
}

impl Settings {
    /// Settings with the defaults of the neutral profile.
    #[must_use]
    pub fn new(home: PathBuf, programs: Programs) -> Self {
        Self {
            home,
            programs,
            queue: QueueSettings::default(),
            limits: Limits::default(),
            retention: RetentionSettings::default(),
            hooks: HookSettings::default(),
            traces: TraceSettings::default(),
            redact: RedactSettings::default(),
            log_header: false,
            session_grace_ms: 10_000,
            fallback_ms: 2000,
            batch_notices: true,
            tell: |_| {},
        }
    }
}
