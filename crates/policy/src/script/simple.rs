//! Simple commands: their assignments, words and redirections.

use crate::script::variables::is_set_by_shells;
use brush_parser::ast::{
    Assignment, AssignmentName, AssignmentValue, CommandPrefixOrSuffixItem, IoFileRedirectKind,
    IoFileRedirectTarget, IoRedirect, SimpleCommand,
};

use crate::decision::BuiltinRule;
use crate::judge::{Grammar, Judge, PipeContent, text_of};
use crate::script::word::{Context, Read, Variable, Word, read_here, read_value, read_word};

impl Judge<'_> {
    pub(crate) fn simple(&mut self, simple: &SimpleCommand) {
        let mut words = Vec::new();
        let mut outputs_moved = false;
        let before = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let after = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let name = simple.word_or_name.as_ref().map(|word| word.value.as_str());
        let assigns_only = name.is_none();
        let mut redirects = Vec::new();
        for item in before {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                    self.assignment(assignment, &word.value, assigns_only);
                }
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => redirects.push(redirect),
                CommandPrefixOrSuffixItem::Word(word) => words.extend(self.word(&word.value)),
                CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                    self.isolated(|judge| judge.list(&subshell.list));
                }
            }
        }
        if let Some(name) = name {
            words.extend(self.word(name));
        }
        for item in after {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(_, word)
                | CommandPrefixOrSuffixItem::Word(word) => {
                    if outputs_moved && self.grammar == Grammar::Posix {
                        let why = "after `&>` shells other than bash run this as a separate command";
                        self.ask(BuiltinRule::UnknownCode, &word.value, why, "may run another command");
                    }
                    words.extend(self.word(&word.value));
                }
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                    outputs_moved |= matches!(redirect, IoRedirect::OutputAndError(..));
                    redirects.push(redirect);
                }
                CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                    self.isolated(|judge| judge.list(&subshell.list));
                    words.push(Word::plain("/dev/fd/63"));
                }
            }
        }
        let part = text_of(&words);
        // A file that its redirections write is not code that it runs.
        let (wrote, input) = (self.wrote, self.input);
        for redirect in redirects {
            self.redirect(redirect, &part);
        }
        let writes = std::mem::replace(&mut self.wrote, wrote);
        self.output = PipeContent::Unknown;
        self.call(&words);
        self.wrote |= writes;
        self.input = input;
    }

    /// Expands a word, analyses its substitutions, and returns the resulting words.
    pub(crate) fn word(&mut self, raw: &str) -> Vec<Word> {
        self.read_with(raw, read_word)
    }

    fn value(&mut self, raw: &str) -> Word {
        self.read_with(raw, read_value).pop().unwrap_or_else(|| Word::unknown(raw))
    }

    fn read_with(&mut self, raw: &str, reader: fn(&str, &Context<'_>) -> Read) -> Vec<Word> {
        let read = {
            let cwd = match self.cwd.as_slice() {
                [one] => Some(one.as_str()),
                _ => None,
            };
            let home = self.request.home;
            let variables = &self.variables;
            let variable = |name: &str| match (variables.get(name), name, cwd) {
                // The shell itself changes these variables.
                (Some(_), name, _) if is_set_by_shells(name) => Variable::Unknown,
                (Some(known), _, _) => known.clone(),
                (None, "HOME", _) if !home.is_empty() => Variable::Known(vec![home.to_owned()]),
                (None, "PWD", Some(cwd)) => Variable::Known(vec![cwd.to_owned()]),
                (None, _, _) => Variable::Unknown,
            };
            reader(raw, &Context { home, cwd, variable: &variable })
        };
        if let Some(problem) = read.problem {
            self.ask(BuiltinRule::NotLiteral, raw, &format!("it contains {problem}"), "may run commands");
        }
        if read.evaluates {
            self.evaluates(raw);
        }
        self.secret_variables(&read.used, raw);
        self.used.extend(read.used);
        for name in read.assigned {
            self.assign(&name, &Word::unknown(raw), raw);
        }
        let mut words = read.words;
        let mut printed = PipeContent::Unknown;
        for script in &read.scripts {
            let grammar = self.grammar;
            self.output = PipeContent::Unknown;
            self.isolated(|judge| judge.script(script, grammar));
            printed = self.output;
        }
        let inside = raw.trim_matches('"');
        let whole = read.scripts.len() == 1 && inside.starts_with("$(") && inside.ends_with(')');
        if whole && printed != PipeContent::Unknown {
            words.iter_mut().for_each(|word| word.in_project = true);
        }
        for word in &words {
            self.check_for_disguise(word);
        }
        words
    }

    /// Asks about characters that look like others in options, addresses and URLs.
    fn check_for_disguise(&mut self, word: &Word) {
        let values = word.values().unwrap_or_default();
        let trusted = |value: &String| value.starts_with('-') || value.contains("://") || value.contains('@');
        if values.iter().any(|value| trusted(value) && !value.is_ascii()) {
            let why = "it contains characters that look like others";
            let grant = mw_model::Grant::default();
            self.ask_for(BuiltinRule::Disguise, &word.text.clone(), why, "", grant);
        }
    }

    fn assignment(&mut self, assignment: &Assignment, raw: &str, stays: bool) {
        let name = match &assignment.name {
            AssignmentName::VariableName(name) => name.as_str(),
            AssignmentName::ArrayElementName(name, index) => {
                self.index(index, raw);
                name.as_str()
            }
        };
        let values = match &assignment.value {
            AssignmentValue::Scalar(word) => {
                let value = self.value(&word.value);
                // The value before the appended text is unknown.
                if assignment.append { vec![Word::unknown(raw)] } else { vec![value] }
            }
            AssignmentValue::Array(elements) => {
                let mut values = Vec::new();
                for (index, word) in elements {
                    if let Some(index) = index {
                        self.word(&index.value);
                        self.index(&index.value, raw);
                    }
                    values.extend(self.word(&word.value));
                }
                if values.is_empty() { vec![Word::plain("")] } else { values }
            }
        };
        for value in &values {
            self.assign(name, value, raw);
            if !stays {
                // It applies to this command only; in some shells it stays set.
                self.variables.insert(name.to_owned(), Variable::Unknown);
            }
            if stays {
                self.mention_values(value, raw);
            }
        }
    }

    /// Asks about an index of an array, which bash evaluates as arithmetic.
    fn index(&mut self, index: &str, raw: &str) {
        if !index.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.ask(BuiltinRule::UnknownCode, raw, "an array index can run commands", "may run commands");
        } else if !index.bytes().all(|byte| byte.is_ascii_digit()) {
            self.evaluates(raw);
        }
    }

    /// Asks about a text that names a secret, because its later use is unknown.
    pub(crate) fn mention(&mut self, text: &str, part: &str) {
        if text.contains('/') && crate::paths::secret_files::is_secret(text) {
            let why = "it names a path that may contain secrets";
            let effect = format!("may read {text}");
            self.held(BuiltinRule::Secret, part, why, &effect, mw_model::Grant::default());
        }
    }

    /// Asks about each value of a word that names a secret.
    pub(crate) fn mention_values(&mut self, word: &Word, part: &str) {
        for value in word.values().unwrap_or_default() {
            self.mention(value, part);
        }
    }

    pub(crate) fn redirect(&mut self, redirect: &IoRedirect, command: &str) {
        if !is_output(redirect) {
            // Its input no longer comes from the pipe.
            self.input = PipeContent::Unknown;
        }
        match redirect {
            IoRedirect::File(_, kind, target) => self.file_redirect(kind, target, command),
            IoRedirect::OutputAndError(target, appends) => {
                let word = self.value(&target.value);
                let part = format!("&> {}", target.value);
                self.write(&word, &part);
                if !appends {
                    self.empties(&target.value, &part, command);
                }
            }
            IoRedirect::HereString(_, text) => {
                self.value(&text.value);
            }
            IoRedirect::HereDocument(_, document) => {
                if document.requires_expansion {
                    if document.doc.value.contains("\\\n") {
                        // bash joins such lines before it searches for the end, so more text may be code.
                        let why = "a continued line may hide where the document ends";
                        self.ask(BuiltinRule::UnknownCode, &document.doc.value, why, "may run commands");
                    }
                    self.read_with(&document.doc.value, read_here);
                }
            }
        }
    }

    /// Asks about a redirection that empties a file: the command prints nothing.
    fn empties(&mut self, file: &str, part: &str, command: &str) {
        let silent = matches!(command.rsplit(' ').next(), Some("" | ":" | "true"));
        let again = self.is_confined() && self.is_disposable(&Word::plain(file));
        if silent && !file.starts_with("/dev/") && !again {
            self.ask(BuiltinRule::Delete, part, "it empties the file", &format!("empties {file}"));
        }
    }

    fn file_redirect(&mut self, kind: &IoFileRedirectKind, target: &IoFileRedirectTarget, command: &str) {
        let raw = match target {
            IoFileRedirectTarget::Fd(_) => return,
            IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                return self.isolated(|judge| judge.list(&subshell.list));
            }
            IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                word.value.as_str()
            }
        };
        let word = self.value(raw);
        match kind {
            IoFileRedirectKind::Read => self.read(&word, &format!("< {raw}")),
            IoFileRedirectKind::Write | IoFileRedirectKind::Clobber => {
                let part = format!("> {raw}");
                self.write(&word, &part);
                self.empties(raw, &part, command);
            }
            IoFileRedirectKind::Append => self.write(&word, &format!(">> {raw}")),
            IoFileRedirectKind::ReadAndWrite => self.write(&word, &format!("<> {raw}")),
            IoFileRedirectKind::DuplicateInput | IoFileRedirectKind::DuplicateOutput => {
                let number = raw.trim_end_matches('-');
                if !number.bytes().all(|byte| byte.is_ascii_digit()) {
                    self.write(&word, &format!(">& {raw}"));
                }
            }
        }
    }
}

/// Returns whether a redirection only writes.
fn is_output(redirect: &IoRedirect) -> bool {
    match redirect {
        IoRedirect::OutputAndError(..) => true,
        IoRedirect::HereDocument(..) | IoRedirect::HereString(..) => false,
        IoRedirect::File(_, kind, _) => match kind {
            IoFileRedirectKind::Write
            | IoFileRedirectKind::Append
            | IoFileRedirectKind::Clobber
            | IoFileRedirectKind::DuplicateOutput => true,
            IoFileRedirectKind::Read
            | IoFileRedirectKind::ReadAndWrite
            | IoFileRedirectKind::DuplicateInput => false,
        },
    }
}
