//! The state of an analysis: what is known about a command so far, and the findings.

use std::collections::{BTreeMap, BTreeSet};

use mw_model::{Grant, clipped};

use super::decision::{BuiltinRule, Finding, Reason, Weight};
use super::need;
use super::request::{CommandText, ConfinementLevel, Request};
use crate::script::parser_limits::{self, Refused};
use crate::script::variables;
use crate::script::word::{Variable, Word};

/// Maximum number of characters of a command that a reason repeats.
const MAX_SHOWN: usize = 80;

/// How often bodies of loops are analysed a second time.
const MAX_ROUNDS: usize = 16;

/// The shell whose syntax a script has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grammar {
    /// bash.
    Bash,
    /// Any shell that is installed as `sh`.
    Posix,
}

/// What a pipe carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PipeContent {
    /// Paths of files in the project, each with its directory.
    ProjectPaths,
    /// Names of files in the project.
    ProjectFiles,
    /// Anything.
    Unknown,
}

/// A simple command, and the range of findings about it.
pub(super) struct Seen {
    pub(super) words: Vec<Word>,
    pub(super) findings: std::ops::Range<usize>,
    pub(super) in_project: bool,
}

/// A function that the script defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    /// The directories for which its body was analysed; none while that is being done.
    pub(super) cwd: Option<Vec<String>>,
    /// Whether it changes the directory.
    pub(super) moves: bool,
    /// Whether it is always defined, so that its name cannot mean a program.
    pub(super) certain: bool,
}

/// Analyses a command and collects what needs approval.
pub(super) struct Judge<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) findings: Vec<Finding>,
    pub(super) seen: Vec<Seen>,
    pub(super) parsed: bool,
    pub(super) grammar: Grammar,
    /// The possible current directories; empty if they are unknown.
    pub(super) cwd: Vec<String>,
    /// The directories that remain current if a `cd` fails.
    pub(super) after_failed_cd: Vec<String>,
    pub(super) variables: BTreeMap<String, Variable>,
    pub(super) used: BTreeSet<String>,
    pub(super) functions: Vec<Function>,
    /// How many loops and functions enclose this point: it may run again.
    pub(super) repeats: usize,
    /// How many conditions enclose this point: it may not run at all.
    pub(super) conditions: usize,
    pub(super) depth: usize,
    /// Whether a file was written, so that code of the project may have changed.
    pub(super) wrote: bool,
    /// Whether something came from another machine.
    pub(super) fetched: bool,
    /// Whether a variable has a value that an arithmetic expression would execute.
    pub(super) executable_values: bool,
    /// Whether an arithmetic expression has evaluated a variable.
    pub(super) calculates: bool,
    /// Whether a function or a trap may evaluate variables later.
    pub(super) deferred: bool,
    /// How many bodies of loops may still be analysed a second time.
    pub(super) rounds: usize,
    pub(super) input: PipeContent,
    pub(super) output: PipeContent,
    /// What the parts of the command that need no approval have to be able to do.
    pub(super) need: Grant,
    /// Whether found names may be of files that other programs obey.
    pub(super) finds_protected: bool,
    /// Whether a part of the command uses the network if it may, such as a build that may fetch dependencies.
    pub(super) may_fetch: bool,
}

impl<'a> Judge<'a> {
    pub(super) fn new(request: &'a Request<'a>) -> Self {
        Self {
            request,
            findings: Vec::new(),
            seen: Vec::new(),
            parsed: true,
            grammar: Grammar::Posix,
            cwd: vec![request.cwd.to_owned()],
            after_failed_cd: Vec::new(),
            variables: BTreeMap::new(),
            used: BTreeSet::new(),
            functions: Vec::new(),
            repeats: 0,
            conditions: 0,
            depth: 0,
            wrote: false,
            fetched: false,
            executable_values: false,
            calculates: false,
            deferred: false,
            rounds: MAX_ROUNDS,
            input: PipeContent::Unknown,
            output: PipeContent::Unknown,
            need: Grant::default(),
            may_fetch: false,
            finds_protected: false,
        }
    }

