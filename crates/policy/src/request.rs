//! What is to be decided.

use mw_model::{Dialect, Tool};

use super::mode::Mode;
use super::rules::Rules;

/// A command as it would be run.
#[derive(Clone, Copy, Debug)]
pub enum CommandText<'a> {
    /// A script for a shell.
    Script {
        /// The shell, such as `/bin/sh`.
        shell: &'a str,
        /// The script.
        text: &'a str,
    },
    /// A program and its arguments, without a shell.
    Words(&'a [String]),
}

/// What the file system knows; asked only about paths that a decision hangs on.
pub trait Files {
    /// Returns where an absolute path leads, links and `..` followed as the system would; what is not there yet is
    /// taken as it is written. None when it cannot be told.
    fn real(&self, absolute: &str) -> Option<String>;

    /// Returns the content of a short text file, so that a script of the project can be judged by what it does.
    /// None when it is long, no text, or not to be read.
    fn text(&self, absolute: &str) -> Option<String>;
}

/// Everything a decision depends on.
pub struct Request<'a> {
    /// How much is asked about.
    pub mode: Mode,
    /// The dialect whose conventions hold.
    pub dialect: Dialect,
    /// The tool that is called.
    pub tool: Tool,
    /// What would be run; none for tools that run nothing.
    pub command: Option<CommandText<'a>>,
    /// The directory it would run in, absolute.
    pub cwd: &'a str,
    /// The project's directory, absolute and without links.
    pub project: &'a str,
    /// The user's directory; empty when there is none.
    pub home: &'a str,
    /// Directories besides the project that may be written to, absolute and without links.
    pub writable: &'a [String],
    /// What would be added to the environment.
    pub env: &'a [(String, String)],
    /// Whether tools that only read are allowed in mode ci.
    pub ci_reads: bool,
    /// Rules of the user and the project.
    pub rules: &'a Rules,
    /// What the file system knows.
    pub files: &'a dyn Files,
}
