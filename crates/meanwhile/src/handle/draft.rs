//! A task before it is started: what to run, and its options.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use mw_model::{
    CommandSpec, Dependency, EndWanted, EnvVar, Grant, Io, Lifetime, Place, RawText, ReadyWhen, Resources,
    SlotGroup, TaskGrant, millis,
};

use super::command::with_args;
use super::own_limits::OwnLimits;
use super::surroundings;
use super::task::TaskHandle;
use crate::approval::project_of;
use crate::error::Result;
use crate::request::{IfRunning, TaskRequest};
use crate::settings::{AtCapacity, Settings};
use crate::variables::check_not_reserved;

/// A task that is not started yet.
///
/// By default the task runs in the directory, with the environment and the umask of this process, with the limits in
/// [`Settings::limits`], and ends with its session.
#[derive(Clone, Debug)]
#[must_use = "a draft does nothing until a session starts it"]
pub struct TaskDraft {
    /// What is started, except for the values that only the start knows.
    request: TaskRequest,
    args: Vec<RawText>,
    cwd: Option<PathBuf>,
    /// Whether the task begins with the environment of this process.
    inherits: bool,
    env: Vec<EnvVar>,
    at_capacity: Option<AtCapacity>,
    limits: OwnLimits,
}

impl TaskDraft {
    pub(super) fn of(command: CommandSpec) -> Self {
        Self {
            request: TaskRequest::new("", command, PathBuf::new(), Vec::new()),
            args: Vec::new(),
            cwd: None,
            inherits: true,
            env: Vec::new(),
            at_capacity: None,
            limits: OwnLimits::default(),
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.args.push(RawText::from(word.as_ref().as_bytes()));
        self
    }

    /// Adds several arguments.
    pub fn args(self, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        words.into_iter().fold(self, Self::arg)
    }

    /// Sets the working directory.
    pub fn cwd(self, directory: impl AsRef<Path>) -> Self {
        Self { cwd: Some(directory.as_ref().to_owned()), ..self }
    }

    /// Sets an environment variable. The start refuses variables that meanwhile sets for every task.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let (name, value) = (name.as_ref().as_bytes().into(), value.as_ref().as_bytes().into());
        self.env.push(EnvVar { name, value });
        self
    }

    /// Begins with an empty environment instead of that of this process. Variables that were set before are removed,
    /// too.
    pub fn env_clear(self) -> Self {
        Self { inherits: false, env: Vec::new(), ..self }
    }

