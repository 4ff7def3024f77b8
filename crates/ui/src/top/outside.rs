//! The programs that use the terminal of the task manager: the editor, the pager, `mw attach`, and commands that ask
//! for approval.

use std::ffi::OsString;

use mw_desk::action::{Force, TaskAction};

use super::effect::Program;
use super::program::Options;
use crate::screen::{Afterwards, Outside};

/// Returns the command of a program.
pub(super) fn outside(options: &Options, program: Program) -> Outside {
    match program {
        Program::Attach(id) => mw(options, "attach", &["attach".to_owned(), id], Afterwards::Return),
        Program::Editor(path) => Outside::on_file("the editor", &options.editor, &path),
        Program::Pager(path) => Outside::on_file("the pager", &options.pager, &path),
    }
}

fn mw(options: &Options, name: &'static str, words: &[String], afterwards: Afterwards) -> Outside {
    let words = std::iter::once(options.mw.clone()).chain(words.iter().map(OsString::from)).collect();
    Outside { name, words, afterwards }
}

/// Returns the commands that perform an action and ask for approval first.
pub(super) fn commands(options: &Options, action: &TaskAction) -> Vec<Outside> {
    let words = |words: &[&str], ids: &[String]| {
        words.iter().map(|word| (*word).to_owned()).chain(ids.iter().cloned()).collect::<Vec<_>>()
    };
    let commands = match action {
        TaskAction::Kill(ids, Force::Term) => vec![words(&["kill"], ids)],
        TaskAction::Kill(ids, Force::Kill) => {
            vec![words(&["kill", "--signal", "KILL", "--grace", "0s"], ids)]
        }
        TaskAction::Restart(ids) => ids.iter().map(|id| words(&["restart", id], &[])).collect(),
        TaskAction::Input(id, text) => vec![words(&["input", id, "--", text], &[])],
        TaskAction::Answer(..) | TaskAction::Clear(_) => Vec::new(),
    };
    commands.iter().map(|words| mw(options, "mw", words, Afterwards::Read)).collect()
}
