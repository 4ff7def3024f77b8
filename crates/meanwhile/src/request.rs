//! A caller's request for a task, and its validation before anything is changed.

use std::fs;
use std::path::PathBuf;

use mw_model::{
    AgentSpec, CommandSpec, Dialect, EnvVar, Io, Lifetime, Limits, Place, ReadyWhen, TaskId, TaskKind,
};

use crate::approval::Approval;
use crate::error::{Error, Invalid, Result};
use crate::launch::backend::backend_for;
use crate::live::ready;
use crate::notify::host::Teller;
use crate::settings::AtCapacity;

/// The last year that a timestamp in a record can have.
const LAST_YEAR: i64 = 9999;

/// What to do when a live task already has the requested name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfRunning {
    /// Refuse the request.
    #[default]
    Refuse,
    /// Return the live task.
    Return,
    /// End the live task and run it again.
    Restart,
}

/// A request for a task.
#[derive(Clone, Debug)]
pub struct TaskRequest {
    /// The kind of work.
    pub kind: TaskKind,
    /// The owner.
    pub session: String,
    /// What to execute.
    pub command: CommandSpec,
    /// The back-end to run it in.
    pub place: Place,
    /// The working directory.
    pub cwd: PathBuf,
    /// The whole environment. Variables that meanwhile sets for every task replace the caller's. A `TRACEPARENT` is
    /// the caller's span; the command gets the span of its run instead.
    pub env: Vec<EnvVar>,
    /// The file mode creation mask.
    pub umask: u32,
    /// The dialect of the request, which notifications and hooks use.
    pub dialect: Dialect,
    /// The context that its short handle is numbered in, if not its session.
    pub context: Option<String>,
    /// Whether the caller waits for it in the foreground. A foreground task has no short handle and no hooks unless
    /// it moves to the background.
    pub foreground: bool,
    /// A name, unique among the session's live tasks.
    pub name: Option<String>,
    /// What to do when the name is not unique.
    pub if_running: IfRunning,
    /// A description for people.
    pub description: Option<String>,
    /// How its streams are connected.
    pub io: Io,
    /// The limits of a run.
    pub limits: Limits,
    /// Whether it ends with its session.
    pub lifetime: Lifetime,
    /// The batch it belongs to.
    pub batch: Option<String>,
    /// Tasks that must complete first.
    pub after: Vec<TaskId>,
    /// The priority. Higher starts earlier.
    pub priority: i32,
    /// The readiness condition, if any.
    pub ready: Option<ReadyWhen>,
    /// Whether it gets a descriptor to report progress on.
    pub progress_fd: bool,
    /// The session on whose behalf the owner works.
    pub parent_session: Option<String>,
    /// The message that led to it.
    pub parent_message: Option<String>,
    /// What to do when no slot is free.
    pub at_capacity: AtCapacity,
    /// Whether it needs no slot and is never queued, such as a foreground command.
    pub uncounted: bool,
    /// The process that reports the end itself, because it waits for the task. If this process dies first, the
    /// session gets the usual notification.
    pub teller: Option<Teller>,
    /// The server that starts it; see [`Host::of_own_starts`](crate::engine::Host::of_own_starts).
    pub starter: Option<Teller>,
    /// The agent and its prompt. The command is then the agent's driver.
    pub agent: Option<Box<AgentSpec>>,
    /// Who approved it.
    pub approval: Approval,
    /// The expected duration or size, in the caller's words; shown in the approval request.
    pub expected: Option<String>,
}

