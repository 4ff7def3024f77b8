//! Scripts in files.

use super::{Call, confined};
use crate::decision::{BuiltinRule, Finding, Weight};
use crate::judge::{Grammar, Judge};
use crate::names::Names;
use crate::script::word::Word;

/// How deep scripts may run further scripts.
const MAX_SCRIPTS: usize = 3;

impl Judge<'_> {
    /// Analyses a file that is executed by its path.
    pub(super) fn run_file(&mut self, file: &Word, args: &[Word], part: &str) {
        if self.is_confined() && self.is_program_of_project(file, args, part) {
            return;
        }
        if args.iter().any(|word| word.lit().is_none()) {
            return self.unknown_code(part, "the script may execute these arguments");
        }
        match self.script_text(file) {
            Some(text) if is_shell_script(&text) => self.script_inside(&text, part),
            Some(_) | None => {
                let why = format!("the effects of {} are unknown", file.text);
                self.unknown_code(part, &why);
            }
        }
    }

    /// Analyses a program that a project or its environment has installed as the program of that name. Returns whether it
    /// is one.
    fn is_program_of_project(&mut self, file: &Word, args: &[Word], part: &str) -> bool {
        let Some((directory, name)) = file.lit().and_then(|path| path.rsplit_once('/')) else { return false };
        let bins = ["venv/bin", "env/bin", "node_modules/.bin", "vendor/bin"];
        let wrapper = matches!(name, "gradlew" | "mvnw");
        if !self.is_inside(file) || !wrapper && !bins.iter().any(|bin| directory.ends_with(bin)) {
            return false;
        }
        let call = Call { name, args, part: part.to_owned() };
        confined::judge(self, &call)
    }

    /// Analyses a file that a shell runs.
    pub(super) fn run_script(&mut self, file: &Word, part: &str) {
        match self.script_text(file) {
            Some(text) => self.script_inside(&text, part),
            None => {
                let why = format!("the effects of {} are unknown", file.text);
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
            return self.unknown_code(part, "scripts run further scripts too deeply");
        }
        let before = self.parsed;
        let depth = self.depth;
        let (findings, need, seen) = (self.findings.len(), self.need.clone(), self.seen.len());
        self.isolated(|judge| judge.script(text, Grammar::Posix));
        self.depth = depth;
        let asks = |finding: &Finding| finding.weight == Weight::Asks;
        if self.is_confined() && self.findings[findings..].iter().any(asks) {
            // It is code of the project. What it would need approval for fails.
            self.findings.truncate(findings);
            self.seen.truncate(seen);
            self.need = need;
            self.parsed = before;
            return self.code(part);
        }
        if before && !self.parsed {
            // The command itself was parsed; its script was not.
            self.parsed = true;
            let why = "its script cannot be analysed";
            self.ask(BuiltinRule::UnknownCode, part, why, "runs code that cannot be analysed");
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
