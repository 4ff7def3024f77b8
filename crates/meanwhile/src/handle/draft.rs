//! A task before it is started: what to run, and its options.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use mw_model::{CommandSpec, EnvVar, Io, Lifetime, Place, RawText, ReadyWhen, TaskId};

use super::own_limits::OwnLimits;
use super::surroundings;
use super::task::TaskHandle;
use crate::error::Result;
use crate::request::{IfRunning, TaskRequest};
use crate::settings::{AtCapacity, Settings};
use crate::variables::check_not_reserved;

const SHELL: &str = "/bin/sh";

/// A script for `/bin/sh`.
#[derive(Clone, Copy, Debug)]
pub struct Shell;

impl Shell {
    /// Drafts a task that runs a script. Its arguments are `$1`, `$2` and so on, so a value needs no quoting.
    #[expect(clippy::new_ret_no_self, reason = "a script alone is a whole draft")]
    pub fn new(script: impl AsRef<OsStr>) -> TaskDraft {
        let script = RawText::from(script.as_ref().as_bytes());
        TaskDraft::of(CommandSpec::Shell { program: SHELL.into(), script })
    }
}

/// A program that is executed without a shell.
#[derive(Clone, Copy, Debug)]
pub struct Program;

impl Program {
    /// Drafts a task that runs a program. A name without a slash is looked up on the `PATH` of the task.
    #[expect(clippy::new_ret_no_self, reason = "a name alone is a whole draft")]
    pub fn new(name: impl AsRef<OsStr>) -> TaskDraft {
        TaskDraft::of(CommandSpec::Argv(vec![RawText::from(name.as_ref().as_bytes())]))
    }
}

/// A task that is not started yet.
///
/// By default it runs in the directory, with the environment and the file mode mask of this process, with the limits in
/// [`Settings::limits`], and ends with its session.
#[derive(Clone, Debug)]
#[must_use = "a draft does nothing until a session starts it"]
pub struct TaskDraft {
    command: CommandSpec,
    args: Vec<RawText>,
    cwd: Option<PathBuf>,
    env: Vec<EnvVar>,
    name: Option<String>,
    if_running: IfRunning,
    description: Option<String>,
    batch: Option<String>,
    io: Io,
    lifetime: Lifetime,
    place: Place,
    after: Vec<TaskId>,
    priority: i32,
    when_full: Option<AtCapacity>,
    ready: Option<ReadyWhen>,
    limits: OwnLimits,
}

impl TaskDraft {
    fn of(command: CommandSpec) -> Self {
        Self {
            command,
            args: Vec::new(),
            cwd: None,
            env: Vec::new(),
            name: None,
            if_running: IfRunning::Refuse,
            description: None,
            batch: None,
            io: Io::Pipes,
            lifetime: Lifetime::Session,
            place: Place::Process,
            after: Vec::new(),
            priority: 0,
            when_full: None,
            ready: None,
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

    /// Sets its name. [`TaskDraft::if_running`] decides what happens if a live task of the session has it.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Decides what a start does if the name belongs to a live task: refuse (the default), return that task, or restart it.
    pub fn if_running(self, choice: IfRunning) -> Self {
        Self { if_running: choice, ..self }
    }

    /// Sets a one-line description for people.
    pub fn description(self, text: impl Into<String>) -> Self {
        Self { description: Some(text.into()), ..self }
    }

    /// Puts it into a batch. The end of the last task of a batch produces an additional notification.
    pub fn batch(self, name: impl Into<String>) -> Self {
        Self { batch: Some(name.into()), ..self }
    }

    /// Keeps its standard input open, for [`TaskHandle::input`].
    pub fn with_input(self) -> Self {
        Self { io: Io::Stdin, ..self }
    }

    /// Runs it in a terminal of this size. The terminal also takes [`TaskHandle::input`].
    pub fn terminal(self, rows: u16, cols: u16) -> Self {
        Self { io: Io::Pty { rows, cols }, ..self }
    }

    /// Lets it outlive the session.
    pub fn detached(self) -> Self {
        Self { lifetime: Lifetime::Detached, ..self }
    }

    /// Chooses where it runs. A task on [`Place::Mock`] does not run its command: its input decides what it prints and
    /// how it ends.
    pub fn on(self, place: Place) -> Self {
        let io = if place == Place::Mock { Io::Stdin } else { self.io };
        Self { place, io, ..self }
    }

    /// Queues it until another task has completed. If that task does not complete, this one is cancelled without being run.
    pub fn after(mut self, task: &TaskHandle) -> Self {
        self.after.push(task.id().clone());
        self
    }

    /// Sets its place in the queue: higher starts earlier. The default is 0.
    pub fn priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }

    /// Decides what a start does if no slot is free. The default is that of [`Settings::queue`].
    pub fn when_full(self, choice: AtCapacity) -> Self {
        Self { when_full: Some(choice), ..self }
    }

    /// Sets the readiness condition, for [`Until::Ready`](super::Until::Ready). Readiness produces a notification.
    pub fn ready_when(self, condition: ReadyWhen) -> Self {
        Self { ready: Some(condition), ..self }
    }

    /// Limits how long a run may take.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limits.run_timeout = Some(limit);
        self
    }

