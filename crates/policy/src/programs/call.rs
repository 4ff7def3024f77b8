//! A call of a program.

use super::confined;
use super::families::FAMILIES;
use crate::decision::BuiltinRule;
use crate::judge::{Judge, text_of};
use crate::script::word::Word;

/// Standard directories of programs, in which the name identifies the program.
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

/// A call of a program.
pub(crate) struct Call<'w> {
    /// Its name, without the directory.
    pub(super) name: &'w str,
    pub(super) args: &'w [Word],
    /// The command as it is written.
    pub(super) part: String,
}

impl Judge<'_> {
    /// Analyses a program and its arguments.
    pub(crate) fn program(&mut self, words: &[Word]) {
        let Some((first, args)) = words.split_first() else { return };
        let part = text_of(words);
        let Some(name) = first.lit() else {
            let why = format!("the program {} is known only at run time", first.text);
            return self.ask(
                BuiltinRule::NotLiteral,
                &part,
                &why,
                "runs a program that is known only at run time",
            );
        };
        if !name.is_ascii() {
            let why = format!("{name} contains letters that look like others");
            return self.ask(
                BuiltinRule::Disguise,
                &part,
                &why,
                "runs a program that may not be what it seems",
            );
        }
        let is_function = self.function_call(name, &part);
        let known = STANDARD.iter().find_map(|directory| name.strip_prefix(directory));
        let name = match known {
            Some(base) if !base.contains('/') => base,
            Some(_) | None if name.contains('/') => return self.run_file(first, args, &part),
            Some(_) | None => name,
        };
        let call = Call { name, args, part };
        // The function may not be defined at this point, so a name that is also a program is analysed as both.
        if self.is_confined() && confined::judge(self, &call) {
            return;
        }
        if !FAMILIES.iter().any(|family| family(self, &call)) && !is_function {
            let why = format!("{name} is an unknown program");
            self.ask(
                BuiltinRule::UnknownProgram,
                &call.part,
                &why,
                &format!("runs {name}, which may do anything"),
            );
        }
    }

    /// Analyses the call of a function of the script, whose body was analysed at its definition. Returns whether the name
    /// certainly is a function.
    fn function_call(&mut self, name: &str, part: &str) -> bool {
        let Some(function) = self.functions.iter().rev().find(|function| function.name == name).cloned()
        else {
            return false;
        };
        match function.cwd {
            None => {
                self.ask(BuiltinRule::UnknownCode, part, "it calls itself", "may start processes endlessly");
            }
            Some(cwd) if cwd != self.cwd => {
                let why = "the function was defined for another directory";
                self.ask(BuiltinRule::NotLiteral, part, why, "");
            }
            Some(_) => {}
        }
        if function.moves {
            self.cwd.clear();
        }
        function.certain
    }

    /// Asks about code whose content is unknown.
    pub(crate) fn unknown_code(&mut self, part: &str, why: &str) {
        self.ask(BuiltinRule::UnknownCode, part, why, "runs code that cannot be analysed");
    }

    /// Asks about an argument that may be an option, for a program whose options matter; returns whether there is one.
    pub(super) fn hidden_option(&mut self, call: &Call<'_>) -> bool {
        self.may_have_option(call.args, &call.part)
    }

    /// Does the same for these arguments.
    pub(super) fn may_have_option(&mut self, args: &[Word], part: &str) -> bool {
        let end = args.iter().position(|word| word.lit() == Some("--")).unwrap_or(args.len());
        let hidden = args[..end].iter().find(|word| word.may_be_option());
        hidden.into_iter().for_each(|word| self.hides_option(word, part));
        hidden.is_some()
    }

    pub(super) fn hides_option(&mut self, word: &Word, part: &str) {
        let why = format!("{} may be an option at run time", word.text);
        self.ask(BuiltinRule::NotLiteral, part, &why, "has unknown effects");
    }
}