    /// Sets the name of the task. [`TaskDraft::if_running`] decides what happens if a live task of the session has it.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.request.name = Some(name.into());
        self
    }

    /// Decides what a start does if the name belongs to a live task: refuse (the default), return that task, or restart it.
    pub fn if_running(mut self, choice: IfRunning) -> Self {
        self.request.if_running = choice;
        self
    }

    /// Sets a one-line description for people.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.request.description = Some(text.into());
        self
    }

    /// Puts the task into a batch. The end of the last task of a batch produces an additional notification.
    pub fn batch(mut self, name: impl Into<String>) -> Self {
        self.request.batch = Some(name.into());
        self
    }

    /// Keeps the task's standard input open, for [`TaskHandle::input`].
    pub fn with_input(mut self) -> Self {
        self.request.io = Io::Stdin;
        self
    }

    /// Runs the task in a terminal of this size. The terminal also takes [`TaskHandle::input`].
    pub fn terminal(mut self, rows: u16, cols: u16) -> Self {
        self.request.io = Io::Pty { rows, cols };
        self
    }

    /// Lets the task write its log file itself. That is fast, but there is no cap, stdout and stderr are one stream, and a full
    /// disk reaches the task.
    pub fn direct(mut self) -> Self {
        self.request.io = Io::Direct;
        self
    }

    /// Lets the task outlive the session.
    pub fn detached(mut self) -> Self {
        self.request.lifetime = Lifetime::Detached;
        self
    }

    /// Chooses where the task runs: here, on a mock, or on a back-end of the settings
    /// ([`BackendSettings::place`](crate::settings::BackendSettings::place)). A task on [`Place::Mock`] does not run its command: its input decides what it prints
    /// and how it ends. It has an open standard input and no terminal.
    pub fn on(mut self, place: Place) -> Self {
        self.request.place = place;
        self
    }

    /// Queues the task until another task has completed. If that one does not complete, this task is cancelled without
    /// being run.
    pub fn after(self, task: &TaskHandle) -> Self {
        self.after_end(task, EndWanted::Completed)
    }

    /// Queues the task until another task has ended in this way. If that one ends in another way, this task is cancelled without
    /// being run.
    pub fn after_end(mut self, task: &TaskHandle, end: EndWanted) -> Self {
        self.request.after.push(Dependency { id: task.id().clone(), end });
        self
    }

    /// Runs at most this many tasks of a group at a time, over all sessions. A name has up to 40 ASCII letters, digits, `-`, `_` and
    /// `.`.
    pub fn group(mut self, name: impl Into<String>, most: u32) -> Self {
        self.request.group = Some(SlotGroup { name: name.into(), max: most });
        self
    }

    /// Sets the priority in the queue: higher starts earlier. The default is 0.
    pub fn priority(mut self, priority: i32) -> Self {
        self.request.priority = priority;
        self
    }

    /// Decides what a start does if no slot is free. The default is that of [`Settings::queue`].
    pub fn at_capacity(self, choice: AtCapacity) -> Self {
        Self { at_capacity: Some(choice), ..self }
    }

    /// Sets the readiness condition, for [`Until::Ready`](super::Until::Ready). Readiness produces a notification.
    pub fn ready_when(mut self, condition: ReadyWhen) -> Self {
        self.request.ready = Some(condition);
        self
    }

    /// Limits how long a run may take.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limits.run_timeout = Some(limit);
        self
    }

    /// Ends the task at this moment at the latest, queued or running.
    pub fn deadline(mut self, moment: SystemTime) -> Self {
        self.limits.deadline = Some(moment);
        self
    }

    /// Limits the size of the log in bytes; 0 means no limit. The middle of longer output is dropped and counted.
    pub fn output_cap(mut self, bytes: u64) -> Self {
        self.limits.output_cap = Some(bytes);
        self
    }

    /// Sets how long the task may be silent after a prompt before it counts as stalled; zero means never.
    pub fn stall_after(mut self, silence: Duration) -> Self {
        self.limits.stall = Some(silence);
        self
    }

    /// Sets the time between SIGTERM and SIGKILL when the task is killed.
    pub fn kill_grace(mut self, time: Duration) -> Self {
        self.limits.kill_grace = Some(time);
        self
    }

    /// Limits the memory of all processes of the task together, in bytes.
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.limits.resources.memory = Some(bytes);
        self
    }

    /// Limits the CPU time of all processes of the task together.
    pub fn cpu_time(mut self, limit: Duration) -> Self {
        self.limits.resources.cpu_time_ms = Some(millis(limit));
        self
    }

    /// Limits how many processors the task may keep busy. This needs a control group; without one the start is refused.
    pub fn cpus(mut self, processors: f64) -> Self {
        self.limits.resources.milli_cpus = Some((processors * 1000.0).round() as u64);
        self
    }

    /// Limits how many processes and threads the task may have at a time.
    pub fn max_processes(mut self, most: u64) -> Self {
        self.limits.resources.pids = Some(most);
        self
    }

    /// Confines the task to this grant; its project is that of the working directory. The kernel enforces it. Where it cannot,
    /// the start is refused. A grant of everything does not confine.
    pub fn confined(mut self, grant: Grant) -> Self {
        self.request.grant = Some(TaskGrant { grant, ..TaskGrant::default() });
        self
    }

    /// Returns the variables that the draft sets, as text.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        self.env.iter().map(|var| (var.name.to_lossy(), var.value.to_lossy())).collect()
    }

    /// Completes the draft with the settings and with the directory, environment and umask of this process.
    pub(super) fn request(self, session: &str, settings: &Settings) -> Result<TaskRequest> {
        let here = || surroundings::directory();
        let added = self.variables();
        let cwd = self.cwd.map_or_else(here, |cwd| Ok(std::path::absolute(&cwd).unwrap_or(cwd)))?;
        let mut env = if self.inherits { surroundings::environment() } else { Vec::new() };
        for var in self.env {
            check_not_reserved(var.name.as_bytes())?;
            env.retain(|other| other.name != var.name);
            env.push(var);
        }
        let grant = self.request.grant.map(|task| {
            let home = surroundings::user_home();
            let raw = |path: PathBuf| RawText::from(path.as_os_str().as_bytes());
            let project = project_of(&cwd, home.as_deref()).map(raw);
            TaskGrant { project, home: home.map(raw), ..task }
        });
        // The input of a mock is its script.
        let io = if self.request.place == Place::Mock { Io::Stdin } else { self.request.io };
        // The limits of the settings are those of this machine.
        let mut usual = settings.limits.clone();
        if self.request.place.has_driver() {
            usual.resources = Resources::default();
        }
        let mut request = TaskRequest {
            io,
            grant,
            session: session.to_owned(),
            command: with_args(self.request.command, self.args),
            cwd,
            env,
            umask: surroundings::umask(),
            at_capacity: self.at_capacity.unwrap_or(settings.queue.at_capacity),
            limits: self.limits.over(&usual),
            ..self.request
        };
        if !request.place.is_process() {
            request.run_on(request.place.clone(), &added);
        }
        Ok(request)
    }
}
