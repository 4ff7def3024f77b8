//! The settings of a home and its tasks. Front ends fill them in; the library itself reads no configuration file or
//! environment variable for them.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mw_model::{BackendPlace, Limits, Place, QueueLimits, RawText, Sampler, TaskTrace, TraceParent};
use regex::bytes::Regex;

/// What a start does when no slot is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtCapacity {
    /// Queue the task.
    #[default]
    Queue,
    /// Refuse the start.
    Reject,
}

/// How many tasks may run at a time.
#[derive(Clone, Copy, Debug)]
pub struct QueueSettings {
    /// Per session.
    pub max_running: u32,
    /// Agents per session, which are counted separately.
    pub max_agents: u32,
    /// In the whole home; 0 = no limit.
    pub max_running_total: u32,
    /// What a start does when the limit is reached.
    pub at_capacity: AtCapacity,
}

impl QueueSettings {
    /// Returns the limits that are stored with a task.
    pub(crate) const fn limits(&self) -> QueueLimits {
        QueueLimits {
            group: None,
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

/// The executables that meanwhile runs.
#[derive(Clone, Debug)]
pub struct Executables {
    /// `mw-supervisor`.
    pub supervisor: PathBuf,
    /// The command that a supervisor executes at the end, such as `mw settle --home DIR`; the task's id is appended.
    pub settle: Vec<RawText>,
    /// Whether this process exits as soon as it has started a task. The supervisor can then skip its second fork,
    /// because the starter's exit makes it an orphan.
    pub starter_exits: bool,
}

impl Executables {
    /// Returns the executables for a home. The home's path must be absolute, because `mw settle` runs in other directories.
    #[must_use]
    pub fn of_home(mw: &Path, supervisor: PathBuf, home: &Path) -> Self {
        let word = |path: &Path| RawText::from(path.as_os_str().as_bytes());
        let settle = vec![word(mw), "settle".into(), "--home".into(), word(home)];
        Self { supervisor, settle, starter_exits: false }
    }
}

/// How long finished tasks are kept; 0 = no limit.
#[derive(Clone, Copy, Debug)]
pub struct RetentionSettings {
    /// Since their end.
    pub max_age: Duration,
    /// How many.
    pub max_tasks: u64,
    /// How many bytes they may take together.
    pub max_disk: u64,
    /// Whether old tasks are removed automatically from time to time.
    pub automatic: bool,
}

impl Default for RetentionSettings {
    fn default() -> Self {
        Self { max_age: Duration::from_hours(7 * 24), max_tasks: 0, max_disk: 0, automatic: true }
    }
}

/// Commands that run on events of tasks, such as their end.
#[derive(Clone, Debug)]
pub struct HookSettings {
    /// Before each run of a task; unless it exits with 0, the run does not start.
    pub before: Option<String>,
    /// When a task has started.
    pub start: Option<String>,
    /// When a run has ended.
    pub exit: Option<String>,
    /// When a task waits silently at a prompt.
    pub stall: Option<String>,
    /// When a task is ready.
    pub ready: Option<String>,
    /// When a task passes to another session.
    pub reassign: Option<String>,
    /// Whether ends, stalls and readiness are shown as desktop notifications.
    pub desktop: bool,
    /// The URL that all events are posted to.
    pub webhook: Option<String>,
    /// The longest time that one hook may take.
    pub timeout: Duration,
}

impl Default for HookSettings {
    fn default() -> Self {
        Self {
            before: None,
            start: None,
            exit: None,
            stall: None,
            ready: None,
            reassign: None,
            desktop: false,
            webhook: None,
            timeout: Duration::from_secs(10),
        }
    }
}

impl HookSettings {
    /// Returns whether any hook on an event is set.
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

/// How spans are recorded and exported.
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceSettings {
    /// Which traces are recorded.
    pub sampler: Sampler,
    /// Whether spans of new tasks are kept until `mw settle` exports them, as the user's `otel` settings say.
    pub export: bool,
}

impl TraceSettings {
    /// Returns the ids of a task in the trace of the caller, or in a new one.
    pub(crate) fn ids(self, random: [u8; 32], host: Option<TraceParent>) -> TaskTrace {
        TaskTrace { export: self.export, ..TaskTrace::new(random, host, self.sampler) }
    }
}

/// A regular expression for text to hide.
#[derive(Clone, Debug)]
pub struct SecretPattern(pub(crate) Regex);

impl SecretPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// When the pattern is not a regular expression, or matches the empty text. The error says why.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let found = Regex::new(pattern).map_err(|error| error.to_string())?;
        if found.is_match(b"") {
            return Err(format!("{pattern:?} matches the empty text"));
        }
        Ok(Self(found))
    }

    /// Returns the pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// Which secrets are hidden where output, commands and other texts of tasks are shown. Logs on disk are not changed.
#[derive(Clone, Debug)]
pub struct RedactSettings {
    /// Whether secrets are hidden at all.
    pub enabled: bool,
    /// Patterns to hide in addition to the built-in rules.
    pub patterns: Vec<SecretPattern>,
}

impl Default for RedactSettings {
    fn default() -> Self {
        Self { enabled: true, patterns: Vec::new() }
    }
}

/// The back-ends of the configuration.
#[derive(Clone, Debug, Default)]
pub struct BackendSettings {
    /// Each with its settings.
    pub places: Vec<BackendPlace>,
    /// The command line of the driver, such as `mw backend-driver`; empty if this program has none.
    pub driver: Vec<RawText>,
}

impl BackendSettings {
    /// Returns the place with this name.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<Place> {
        let configured = || self.places.iter().find(|place| place.name == name).cloned();
        let built_in = Place::BUILT_IN.into_iter().find(|place| place.name() == name);
        built_in.or_else(|| configured().map(|place| Place::Backend(Box::new(place))))
    }

    /// Returns the names of all places, the configured ones last.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let configured = self.places.iter().map(|place| place.name.clone());
        Place::BUILT_IN.iter().map(|place| place.name().to_owned()).chain(configured).collect()
    }
}

/// The settings that [`Meanwhile::open`](crate::Meanwhile::open) takes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The directory of the database and of all tasks.
    pub home: PathBuf,
    /// The executables.
    pub executables: Executables,
    /// Concurrency.
    pub queue: QueueSettings,
    /// Limits of tasks that set none themselves.
    pub limits: Limits,
    /// How long finished tasks are kept.
    pub retention: RetentionSettings,
    /// Commands that run on events.
    pub hooks: HookSettings,
    /// How spans are recorded and exported.
    pub traces: TraceSettings,
    /// What is hidden from shown texts.
    pub redact: RedactSettings,
    /// Whether a log begins with four lines: the task, its command, its approval and its start.
    pub log_header: bool,
    /// How long tasks wait for a new host after the session's last host has died, before they end.
    pub session_grace: Duration,
    /// The longest pause between two checks of a waiter, in case a wake-up was lost.
    pub wait_fallback: Duration,
    /// Whether the end of a batch is notified in addition to the ends of its tasks.
    pub batch_notices: bool,
    /// The back-ends of the configuration.
    pub backends: BackendSettings,
    /// Called with a sentence for the person at the terminal: what the process waits for, or what was repaired.
    pub tell: fn(&str),
}

impl Settings {
    /// Returns settings with the defaults of the neutral profile.
    #[must_use]
    pub fn new(home: PathBuf, executables: Executables) -> Self {
        Self {
            home,
            executables,
            queue: QueueSettings::default(),
            limits: Limits::default(),
            retention: RetentionSettings::default(),
            hooks: HookSettings::default(),
            traces: TraceSettings::default(),
            redact: RedactSettings::default(),
            log_header: false,
            session_grace: Duration::from_secs(10),
            wait_fallback: Duration::from_secs(2),
            batch_notices: true,
            backends: BackendSettings::default(),
            tell: |_| {},
        }
    }

    /// Returns the grace time as it is stored with a task.
    pub(crate) fn session_grace_ms(&self) -> u64 {
        mw_model::millis(self.session_grace)
    }
}