    /// Adds to what the command has to be able to do.
    pub(super) fn needs(&mut self, grant: Grant) {
        self.need = std::mem::take(&mut self.need).joined(grant);
    }

    /// Returns whether the kernel holds the command completely to its grant.
    pub(super) fn is_confined(&self) -> bool {
        self.request.confined == ConfinementLevel::Fully
    }

    /// Adds a finding.
    pub(super) fn ask(&mut self, builtin: BuiltinRule, part: &str, why: &str, effect: &str) {
        if need::is_held(builtin) {
            self.held(builtin, part, why, effect, need::project_code());
        } else {
            self.ask_for(builtin, part, why, effect, need::of(builtin));
        }
    }

    /// Adds a finding. An approval gives this grant.
    pub(super) fn ask_for(
        &mut self,
        builtin: BuiltinRule,
        part: &str,
        why: &str,
        effect: &str,
        grant: Grant,
    ) {
        let reason = Reason { part: short(part), why: why.to_owned() };
        let weight = Weight::Asks;
        self.find(Finding { weight, builtin, reason, effect: effect.to_owned(), grant, excused: false });
    }

    /// Adds a finding about a part whose effects are unknown. If the kernel confines the command, this part gets the grant
    /// without approval.
    pub(super) fn held(&mut self, builtin: BuiltinRule, part: &str, why: &str, effect: &str, grant: Grant) {
        let reason = Reason { part: short(part), why: why.to_owned() };
        let weight = Weight::Held;
        let grant = if self.is_confined() { grant } else { need::everything() };
        self.find(Finding { weight, builtin, reason, effect: effect.to_owned(), grant, excused: false });
    }

    /// Records that code of the project runs. It needs no approval.
    pub(super) fn code(&mut self, part: &str) {
        let (weight, builtin) = (Weight::Code, BuiltinRule::UnknownCode);
        let reason = Reason { part: short(part), why: "it runs code of the project".to_owned() };
        let grant = need::project_code();
        self.find(Finding { weight, builtin, reason, effect: String::new(), grant, excused: false });
    }

    fn find(&mut self, found: Finding) {
        let said = |finding: &Finding| {
            finding.reason == found.reason
                && finding.effect == found.effect
                && finding.weight == found.weight
                && finding.grant.includes(&found.grant)
        };
        let again = self.findings.iter().rposition(said);
        // A repetition about the same command is left out. About another command it stays, because a rule that allows
        // one of them must not allow both.
        let since = self.seen.last().map_or(0, |seen| seen.findings.end);
        if again.is_none_or(|at| at < since) {
            self.findings.push(found);
        }
    }

    pub(super) fn environment(&mut self) {
        for (name, value) in self.request.env {
            self.assign(name, &Word::plain(value), name);
        }
    }

    /// Records an assignment, and asks about a variable that changes what programs do.
    pub(super) fn assign(&mut self, name: &str, value: &Word, part: &str) {
        if variables::is_dangerous(name) {
            let why = format!("{name} changes the behaviour of programs");
            let effect = format!("sets {name}");
            if name.starts_with("MEANWHILE_") {
                self.ask_for(BuiltinRule::Variable, part, &why, &effect, need::project_code());
            } else {
                self.ask(BuiltinRule::Variable, part, &why, &effect);
            }
        }
        let again = self.repeats > 0 || self.deferred;
        if value.values().is_none_or(|values| values.iter().any(|value| variables::is_executable(value))) {
            self.executable_values = true;
            if again && self.calculates {
                let why = "an arithmetic expression may evaluate it, and it may contain a command";
                self.ask(BuiltinRule::UnknownCode, part, why, "may run commands");
            }
        }
        let state = match value.values() {
            Some(values) if !value.glob && (!value.ambiguous || value.number) => {
                Variable::Known(values.to_vec())
            }
            Some(_) if self.stays_inside(value) => Variable::ProjectFile,
            None if value.in_project => Variable::ProjectFile,
            Some(_) | None => Variable::Unknown,
        };
        let before = self.variables.remove(name);
        let joined = match (before.clone(), state) {
            (None, new) => new,
            (Some(Variable::Known(mut old)), Variable::Known(new)) => {
                old.extend(new);
                old.sort();
                old.dedup();
                Variable::Known(old)
            }
            (Some(Variable::ProjectFile), Variable::ProjectFile) => Variable::ProjectFile,
            (Some(_), _) => Variable::Unknown,
        };
        let changes = before.is_some_and(|before| before != joined);
        self.variables.insert(name.to_owned(), joined);
        if changes && again && self.used.contains(name) {
            let why = format!("{name} changes between its uses in a loop");
            self.ask(BuiltinRule::NotLiteral, part, &why, "");
        }
    }

