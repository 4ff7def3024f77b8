//! A task as a program asks for it, option by option.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mw_model::{CommandSpec, EnvVar, Io, Lifetime, Place, RawText};

use super::surroundings;
use crate::error::Result;
use crate::request::TaskRequest;
use crate::variables::check_not_reserved;

const SHELL: &str = "/bin/sh";

/// A script for `/bin/sh`.
pub struct Shell;

impl Shell {
    /// Drafts a task that runs a script.
    #[expect(clippy::new_ret_no_self, reason = "a script alone is a whole draft")]
    pub fn new(script: impl AsRef<OsStr>) -> TaskDraft {
        let script = RawText::from(script.as_ref().as_bytes());
        TaskDraft::of(CommandSpec::Shell { program: SHELL.into(), script })
    }
}

/// A program with its arguments, without a shell.
#[derive(Clone, Debug)]
pub struct Program(Vec<RawText>);

impl Program {
    /// Names the program; one without a slash is looked up on the task's `PATH`.
    pub fn new(name: impl AsRef<OsStr>) -> Self {
        Self(vec![RawText::from(name.as_ref().as_bytes())])
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.0.push(RawText::from(word.as_ref().as_bytes()));
        self
    }

    /// Drafts a task that runs it.
    pub fn draft(self) -> TaskDraft {
        TaskDraft::of(CommandSpec::Argv(self.0))
    }
}

/// A task that is not started yet. It runs in this process's directory, with this process's environment, unless told
/// otherwise.
#[derive(Clone, Debug)]
#[must_use = "a draft does nothing until a session starts it"]
pub struct TaskDraft {
    command: CommandSpec,
    cwd: Option<PathBuf>,
    env: Vec<EnvVar>,
    name: Option<String>,
    description: Option<String>,
    batch: Option<String>,
    timeout: Option<Duration>,
    io: Io,
    lifetime: Lifetime,
    place: Place,
}

impl TaskDraft {
    fn of(command: CommandSpec) -> Self {
        Self {
            command,
            cwd: None,
            env: Vec::new(),
            name: None,
            description: None,
            batch: None,
            timeout: None,
            io: Io::Pipes,
            lifetime: Lifetime::Session,
            place: Place::Process,
        }
    }

    /// Names it; no other live task of the session may have that name.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Says what it is for.
    pub fn description(self, text: impl Into<String>) -> Self {
        Self { description: Some(text.into()), ..self }
    }

    /// Puts it into a batch, which is told of as one.
    pub fn batch(self, name: impl Into<String>) -> Self {
        Self { batch: Some(name.into()), ..self }
    }

    /// Runs it in another directory.
    pub fn cwd(self, directory: impl AsRef<Path>) -> Self {
        Self { cwd: Some(directory.as_ref().to_owned()), ..self }
    }

    /// Sets a variable of its environment. Those that meanwhile sets for every task are refused when it is started.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let (name, value) = (name.as_ref().as_bytes().into(), value.as_ref().as_bytes().into());
        self.env.push(EnvVar { name, value });
        self
    }

    /// Ends it after a while.
    pub fn timeout(self, limit: Duration) -> Self {
        Self { timeout: Some(limit), ..self }
    }

    /// Keeps its standard input open, for [`TaskHandle::input`](super::TaskHandle::input).
    pub fn with_input(self) -> Self {
        Self { io: Io::Stdin, ..self }
    }

    /// Lets it outlive the session.
    pub fn detached(self) -> Self {
        Self { lifetime: Lifetime::Detached, ..self }
    }

    /// Chooses where it runs. A [`Place::Mock`] is told by its input what to print and how to end.
    pub fn on(self, place: Place) -> Self {
        let io = if place == Place::Mock { Io::Stdin } else { self.io };
        Self { place, io, ..self }
    }

    /// Completes it with what this process has.
    pub(super) fn request(self, session: &str) -> Result<TaskRequest> {
        let here = || surroundings::directory();
        let cwd = self.cwd.map_or_else(here, |cwd| Ok(std::path::absolute(&cwd).unwrap_or(cwd)))?;
        let mut env = surroundings::environment();
        for var in self.env {
            check_not_reserved(var.name.as_bytes())?;
            env.retain(|other| other.name != var.name);
            env.push(var);
        }
        let mut request = TaskRequest::new(session, self.command, cwd, env);
        if let Some(limit) = self.timeout {
            request.limits.run_timeout_ms = Some(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        }
        Ok(TaskRequest {
            name: self.name,
            description: self.description,
            batch: self.batch,
            io: self.io,
            lifetime: self.lifetime,
            place: self.place,
            ..request
        })
    }
}
