//! The inputs of a decision.

use mw_model::{Dialect, Tool};

use super::mode::Mode;
use super::rules::Rules;

/// A command.
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

/// How far the kernel holds a command to its grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfinementLevel {
    /// Not at all: the command can do whatever the user can.
    #[default]
    No,
    /// In parts, such as everything but protected names inside the project.
    Partly,
    /// Completely: files, protected names, network, signals and the sockets of other programs.
    Fully,
}

/// Access to the file system. It is only used for paths on which a decision depends.
pub trait Files {
    /// Returns the target of an absolute path, with links and `..` resolved as the system does. Parts that do not exist
    /// are kept as written. None if the target is unknown.
    fn real(&self, absolute: &str) -> Option<String>;

    /// Returns the content of a short text file, so that a script of the project can be analysed. None if the file is
    /// long, is not text, or cannot be read.
    fn text(&self, absolute: &str) -> Option<String>;

    /// Returns whether there is something at an absolute path. If that cannot be found out, it returns true.
    fn exists(&self, absolute: &str) -> bool {
        self.text(absolute).is_some()
    }
}

/// Everything that a decision depends on.
pub struct Request<'a> {
    /// The approval mode.
    pub mode: Mode,
    /// The dialect of the caller.
    pub dialect: Dialect,
    /// The tool that is called.
    pub tool: Tool,
    /// The command; none for tools that run nothing.
    pub command: Option<CommandText<'a>>,
    /// The working directory; absolute.
    pub cwd: &'a str,
    /// The directory of the project; absolute, without links.
    pub project: &'a str,
    /// The home directory of the user; empty if there is none.
    pub home: &'a str,
    /// Further directories that may be written to; absolute, without links.
    pub writable: &'a [String],
    /// Variables that are added to the environment.
    pub env: &'a [(String, String)],
    /// Whether tools that only read are allowed in mode ci.
    pub ci_reads: bool,
    /// How far the kernel holds the command to its grant.
    pub confined: ConfinementLevel,
    /// The rules of the user and the project.
    pub rules: &'a Rules,
    /// Access to the file system.
    pub files: &'a dyn Files,
}
