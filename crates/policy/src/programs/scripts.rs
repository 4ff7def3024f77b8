//! Scripts in files.

use crate::decision::BuiltinRule;
use crate::judge::{Grammar, Judge};
use crate::names::Names;
use crate::script::word::Word;

/// How deep scripts may run further scripts.
const MAX_SCRIPTS: usize = 3;

impl Judge<'_> {
    /// Analyses a file that is executed by its path.
    pub(super) fn run_file(&mut self, file: &Word, args: &[Word], part: &str) {
        if args.iter().any(|word| word.lit().is_none()) {
            return self.unknown_code(part, "a script that is given such words may do anything with them");
        }
        match self.script_text(file) {
            Some(text) if is_shell_script(&text) => self.script_inside(&text, part),
            Some(_) | None => {
                let why = format!("what {} does is not visible here", file.text);
                self.unknown_code(part, &why);
            }
        }
    }

    /// Analyses a file that a shell runs.
    pub(super) fn run_script(&mut self, file: &Word, part: &str) {
        match self.script_text(file) {
            Some(text) => self.script_inside(&text, part),
            None => {
                let why = format!("what {} does is not visible here", file.text);
                self.unknown_code(part, &why);
            }
        }
    }

    /// Returns the content of a script of the project, unless this command may have changed it.
    fn script_text(&self, file: &Word) -> Option<String> {
        let path = file.lit()?;
        let [cwd] = self.cwd.as_slice() else { return None };
        if self.wrote || !self.is_inside(file) {
            return None;
        }
        let absolute = if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") };
        self.request.files.text(&absolute)
    }

    fn script_inside(&mut self, text: &str, part: &str) {
        if self.depth > MAX_SCRIPTS {
            return self.unknown_code(part, "scripts that run scripts that run scripts");
        }
        let before = self.parsed;
        let depth = self.depth;
        self.isolated(|judge| judge.script(text, Grammar::Posix));
        self.depth = depth;
        if before && !self.parsed {
            // The command itself was parsed; its script was not.
            self.parsed = true;
            let why = "its script cannot be judged";
            self.ask(BuiltinRule::UnknownCode, part, why, "runs code that cannot be judged");
        }
    }
}

/// Returns whether a file is run by a shell.
fn is_shell_script(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let Some(program) = first.strip_prefix("#!") else { return false };
    let words: Vec<&str> = program.split_whitespace().collect();
    let shells = "/bin/sh /bin/bash /usr/bin/bash /usr/bin/sh /bin/dash";
    match words.as_slice() {
        [shell] => Names(shells).contains(shell),
        [shell, options] => {
            Names(shells).contains(shell) && options.starts_with('-') && !options.contains('c')
                || *shell == "/usr/bin/env" && matches!(*options, "sh" | "bash" | "dash")
        }
        _ => false,
    }
}