    /// Analyses a command and records which findings are about it, so that a rule can allow them.
    pub(super) fn call(&mut self, words: &[Word]) {
        if words.is_empty() {
            return;
        }
        let start = self.findings.len();
        let at = self.seen.len();
        let in_project = self.runs_in_project();
        self.seen.push(Seen { words: words.to_vec(), findings: start..start, in_project });
        self.program(words);
        self.seen[at].findings.end = self.findings.len();
    }

    pub(super) fn command(&mut self, command: CommandText<'_>) {
        match command {
            CommandText::Words(words) => {
                let odd = words.iter().find_map(|word| parser_limits::check_word(word).err());
                match odd {
                    Some(refused) => self.refused(refused, &words.join(" ")),
                    None => self.call(&words.iter().map(|word| Word::plain(word)).collect::<Vec<_>>()),
                }
            }
            CommandText::Script { shell, text } => match usual_shell(shell) {
                "bash" => self.script(text, Grammar::Bash),
                "sh" | "dash" | "ash" => self.script(text, Grammar::Posix),
                other => {
                    self.parsed = false;
                    let why = format!("the syntax of {other} is not supported");
                    self.ask(BuiltinRule::Unreadable, text, &why, "runs code that cannot be analysed");
                }
            },
        }
    }

    /// Asks about a text that was not parsed.
    pub(super) fn refused(&mut self, refused: Refused, part: &str) {
        self.parsed = false;
        let effect = "runs code that cannot be analysed";
        match refused {
            Refused::TooLong | Refused::TooDeep => {
                self.ask(
                    BuiltinRule::TooLong,
                    part,
                    "it is too long or too deeply nested to analyse",
                    effect,
                );
            }
            Refused::Comment => {
                self.ask(
                    BuiltinRule::Unreadable,
                    part,
                    "shells disagree on whether a comment begins here",
                    effect,
                );
            }
            Refused::Document => {
                let why = "the end of the here-document is ambiguous next to a substitution";
                self.ask(BuiltinRule::Unreadable, part, why, effect);
            }
            Refused::Number => self.ask(
                BuiltinRule::Unreadable,
                part,
                "the number before a redirection is too large",
                effect,
            ),
            Refused::Character(c) => {
                let why = format!(
                    "it contains the character {}, which can hide what the command does",
                    c.escape_unicode()
                );
                self.ask(BuiltinRule::Disguise, part, &why, effect);
            }
        }
    }
}

/// Joins words as they are written.
pub(super) fn text_of(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Shortens a part of a command for a sentence and escapes what a terminal would interpret.
pub(super) fn short(part: &str) -> String {
    let mut shown = String::new();
    for c in clipped(part.trim(), MAX_SHOWN).chars() {
        match c {
            '\n' | '\t' => shown.push(' '),
            c if parser_limits::is_deceptive(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// Returns the name of a shell in a standard directory, or else the whole path.
fn usual_shell(shell: &str) -> &str {
    let (directory, name) = shell.rsplit_once('/').unwrap_or(("/bin", shell));
    if ["/bin", "/usr/bin", "/usr/local/bin"].contains(&directory) { name } else { shell }
}
