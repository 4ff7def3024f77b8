//! Errors of the command line: converted once, printed once.

use std::io;

use meanwhile::Error;
use meanwhile::error::{ErrorClass, ErrorCode};
use meanwhile::model::TaskId;
use mw_agents::hosts::DeliverError;
use serde_json::json;

use crate::exit_code;
use crate::hints;
use crate::render;

/// An error with its exit code, ready to be shown.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) hint: String,
    pub(crate) exit: u8,
    /// The code, if it is one of the library.
    pub(crate) library: Option<ErrorCode>,
    /// The handle that belongs to no task.
    pub(crate) unknown_task: Option<String>,
}

/// What a command returns: the exit code of `mw`.
pub(crate) type CommandResult = Result<u8, CommandError>;

impl CommandError {
    fn new(code: &str, message: impl Into<String>, hint: impl Into<String>, exit: u8) -> Self {
        let code = code.to_owned();
        Self { code, message: message.into(), hint: hint.into(), exit, library: None, unknown_task: None }
    }

    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new("usage", message, hint, exit_code::USAGE)
    }

    /// Shows the error, unless nobody reads it; returns the exit code.
    pub(crate) fn report(&self, json: bool) -> u8 {
        if !self.is_unread() {
            self.show(json);
        }
        self.exit
    }

    /// Returns whether the only problem is that the reader of the output is gone.
    pub(crate) const fn is_unread(&self) -> bool {
        self.exit == 0
    }

    pub(crate) fn conflict(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new("conflict", message, hint, exit_code::CONFLICT)
    }

    pub(crate) fn not_found(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new("not_found", message, hint, exit_code::NOT_FOUND)
    }

    /// Adds that a task was started before the error.
    pub(crate) fn with_task(mut self, id: &TaskId) -> Self {
        if self.is_unread() || self.library != Some(ErrorCode::Io) {
            return self;
        }
        self.message = format!("{}; {id} was started and keeps running", self.message);
        self.hint = format!("see mw status {id}, or end it with mw kill {id}; {}", self.hint);
        self
    }

    /// Converts an error. If it is about a task, its message gets the handle that the user typed.
    pub(crate) fn about(error: Error, handle: &str) -> Self {
        let id = error.task().cloned();
        let mut converted = Self::from(error);
        if let Some(id) = id {
            converted.message = converted.message.replacen(id.as_str(), &named(handle, &id), 1);
        }
        converted
    }

    /// Prints the error: text on stderr, JSON on stdout, or on stderr if stdout fails.
    pub(crate) fn show(&self, as_json: bool) {
        let value = json!({"error": {"code": self.code, "message": self.message, "hint": self.hint}});
        if as_json && render::json(&value).is_ok() {
            return;
        }
        render::failure(&self.message, &self.hint);
    }
}

/// Returns the handle that the user typed, with the id.
pub(crate) fn named(handle: &str, id: &TaskId) -> String {
    if handle == id.as_str() { handle.to_owned() } else { format!("{handle} ({id})") }
}

/// An error about a task that the user has named.
pub(crate) trait About<T> {
    /// Adds the handle that the user typed.
    fn about(self, handle: &str) -> Result<T, CommandError>;
}

impl<T> About<T> for meanwhile::Result<T> {
    fn about(self, handle: &str) -> Result<T, CommandError> {
        self.map_err(|error| CommandError::about(error, handle))
    }
}

/// Returns a task's exit code even if the reader of the output is gone (`| head`).
pub(crate) fn answer(printed: Result<(), CommandError>, code: u8) -> CommandResult {
    match printed {
        Ok(()) => Ok(code),
        Err(error) if error.is_unread() => Ok(code),
        Err(error) => Err(error),
    }
}

const fn exit_of(class: ErrorClass) -> u8 {
    match class {
        ErrorClass::Invalid | ErrorClass::NoDirectory => exit_code::USAGE,
        ErrorClass::NotFound | ErrorClass::Ambiguous => exit_code::NOT_FOUND,
        ErrorClass::Denied => exit_code::DENY,
        ErrorClass::NeedsApproval => exit_code::ASK,
        ErrorClass::Conflict | ErrorClass::Busy => exit_code::CONFLICT,
        ErrorClass::NoProgram => exit_code::PROGRAM_NOT_FOUND,
        ErrorClass::NotExecutable => exit_code::NOT_EXECUTABLE,
        ErrorClass::NotStarted | ErrorClass::Supervisor => exit_code::FAILURE,
        ErrorClass::Storage => exit_code::STORE,
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        let exit = exit_of(error.class());
        let (mut message, mut hint) = (error.to_string(), hints::hint(&error));
        if matches!(error, Error::Unanswered)
            && let Some(path) = std::env::var_os("MEANWHILE_SUPERVISOR")
        {
            let path = path.to_string_lossy();
            message = format!("{path} (set by MEANWHILE_SUPERVISOR) exited before it started the command");
            hint = "it must be mw-supervisor of this version; check with mw doctor".to_owned();
        }
        let unknown_task = match &error {
            Error::NotFound(handle) => Some(handle.clone()),
            _ => None,
        };
        let code = error.code();
        Self { code: code.as_str().to_owned(), message, hint, exit, library: Some(code), unknown_task }
    }
}

impl From<DeliverError> for CommandError {
    fn from(error: DeliverError) -> Self {
        match error {
            DeliverError::Engine(error) => error.into(),
            DeliverError::Write(error) => error.into(),
        }
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        // The reader has closed the pipe, which is not a failure. `run` and `wait` still have an exit code, see `answer`.
        let exit = if error.kind() == io::ErrorKind::BrokenPipe { 0 } else { exit_code::FAILURE };
        let message = if exit == 0 { String::new() } else { error.to_string() };
        let hint =
            if render::is_unwritten(&error) { "check the terminal or pipe that mw writes to" } else { "" };
        let code = ErrorCode::Io;
        let (text, hint) = (code.as_str().to_owned(), hint.to_owned());
        Self { code: text, message, hint, exit, library: Some(code), unknown_task: None }
    }
}