impl TaskRequest {
    /// Returns a request for a command with the default limits. All fields can be changed before the start.
    #[must_use]
    pub fn new(session: &str, command: CommandSpec, cwd: PathBuf, env: Vec<EnvVar>) -> Self {
        Self {
            kind: TaskKind::Shell,
            session: session.to_owned(),
            command,
            place: Place::Process,
            cwd,
            env,
            umask: 0o022,
            dialect: Dialect::Canonical,
            context: None,
            foreground: false,
            name: None,
            if_running: IfRunning::Refuse,
            description: None,
            io: Io::Pipes,
            limits: Limits::default(),
            lifetime: Lifetime::Session,
            batch: None,
            after: Vec::new(),
            priority: 0,
            ready: None,
            progress_fd: false,
            parent_session: None,
            parent_message: None,
            at_capacity: AtCapacity::Queue,
            uncounted: false,
            teller: None,
            starter: None,
            agent: None,
            approval: Approval::User,
            expected: None,
        }
    }

    /// Refuses a request that could never run.
    pub(crate) fn check(&self) -> Result<()> {
        check_session_name(&self.session)?;
        let invalid = |message: &str, hint: &str| Err(Error::invalid(message, hint));
        let argv = self.command.argv();
        let blank = match &self.command {
            CommandSpec::Shell { script, .. } => script.to_lossy().trim().is_empty(),
            CommandSpec::Argv(words) => words.first().is_none_or(|word| word.as_bytes().is_empty()),
        };
        if blank {
            return Err(Error::Invalid(Invalid::EmptyCommand));
        }
        let texts = argv.iter().chain(self.env.iter().flat_map(|var| [&var.name, &var.value]));
        if texts.into_iter().any(|text| text.as_bytes().contains(&0)) {
            return invalid(
                "the command or its environment contains a NUL byte",
                "remove it: programs cannot receive NUL bytes",
            );
        }
        if let CommandSpec::Shell { script, .. } = &self.command
            && let Some(quote) = mw_model::unclosed_quote(&script.to_lossy())
        {
            return invalid(
                &format!("the script has an unclosed {quote}"),
                "close the quote, or escape it with a backslash",
            );
        }
        if let Some(name) = &self.name {
            let odd = name.trim().is_empty() || name.len() > 100 || name.chars().any(char::is_control);
            if odd {
                return invalid("invalid name", "use up to 100 printable characters");
            }
            if mw_model::looks_like_handle(name) {
                return invalid(
                    &format!("the name {name:?} looks like an id or a handle"),
                    "choose a name unlike bash-k3f9x2ab, bash_1 or task_20260209_143022",
                );
            }
        }
        if self.limits.deadline.is_some_and(|deadline| deadline.civil().0 > LAST_YEAR) {
            return Err(Error::Invalid(Invalid::Deadline { last_year: LAST_YEAR }));
        }
        if self.limits.output_cap > 0 && self.limits.output_cap < 512 {
            return invalid("an output cap must be at least 512 bytes", "use 512 or more, or 0 for none");
        }
        if let Err(wrong) = self.limits.resources.check() {
            return Err(Error::Invalid(Invalid::Limit(wrong)));
        }
        self.ready.as_ref().map_or(Ok(()), ready::check)?;
        self.check_directory()?;
        backend_for(self).map(|_| ())
    }

    fn check_directory(&self) -> Result<()> {
        let refuse =
            |why: &str| Error::Invalid(Invalid::Directory { path: self.cwd.clone(), why: why.to_owned() });
        match fs::metadata(&self.cwd) {
            Ok(found) if !found.is_dir() => Err(refuse("is not a directory")),
            Ok(_) if rustix::fs::access(&self.cwd, rustix::fs::Access::EXEC_OK).is_err() => {
                Err(refuse("is not accessible"))
            }
            Ok(_) => Ok(()),
            Err(error) => Err(refuse(&format!("cannot be used: {error}"))),
        }
    }
}

/// Refuses an invalid session name.
///
/// # Errors
/// When the name is empty, longer than 200 bytes, or has control characters.
pub fn check_session_name(name: &str) -> Result<()> {
    const MOST_BYTES: usize = 200;
    if name.is_empty() || name.len() > MOST_BYTES || name.chars().any(char::is_control) {
        return Err(Error::Invalid(Invalid::SessionName(name.to_owned())));
    }
    Ok(())
}
