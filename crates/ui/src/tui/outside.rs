//! Other programs that get the terminal for a while.

use std::ffi::OsString;

use super::effect::{Deed, Force, Program};
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

/// Returns the command that does the same as a deed and asks before, where there is one.
pub(super) fn words(deed: &Deed) -> Option<Vec<String>> {
    let words: &[&str] = match deed {
        Deed::Kill(id, Force::Term) => &["kill", id],
        Deed::Kill(id, Force::Kill) => &["kill", "--signal", "KILL", "--grace", "0s", id],
        Deed::Restart(id) => &["restart", id],
        Deed::Input(id, text) => &["input", id, "--", text],
        Deed::Answer(..) | Deed::Clear(_) => return None,
    };
    Some(words.iter().map(|word| (*word).to_owned()).collect())
}
