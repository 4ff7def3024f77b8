//! What a draft runs: a script or a program.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use mw_model::{CommandSpec, DEFAULT_SHELL, RawText};

use super::draft::TaskDraft;

/// A script for `/bin/sh`.
#[derive(Clone, Copy, Debug)]
pub struct Shell;

impl Shell {
    /// Drafts a task that runs a script. Its arguments are `$1`, `$2` and so on, so a value needs no quoting.
    #[expect(clippy::new_ret_no_self, reason = "a script alone is a whole draft")]
    pub fn new(script: impl AsRef<OsStr>) -> TaskDraft {
        let script = RawText::from(script.as_ref().as_bytes());
        TaskDraft::of(CommandSpec::Shell { program: DEFAULT_SHELL.into(), script })
    }
}

/// A program that is executed without a shell.
#[derive(Clone, Copy, Debug)]
pub struct Program;

impl Program {
    /// Drafts a task that runs a program. A name without a slash is looked up on the `PATH` of the task.
    #[expect(clippy::new_ret_no_self, reason = "a name alone is a whole draft")]
    pub fn new(name: impl AsRef<OsStr>) -> TaskDraft {
        TaskDraft::of(CommandSpec::Argv(vec![RawText::from(name.as_ref().as_bytes())]))
    }
}

/// Adds arguments to a command. Those of a script become its positional parameters.
pub(super) fn with_args(command: CommandSpec, args: Vec<RawText>) -> CommandSpec {
    match command {
        CommandSpec::Argv(words) => CommandSpec::Argv(words.into_iter().chain(args).collect()),
        CommandSpec::Shell { .. } if args.is_empty() => command,
        CommandSpec::Shell { program, script } => {
            let words = [program.clone(), "-c".into(), script, program];
            CommandSpec::Argv(words.into_iter().chain(args).collect())
        }
    }
}

impl From<&str> for TaskDraft {
    /// Drafts a script, as [`Shell::new`].
    fn from(script: &str) -> Self {
        Shell::new(script)
    }
}

impl From<String> for TaskDraft {
    /// Drafts a script, as [`Shell::new`].
    fn from(script: String) -> Self {
        Shell::new(script)
    }
}
