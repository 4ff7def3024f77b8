//! What programs do with their arguments: one file per family.
//!
//! A program that nobody here knows is asked about, and so is an option that nobody here knows of a program whose
//! options can write, run or send something.

mod archives;
mod awk;
mod build_tools;
mod builds;
mod builtins;
mod copies;
mod curl;
mod filters;
mod find;
mod git;
mod interpreters;
mod network;
mod options;
mod packages;
mod project_code;
mod reads;
mod scripts;
mod searches;
mod sed;
mod services;
mod wrappers;
mod writes;

use super::decision::Ground;
use super::judge::{Judge, text_of};
use super::word::Word;

/// Directories whose programs go by their name alone.
const STANDARD: [&str; 8] = [
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
    "/run/current-system/sw/bin/",
];

/// A program and what it is called with.
pub(super) struct Call<'w> {
    /// Its name, without the directory.
    name: &'w str,
    args: &'w [Word],
    /// The command as it is written.
    part: String,
}

/// Looks at a call if it is one of its family, and tells whether it was.
type Family = fn(&mut Judge<'_>, &Call<'_>) -> bool;

/// Every family, the most frequent first.
const FAMILIES: [Family; 16] = [
    reads::judge,
    searches::judge,
    builtins::judge,
    git::judge,
    builds::judge,
    writes::judge,
    find::judge,
    sed::judge,
    awk::judge,
    wrappers::judge,
    interpreters::judge,
    curl::judge,
    network::judge,
    archives::judge,
    packages::judge,
    services::judge,
];

impl Judge<'_> {
    /// Judges a program and its arguments.
    pub(super) fn program(&mut self, words: &[Word]) {
        let Some((first, args)) = words.split_first() else { return };
        let part = text_of(words);
        let Some(name) = first.lit() else {
            let why = format!("the program {} is known only at run time", first.text);
            return self.ask(Ground::NotLiteral, &part, &why, "runs a program that is not known yet");
        };
        if !name.is_ascii() {
            let why = format!("{name} holds letters that may look like others");
            return self.ask(Ground::Disguise, &part, &why, "runs a program that may not be what it seems");
        }
        let is_function = self.function_call(name, &part);
        let known = STANDARD.iter().find_map(|directory| name.strip_prefix(directory));
        let name = match known {
            Some(base) if !base.contains('/') => base,
            Some(_) | None if name.contains('/') => return self.run_file(first, args, &part),
            Some(_) | None => name,
        };
        let call = Call { name, args, part };
        // A function may be gone or not there yet, so that a name which is also a program's is judged as both.
        if !FAMILIES.iter().any(|family| family(self, &call)) && !is_function {
            let why = format!("{name} is an unknown program");
            self.ask(
                Ground::UnknownProgram,
                &call.part,
                &why,
                &format!("runs {name}, which may do anything"),
            );
        }
    }

    /// Judges the call of a function of the script, whose body was judged where it stands, and tells whether it is
    /// sure to be one.
    fn function_call(&mut self, name: &str, part: &str) -> bool {
        let Some(function) = self.functions.iter().rev().find(|function| function.name == name).cloned()
        else {
            return false;
        };
        match function.cwd {
            None => self.ask(Ground::UnknownCode, part, "it calls itself", "may start processes without end"),
            Some(cwd) if cwd != self.cwd => {
                let why = "its function was written for another directory";
                self.ask(Ground::NotLiteral, part, why, "");
            }
            Some(_) => {}
        }
        if function.moves {
            self.cwd.clear();
        }
        function.certain
    }

    /// Asks about code that is not visible.
    pub(super) fn unknown_code(&mut self, part: &str, why: &str) {
        self.ask(Ground::UnknownCode, part, why, "runs code that is not visible here");
    }

    /// Asks about a word that could be an option, for a program whose options matter; tells whether it did.
    fn hidden_option(&mut self, call: &Call<'_>) -> bool {
        let end = call.args.iter().position(|word| word.lit() == Some("--")).unwrap_or(call.args.len());
        let Some(word) = call.args[..end].iter().find(|word| word.may_be_option()) else { return false };
        let why = format!("{} may turn out to be an option", word.text);
        self.ask(Ground::NotLiteral, &call.part, &why, "may do more than it seems");
        true
    }
}
