//! The context of every command.

use std::env;
use std::io::IsTerminal;
use std::sync::{Mutex, OnceLock};

use meanwhile::engine::{Runtime, Supervisor, check_session_name};
use meanwhile::model::{DEFAULT_SESSION, LONGEST_SESSION_NAME};
use meanwhile::{Filter, Scope, Task};
use serde::Serialize;

use crate::config::Config;
use crate::error::{CommandError, CommandResult};
use crate::render;

/// Settings, session and output format.
pub(crate) struct Context {
    pub(crate) config: Config,
    /// The session that the environment names.
    pub(crate) session: Option<String>,
    /// The session that this command acts for, once it is known.
    acts_for: OnceLock<Option<String>>,
    pub(crate) json: bool,
    /// A supervisor that was started before the arguments were parsed.
    early: Mutex<Option<Supervisor>>,
}

/// Whether a command needs valid settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Invalid settings are an error: the command starts something, or decides by them.
    Settings,
    /// Invalid settings are ignored with a warning.
    Nothing,
}

impl Context {
    pub(crate) fn load(json: bool, early: Option<Supervisor>, needs: Needs) -> Result<Self, CommandError> {
        let session = match env::var("MEANWHILE_SESSION") {
            Ok(session) if session.is_empty() => None,
            Ok(session) if check_session_name(&session).is_err() => {
                return Err(CommandError::usage(
                    "MEANWHILE_SESSION is not a valid session name",
                    format!("use up to {LONGEST_SESSION_NAME} printable characters"),
                ));
            }
            Ok(session) => Some(session),
            Err(env::VarError::NotPresent) => None,
            Err(env::VarError::NotUnicode(_)) => {
                return Err(CommandError::usage(
                    "MEANWHILE_SESSION is not UTF-8",
                    "use printable characters",
                ));
            }
        };
        if let Ok(name) = env::var("MEANWHILE_FAIL_AT") {
            meanwhile::engine::arm_fail_point(&name);
        }
        let mut config = Config::load_tolerantly()?;
        // The settings decide what an agent may do, so all must be valid.
        if needs == Needs::Settings || session.is_some() {
            config = config.without_problems()?;
        }
        for problem in &config.problems {
            render::warning(&format!("{}; ignored", problem.message), &problem.hint);
        }
        for (name, suggestion) in Config::misspelt_variables() {
            let hint = format!("did you mean {suggestion}?");
            render::warning(&format!("{name} is set, but no such setting exists"), &hint);
        }
        Ok(Self { config, session, acts_for: OnceLock::new(), json, early: Mutex::new(early) })
    }

    /// Prints a result: as JSON if that is wanted, else as text for people.
    pub(crate) fn show(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> CommandResult {
        if self.json {
            render::json(value)?;
        } else {
            render::out(&text())?;
        }
        Ok(0)
    }

    pub(crate) fn runtime(&self) -> Result<Runtime, CommandError> {
        Ok(Runtime::open(self.config.settings.clone())?)
    }

    /// Opens the home without redaction.
    pub(crate) fn open_runtime(&self) -> Result<Runtime, CommandError> {
        let mut settings = self.config.settings.clone();
        settings.redact.enabled = false;
        Ok(Runtime::open(settings)?)
    }

    /// Opens the home for a command that exits after it has started a task.
    pub(crate) fn passing_runtime(&self) -> Result<Runtime, CommandError> {
        let mut settings = self.config.settings.clone();
        settings.executables.starter_exits = true;
        let runtime = Runtime::open(settings)?;
        if let Some(supervisor) = self.early.lock().ok().and_then(|mut early| early.take()) {
            runtime.starts().use_supervisor(supervisor);
        }
        Ok(runtime)
    }

    /// Returns the session that this command acts for: inside a task that of the task, otherwise that of the environment.
    pub(crate) fn acts_for(&self) -> Option<&str> {
        let look = || {
            let named = self.session.as_deref();
            // Without a home there are no tasks.
            let runtime = self.config.settings.home.is_dir().then(|| self.runtime().ok()).flatten();
            match runtime {
                Some(runtime) => runtime.approvals().enclosing_session(named),
                None => named.map(str::to_owned),
            }
        };
        self.acts_for.get_or_init(look).as_deref()
    }

    /// Returns whether this command runs inside a task of a session. It acts for that session then.
    pub(crate) fn is_inside_task(&self) -> bool {
        let is_there = self.config.settings.home.is_dir();
        is_there && self.runtime().is_ok_and(|runtime| runtime.approvals().enclosing_session(None).is_some())
    }

    /// Returns the tasks that this command may see.
    pub(crate) fn scope(&self) -> Scope {
        self.acts_for().map_or(Scope::All, |session| Scope::Session(session.to_owned()))
    }

    /// Returns all tasks of a batch.
    ///
    /// # Errors
    /// When the batch has no tasks, which is probably a typo.
    pub(crate) fn batch(&self, runtime: &Runtime, batch: &str) -> Result<Vec<Task>, CommandError> {
        let filter = Filter { batch: Some(batch.to_owned()), limit: u32::MAX, ..Filter::new(self.scope()) };
        let tasks = runtime.tasks().list(&filter)?.tasks;
        if tasks.is_empty() {
            let message = format!("no tasks in the batch {batch:?}");
            let hint =
                "mw start --batch NAME creates a batch; mw list --json shows the batch_id of each task";
            return Err(CommandError::not_found(message, hint));
        }
        Ok(tasks)
    }

    /// Returns the session that owns what this command starts.
    pub(crate) fn owner(&self) -> String {
        self.acts_for().unwrap_or(DEFAULT_SESSION).to_owned()
    }

    /// Returns the requester, for records.
    pub(crate) fn requester(&self) -> String {
        self.acts_for().map_or_else(|| "user".to_owned(), |session| format!("session {session}"))
    }

    /// Returns whether standard output gets colours.
    pub(crate) fn colour(&self) -> bool {
        !self.json
            && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::io::stdout().is_terminal()
    }
}
