//! What is known about a command while it is judged, and what was found.

use std::collections::{BTreeMap, BTreeSet};

use super::decision::{Finding, Ground, Reason};
use super::fence::{self, Refused};
use super::request::{CommandText, Request};
use super::variables;
use super::word::{Variable, Word};

/// Most characters of a command that a reason repeats.
const MOST_SHOWN: usize = 80;

/// Most times that loops are walked through once more.
const MOST_ROUNDS: usize = 16;

/// Whose grammar a script is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grammar {
    /// bash, and nothing else.
    Bash,
    /// Any shell that goes by `sh`.
    Posix,
}

/// What comes through a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feed {
    /// Paths of files in the project, each beginning with its directory.
    ProjectPaths,
    /// Names of files in the project.
    ProjectFiles,
    /// Anything.
    Unknown,
}

/// A simple command that was seen, and which findings are about it.
pub(super) struct Seen {
    pub(super) words: Vec<Word>,
    pub(super) findings: std::ops::Range<usize>,
    pub(super) at_home: bool,
}

/// A function of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    /// Where its body was judged; none while it is being judged.
    pub(super) cwd: Option<Vec<String>>,
    /// Whether it leaves for another directory.
    pub(super) moves: bool,
    /// Whether it is defined whatever happens, so that its name cannot mean a program.
    pub(super) certain: bool,
}

/// Walks through a command and collects what has to be asked about.
pub(super) struct Judge<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) findings: Vec<Finding>,
    pub(super) seen: Vec<Seen>,
    pub(super) parsed: bool,
    pub(super) grammar: Grammar,
    /// The directories it can be in by now; empty when that is not known.
    pub(super) cwd: Vec<String>,
    /// The directories it is in if a `cd` failed.
    pub(super) missed: Vec<String>,
    pub(super) variables: BTreeMap<String, Variable>,
    pub(super) used: BTreeSet<String>,
    pub(super) functions: Vec<Function>,
    /// How many loops and functions are around: what is there may run again.
    pub(super) repeats: usize,
    /// How many conditions are around: what is there may not run at all.
    pub(super) conditions: usize,
    pub(super) depth: usize,
    /// Whether a file was written, so that project code may be new.
    pub(super) wrote: bool,
    /// Whether something came from another machine.
    pub(super) fetched: bool,
    /// Whether a variable holds what a calculation would run.
    pub(super) odd_values: bool,
    /// Whether a calculation has looked at a variable.
    pub(super) calculates: bool,
    /// Whether a function or a trap may look at variables later than where it stands.
    pub(super) deferred: bool,
    /// How many times loops may still be walked through again.
    pub(super) rounds: usize,
    pub(super) feed: Feed,
    pub(super) output: Feed,
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
            missed: Vec::new(),
            variables: BTreeMap::new(),
            used: BTreeSet::new(),
            functions: Vec::new(),
            repeats: 0,
            conditions: 0,
            depth: 0,
            wrote: false,
            fetched: false,
            odd_values: false,
            calculates: false,
            deferred: false,
            rounds: MOST_ROUNDS,
            feed: Feed::Unknown,
            output: Feed::Unknown,
        }
    }

    /// Asks about something.
    pub(super) fn ask(&mut self, ground: Ground, part: &str, why: &str, effect: &str) {
        let reason = Reason { part: short(part), why: why.to_owned() };
        let said = |finding: &Finding| finding.reason == reason && finding.effect == effect;
        let again = self.findings.iter().rposition(said);
        // Said twice of the same command is once too often; of another it must stay, or a rule would excuse both.
        let since = self.seen.last().map_or(0, |seen| seen.findings.end);
        if again.is_none_or(|at| at < since) {
            self.findings.push(Finding { ground, reason, effect: effect.to_owned(), excused: false });
        }
    }

    pub(super) fn environment(&mut self) {
        for (name, value) in self.request.env {
            self.assign(name, &Word::plain(value), name);
        }
    }

    /// Notes an assignment, and asks about a variable that changes what programs do.
    pub(super) fn assign(&mut self, name: &str, value: &Word, part: &str) {
        if variables::is_dangerous(name) {
            let why = format!("{name} changes what the programs after it do");
            self.ask(Ground::Variable, part, &why, &format!("sets {name}"));
        }
        let again = self.repeats > 0 || self.deferred;
        if value.values().is_none_or(|values| values.iter().any(|value| variables::is_odd(value))) {
            self.odd_values = true;
            if again && self.calculates {
                let why = "a calculation may evaluate it, and it may hold a command";
                self.ask(Ground::UnknownCode, part, why, "may run commands");
            }
        }
        let state = match value.values() {
            Some(values) if !value.glob && (!value.odd || value.number) => Variable::Known(values.to_vec()),
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
            let why = format!("{name} changes while it is in use");
            self.ask(Ground::NotLiteral, part, &why, "");
        }
    }

    /// Judges a command and keeps which findings are about it, so that a rule can take them back.
    pub(super) fn call(&mut self, words: &[Word]) {
        if words.is_empty() {
            return;
        }
        let start = self.findings.len();
        let at = self.seen.len();
        let at_home = self.is_at_home();
        self.seen.push(Seen { words: words.to_vec(), findings: start..start, at_home });
        self.program(words);
        self.seen[at].findings.end = self.findings.len();
    }

    pub(super) fn command(&mut self, command: CommandText<'_>) {
        match command {
            CommandText::Words(words) => {
                let odd = words.iter().find_map(|word| fence::check_word(word).err());
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
                    let why = format!("{other} has an unknown syntax");
                    self.ask(Ground::Unreadable, text, &why, "runs code that cannot be judged");
                }
            },
        }
    }

    /// Asks about a text that did not reach the grammar.
    pub(super) fn refused(&mut self, refused: Refused, part: &str) {
        self.parsed = false;
        let effect = "runs code that cannot be judged";
        match refused {
            Refused::TooLong | Refused::TooDeep => {
                self.ask(Ground::TooLong, part, "too long to judge", effect);
            }
            Refused::Comment => {
                self.ask(Ground::Unreadable, part, "shells differ in whether a comment begins here", effect);
            }
            Refused::Document => {
                let why = "the end of the here-document is ambiguous next to a substitution";
                self.ask(Ground::Unreadable, part, why, effect);
            }
            Refused::Number => self.ask(Ground::Unreadable, part, "the number is too large", effect),
            Refused::Character(c) => {
                let why = format!("it holds the character {}, which hides what it does", c.escape_unicode());
                self.ask(Ground::Disguise, part, &why, effect);
            }
        }
    }
}

/// Puts words together as they are written.
pub(super) fn text_of(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// Cuts a part of a command to what a sentence can hold, without anything that a terminal would obey.
pub(super) fn short(part: &str) -> String {
    let mut chars = part.trim().chars();
    let mut shown = String::new();
    for c in chars.by_ref().take(MOST_SHOWN) {
        match c {
            '\n' | '\t' => shown.push(' '),
            c if fence::is_bad(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}
/// Returns the name of a shell that is where shells are; any other program stands under its whole path.
fn usual_shell(shell: &str) -> &str {
    let (directory, name) = shell.rsplit_once('/').unwrap_or(("/bin", shell));
    if ["/bin", "/usr/bin", "/usr/local/bin"].contains(&directory) { name } else { shell }
}
