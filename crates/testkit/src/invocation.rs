//! A command that is being prepared.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::conversation::Conversation;
use crate::outcome::Outcome;
use crate::running::Running;
use crate::terminal::Terminal;

/// The default time limit of a command.
const LIMIT: Duration = Duration::from_secs(120);

/// A command with its input and time limit.
#[must_use = "nothing runs until `run` or `spawn`"]
pub struct Invocation {
    command: Command,
    input: Option<Vec<u8>>,
    limit: Duration,
}

impl Invocation {
    pub(crate) fn new(command: Command) -> Self {
        Self { command, input: None, limit: LIMIT }
    }

    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Removes a variable.
    pub fn without(mut self, name: impl AsRef<OsStr>) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Runs it inside a session.
    pub fn session(self, name: &str) -> Self {
        self.env("MEANWHILE_SESSION", name)
    }

    /// Sets the working directory.
    pub fn cwd(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Sets its standard input.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// Sets its time limit.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// When it cannot be run or takes too long.
    pub fn run(self) -> Outcome {
        self.spawn().wait()
    }

    /// Starts it in the background.
    ///
    /// # Panics
    /// When it cannot be run.
    #[must_use]
    pub fn spawn(self) -> Running {
        let label = self.label();
        Running::spawn(self.command, label, self.limit, self.input)
    }

    /// Starts it with open standard streams.
    ///
    /// # Panics
    /// When it cannot be run.
    #[must_use]
    pub fn converse(self) -> Conversation {
        let label = self.label();
        Conversation::begin(self.command, label)
    }

    /// Starts it on a pseudo-terminal.
    ///
    /// # Panics
    /// When it cannot be run.
    #[must_use]
    pub fn on_terminal(self) -> Terminal {
        let label = self.label();
        Terminal::spawn(&self.command, label, self.limit)
    }

    fn label(&self) -> String {
        let words = std::iter::once(self.command.get_program()).chain(self.command.get_args());
        let words: Vec<OsString> = words.map(OsStr::to_owned).collect();
        words.join(OsStr::new(" ")).to_string_lossy().into_owned()
    }
}
