//! What a caller asks for, and what is refused before anything is changed.

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

/// The last year that times in records can tell.
const LAST_YEAR: i64 = 9999;

/// What to do when a task's name belongs to a live one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IfRunning {
    /// Refuse.
    #[default]
    Refuse,
    /// Return the live one.
    Return,
    /// End the live one and run it again.
    Restart,
}

/// A task as it is asked for.
#[derive(Clone, Debug)]
pub struct TaskRequest {
    /// What sort of work it is.
    pub kind: TaskKind,
    /// The owner.
    pub session: String,
    /// What to execute.
    pub command: CommandSpec,
    /// In which place it runs.
    pub place: Place,
    /// The directory to execute it in.
    pub cwd: PathBuf,
    /// The whole environment. What meanwhile sets for every task takes the place of what is in it. A `TRACEPARENT` in it is the span of whoever asks, and
    /// the command gets that of its run instead.
    pub env: Vec<EnvVar>,
    /// File mode creation mask.
    pub umask: u32,
    /// The dialect through which it is asked for; notices and hooks speak of it so.
    pub dialect: Dialect,
    /// The context in which its short handle counts, if not its session.
    pub context: Option<String>,
    /// Whether whoever asks waits for it in the foreground. It has no short handle, and no hooks, unless it goes on
    /// in the background.
    pub foreground: bool,
    /// A name unique among the session's live tasks.
    pub name: Option<String>,
    /// What to do when it is not.
    pub if_running: IfRunning,
    /// A line for people.
    pub description: Option<String>,
    /// How its streams are connected.
    pub io: Io,
    /// Limits.
    pub limits: Limits,
    /// Whether it ends with its session.
    pub lifetime: Lifetime,
    /// The batch it belongs to.
    pub batch: Option<String>,
    /// Tasks that must complete first.
    pub after: Vec<TaskId>,
    /// Higher starts earlier.
    pub priority: i32,
    /// What makes it ready, if anybody wants to know.
    pub ready: Option<ReadyWhen>,
    /// Whether it gets a descriptor to tell its progress on.
    pub progress_fd: bool,
    /// The session on whose behalf the owner works.
    pub parent_session: Option<String>,
    /// The message that led to it.
    pub parent_message: Option<String>,
    /// What to do when no slot is free.
    pub at_capacity: AtCapacity,
    /// Whether it takes no slot and waits for none, as a command does that somebody waits for.
    pub uncounted: bool,
    /// Who will tell how it ends, because it waits for that. If this one dies first, the session is told as
    /// it is of every end.
    pub teller: Option<Teller>,
    /// The server that starts it; see [`Host::of_own_starts`](crate::engine::Host::of_own_starts).
    pub starter: Option<Teller>,
    /// What an agent is asked; the command is then what drives that agent.
    pub agent: Option<Box<AgentSpec>>,
    /// Who let it pass.
    pub approval: Approval,
    /// How long or how much it will be, as whoever wants it expects; whoever is asked about it reads that.
    pub expected: Option<String>,
}

impl TaskRequest {
    /// Asks for a command with usual limits; everything else can be changed before it is started.
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

    /// Refuses what could never run.
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

/// Refuses a session name that cannot be used.
///
/// # Errors
/// When it is empty, longer than 200 bytes, or holds control characters.
pub fn check_session_name(name: &str) -> Result<()> {
    const MOST_BYTES: usize = 200;
    if name.is_empty() || name.len() > MOST_BYTES || name.chars().any(char::is_control) {
        return Err(Error::Invalid(Invalid::SessionName(name.to_owned())));
    }
    Ok(())
}