    /// Ends it at this moment at the latest, queued or running.
    pub fn deadline(mut self, moment: SystemTime) -> Self {
        self.limits.deadline = Some(moment);
        self
    }

    /// Limits the size of its log in bytes; 0 means no limit. The middle of longer output is dropped and counted.
    pub fn output_cap(mut self, bytes: u64) -> Self {
        self.limits.output_cap = Some(bytes);
        self
    }

    /// Sets how long it may be silent after a prompt before it counts as stalled; zero means never.
    pub fn stall_after(mut self, silence: Duration) -> Self {
        self.limits.stall = Some(silence);
        self
    }

    /// Sets the time between SIGTERM and SIGKILL when it is killed.
    pub fn kill_grace(mut self, time: Duration) -> Self {
        self.limits.kill_grace = Some(time);
        self
    }

    /// Limits the memory of all its processes together, in bytes.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.limits.resources.memory = Some(bytes);
        self
    }

    /// Limits the processor time of all its processes together.
    pub fn cpu_time(mut self, limit: Duration) -> Self {
        self.limits.resources.cpu_time_ms = Some(super::own_limits::millis(limit));
        self
    }

    /// Limits how many processors it may keep busy. This needs a control group; without one the start is refused.
    pub fn cpus(mut self, processors: f64) -> Self {
        self.limits.resources.milli_cpus = Some((processors * 1000.0).round() as u64);
        self
    }

    /// Limits how many processes and threads it may have at a time.
    pub fn processes(mut self, most: u64) -> Self {
        self.limits.resources.pids = Some(most);
        self
    }

    /// Returns the variables that it sets, as text.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        self.env.iter().map(|var| (var.name.to_lossy(), var.value.to_lossy())).collect()
    }

    /// Completes it with the settings and with the directory, environment and file mode mask of this process.
    pub(super) fn request(self, session: &str, settings: &Settings) -> Result<TaskRequest> {
        let here = || surroundings::directory();
        let cwd = self.cwd.map_or_else(here, |cwd| Ok(std::path::absolute(&cwd).unwrap_or(cwd)))?;
        let mut env = surroundings::environment();
        for var in self.env {
            check_not_reserved(var.name.as_bytes())?;
            env.retain(|other| other.name != var.name);
            env.push(var);
        }
        Ok(TaskRequest {
            umask: surroundings::umask(),
            name: self.name,
            if_running: self.if_running,
            description: self.description,
            batch: self.batch,
            io: self.io,
            lifetime: self.lifetime,
            place: self.place,
            after: self.after,
            priority: self.priority,
            at_capacity: self.when_full.unwrap_or(settings.queue.at_capacity),
            ready: self.ready,
            limits: self.limits.over(&settings.limits),
            ..TaskRequest::new(session, with_args(self.command, self.args), cwd, env)
        })
    }
}

/// Adds arguments to a command. Those of a script become its positional parameters.
fn with_args(command: CommandSpec, args: Vec<RawText>) -> CommandSpec {
    match command {
        CommandSpec::Argv(words) => CommandSpec::Argv(words.into_iter().chain(args).collect()),
        CommandSpec::Shell { .. } if args.is_empty() => command,
        CommandSpec::Shell { program, script } => {
            let words = [program.clone(), "-c".into(), script, program];
            CommandSpec::Argv(words.into_iter().chain(args).collect())
        }
    }
}

impl From<&str> for TaskDraft {
    /// Drafts a script, as [`Shell::new`].
    fn from(script: &str) -> Self {
        Shell::new(script)
    }
}

impl From<String> for TaskDraft {
    /// Drafts a script, as [`Shell::new`].
    fn from(script: String) -> Self {
        Shell::new(script)
    }
}
