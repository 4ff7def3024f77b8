//! Other programs that get the terminal for a while.

use std::ffi::OsString;

use super::effect::{Deed, Force, Program};
use super::program::Options;
use crate::screen::{Afterwards, Outside};

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

/// Returns the commands that do the same as a deed and ask before, where there are any.
pub(super) fn commands(deed: &Deed) -> Vec<Vec<String>> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    match deed {
        Deed::Kill(ids, Force::Term) => vec![[words(&["kill"]), ids.clone()].concat()],
        Deed::Kill(ids, Force::Kill) => {
            vec![[words(&["kill", "--signal", "KILL", "--grace", "0s"]), ids.clone()].concat()]
        }
        Deed::Restart(ids) => ids.iter().map(|id| words(&["restart", id])).collect(),
        Deed::Input(id, text) => vec![words(&["input", id, "--", text])],
        Deed::Answer(..) | Deed::Clear(_) => Vec::new(),
    }
}
