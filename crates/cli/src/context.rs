//! The context of every command.

use std::env;
use std::sync::OnceLock;

use meanwhile::engine::model::{DEFAULT_SESSION, LONGEST_SESSION_NAME, Requester};
use meanwhile::engine::{Runtime, check_session_name};
use meanwhile::{Scope, Task, TaskFilter};
use serde::Serialize;

use crate::config::Config;
use crate::error::{CommandError, CommandResult};
use crate::render;

/// Settings, session and output format.
pub(crate) struct Context {
    pub(crate) config: Config,
    /// The session that the environment names.
    pub(crate) session: Option<String>,
    /// The session that this command acts for, once a home was opened.
    acts_for: OnceLock<Option<String>>,
    pub(crate) json: bool,
}

/// The requester of commands outside of sessions, in records.
pub(crate) const USER: &str = "user";

/// How much a name must resemble another to be suggested.
const SIMILAR: f64 = 0.8;

/// Which task of a directory is meant by a command without a name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Latest {
    /// The newest one.
    Any,
    /// The newest one that has not ended, or else the newest one.
    Live,
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
    pub(crate) fn load(json: bool, needs: Needs) -> Result<Self, CommandError> {
        let session = match env::var("MEANWHILE_SESSION") {
            Ok(session) if session.is_empty() => None,
            Ok(session) if check_session_name(&session).is_err() => {
                return Err(CommandError::usage(
                    "MEANWHILE_SESSION is not a valid session name",
                    format!("use 1 to {LONGEST_SESSION_NAME} printable characters"),
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
        if let Some(file) = env::var_os("MEANWHILE_CLOCK") {
            meanwhile::engine::shift_clock(file.into());
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
        Ok(Self { config, session, acts_for: OnceLock::new(), json })
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
        let runtime = Runtime::open(self.config.settings.clone())?;
        self.find_session(&runtime);
        Ok(runtime)
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
        self.find_session(&runtime);
        Ok(runtime)
    }

    /// Returns the session that this command acts for: inside a task that of the task, otherwise that of the environment.
    pub(crate) fn acts_for(&self) -> Option<&str> {
        // Without a home there are no tasks.
        if self.acts_for.get().is_none() && self.config.settings.home.is_dir() {
            let _ = self.runtime();
        }
        self.acts_for.get().map_or(self.session.as_deref(), Option::as_deref)
    }

    /// Looks up the session that this command acts for in a home that is open already.
    fn find_session(&self, runtime: &Runtime) {
        self.acts_for.get_or_init(|| runtime.approvals().enclosing_session(self.session.as_deref()));
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

    /// Returns the given handle, or else the id of the newest task that was started in this directory, and says which one
    /// that is.
    pub(crate) fn given_or_latest(
        &self,
        runtime: &Runtime,
        given: Option<String>,
        wanted: Latest,
    ) -> Result<String, CommandError> {
        if let Some(given) = given {
            return Ok(given);
        }
        let directory = env::current_dir().map(|directory| directory.to_string_lossy().into_owned());
        let directory = directory.unwrap_or_default();
        let found = runtime.lookup().latest_in(&directory, &self.scope(), wanted == Latest::Live)?;
        let id = found.ok_or_else(|| {
            CommandError::not_found(
                format!("no task was started in {directory}"),
                "name a task; mw list shows the tasks of all directories",
            )
        })?;
        if !self.json {
            let name = runtime.directories().shown_name(&id);
            let name = name.map_or_else(|| id.to_string(), |name| format!("{name} ({id})"));
            render::note(&format!("the latest task of this directory: {name}"));
        }
        Ok(id.to_string())
    }

    /// Returns up to three names of tasks that resemble this one.
    pub(crate) fn similar_names(&self, unknown: &str) -> Result<Vec<String>, CommandError> {
        let names = self.runtime()?.lookup().names(&self.scope())?;
        let mut similar: Vec<_> = names
            .into_iter()
            .map(|name| (strsim::jaro_winkler(unknown, &name), name))
            .filter(|(likeness, _)| *likeness > SIMILAR)
            .collect();
        similar.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        let mut similar: Vec<_> = similar.into_iter().map(|(_, name)| name).collect();
        similar.dedup();
        similar.truncate(3);
        Ok(similar)
    }

    /// Returns all tasks of a batch.
    ///
    /// # Errors
    /// When the batch has no tasks, which is probably a typo.
    pub(crate) fn batch(&self, runtime: &Runtime, batch: &str) -> Result<Vec<Task>, CommandError> {
        let filter =
            TaskFilter { batch: Some(batch.to_owned()), limit: u32::MAX, ..TaskFilter::new(self.scope()) };
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
        self.acts_for().map_or_else(|| USER.to_owned(), |session| Requester::Session(session).to_string())
    }

    /// Returns whether standard output gets colours.
    pub(crate) fn colour(&self) -> bool {
        render::is_coloured(self.json)
    }
}
