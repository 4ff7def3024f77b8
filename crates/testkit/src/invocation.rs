//! A command about to be run.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::conversation::Conversation;
use crate::outcome::Outcome;
use crate::running::Running;
use crate::terminal::Terminal;

/// No command of ours may take longer, whatever the test.
const LIMIT: Duration = Duration::from_secs(120);

/// One command and what is special about it.
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

    /// Takes a variable away.
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

    /// Gives it something to read.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// Allows it more or less time than 30 s.
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

    /// Leaves it running.
    ///
    /// # Panics
    /// When it cannot be run.
    #[must_use]
    pub fn spawn(self) -> Running {
        let label = self.label();
        Running::spawn(self.command, label, self.limit, self.input)
    }

    /// Leaves it running, to be talked to.
    ///
    /// # Panics
    /// When it cannot be run.
    #[must_use]
    pub fn converse(self) -> Conversation {
        let label = self.label();
        Conversation::begin(self.command, label)
    }

    /// Leaves it running on a terminal of its own.
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
