//! Other programs that get the terminal for a while.

use std::ffi::OsString;

use super::event::{Effect, Force, Program};
use super::program::Options;
use crate::terminal::{Afterwards, Outside};

/// Returns what has to be run.
pub(super) fn outside(options: &Options, program: Program) -> Outside {
    match program {
        Program::Attach(id) => mw(options, "attach", &["attach".to_owned(), id], Afterwards::Return),
        Program::Command(words) => mw(options, "mw", &words, Afterwards::Read),
        Program::Editor(path) => Outside::on_file("the editor", &options.editor, &path),
        Program::Pager(path) => Outside::on_file("the pager", &options.pager, &path),
    }
}

fn mw(options: &Options, name: &'static str, words: &[String], afterwards: Afterwards) -> Outside {
    let words = std::iter::once(options.mw.clone()).chain(words.iter().map(OsString::from)).collect();
    Outside { name, words, afterwards }
}

/// Returns the command that does the same as an effect, and asks before.
pub(super) fn words(effect: &Effect) -> Vec<String> {
    let words: &[&str] = match effect {
        Effect::Kill(id, Force::Term) => &["kill", id],
        Effect::Kill(id, Force::Kill) => &["kill", "--signal", "KILL", "--grace", "0s", id],
        Effect::Restart(id) => &["restart", id],
        Effect::Input(id, text) => &["input", id, "--", text],
        _ => &[],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}
