//! Walks through a parsed script: lists, pipelines, compound commands.

use brush_parser::ast::{
    AndOr, AndOrList, CaseClauseCommand, Command, CompoundCommand, CompoundList, ForClauseCommand,
    FunctionDefinition, IfClauseCommand, Pipeline, Program, RedirectList, SeparatorOperator,
};
use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str};

use super::decision::Ground;
use super::fence;
use super::judge::{Feed, Function, Grammar, Judge};
use super::word::{Variable, Word};

impl Judge<'_> {
    /// Judges a script.
    pub(super) fn script(&mut self, text: &str, grammar: Grammar) {
        if self.depth >= fence::MOST_DEPTH {
            return self.refused(fence::Refused::TooDeep, text);
        }
        match parse(text) {
            Err(refused) => match refused {
                Some(refused) => self.refused(refused, text),
                None => {
                    self.parsed = false;
                    let why = "the shell's grammar does not read this";
                    self.ask(Ground::Unreadable, text, why, "runs code that cannot be judged");
                }
            },
            Ok(program) => {
                let outer = std::mem::replace(&mut self.grammar, grammar);
                self.depth += 1;
                for list in &program.complete_commands {
                    self.list(list);
                }
                self.depth -= 1;
                self.grammar = outer;
            }
        }
    }

    /// Judges what runs in a shell of its own: whatever it changes stays there.
    pub(super) fn isolated(&mut self, inside: impl FnOnce(&mut Self)) {
        let cwd = self.cwd.clone();
        let missed = std::mem::take(&mut self.missed);
        let feed = self.feed;
        self.perhaps(inside);
        self.feed = feed;
        self.cwd = cwd;
        self.missed = missed;
    }

    /// Judges what another program runs: it should not move this shell, and may.
    pub(super) fn elsewhere(&mut self, inside: impl FnOnce(&mut Self)) {
        let before = self.cwd.clone();
        let missed = std::mem::take(&mut self.missed);
        self.perhaps(inside);
        self.or_in(before);
        self.missed = missed;
    }

    /// Judges what may not run, or not here.
    fn perhaps(&mut self, inside: impl FnOnce(&mut Self)) {
        let known: Vec<String> = self.variables.keys().cloned().collect();
        self.conditions += 1;
        inside(self);
        self.conditions -= 1;
        // What was set there for the first time may not be set here, and nothing at all is a path's beginning too.
        for (name, variable) in &mut self.variables {
            if known.binary_search(name).is_err() {
                *variable = Variable::Unknown;
            }
        }
    }

    pub(super) fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            match item.1 {
                SeparatorOperator::Async => self.isolated(|judge| judge.and_or(&item.0)),
                SeparatorOperator::Sequence => self.and_or(&item.0),
            }
        }
    }

    fn and_or(&mut self, list: &AndOrList) {
        let outer = std::mem::take(&mut self.missed);
        self.pipeline(&list.first);
        for more in &list.additional {
            match more {
                AndOr::And(pipeline) => self.perhaps(|judge| judge.pipeline(pipeline)),
                AndOr::Or(pipeline) => {
                    self.also_in(self.missed.clone());
                    self.perhaps(|judge| judge.pipeline(pipeline));
                }
            }
        }
        self.also_in(self.missed.clone());
        self.missed = outer;
    }

    /// Notes that it may be in these directories too.
    fn also_in(&mut self, others: Vec<String>) {
        if self.cwd.is_empty() {
            return;
        }
        for other in others {
            if !self.cwd.contains(&other) {
                self.cwd.push(other);
            }
        }
        // So many places are as good as anywhere.
        if self.cwd.len() > 8 {
            self.cwd.clear();
        }
    }

    /// Joins the places of two ways through a script.
    fn or_in(&mut self, other: Vec<String>) {
        if other.is_empty() {
            self.cwd.clear();
        } else {
            self.also_in(other);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if let [one] = pipeline.seq.as_slice() {
            return self.command_node(one);
        }
        let Some((last, stages)) = pipeline.seq.split_last() else { return };
        let outer = self.feed;
        for command in stages {
            self.output = Feed::Unknown;
            self.isolated(|judge| judge.command_node(command));
            self.feed = self.output;
        }
        // Some shells run the last stage themselves, so that it may move them.
        let before = self.cwd.clone();
        self.perhaps(|judge| judge.command_node(last));
        self.or_in(before);
        self.feed = outer;
    }

    fn command_node(&mut self, command: &Command) {
        self.output = Feed::Unknown;
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.with_redirects(redirects.as_ref(), |judge| judge.compound(compound));
            }
            Command::Function(function) => self.function(function),
            Command::ExtendedTest(test, redirects) => {
                self.with_redirects(redirects.as_ref(), |judge| judge.extended_test(&test.expr));
            }
        }
    }

    /// Judges redirections and what runs behind them; what it prints into a file is no code that it runs.
    fn with_redirects(&mut self, redirects: Option<&RedirectList>, inside: impl FnOnce(&mut Self)) {
        let (wrote, feed) = (self.wrote, self.feed);
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, "{}");
        }
        let writes = std::mem::replace(&mut self.wrote, wrote);
        inside(self);
        self.wrote |= writes;
        self.feed = feed;
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.isolated(|judge| judge.list(&subshell.list)),
            CompoundCommand::Arithmetic(command) => {
                if self.grammar == Grammar::Posix {
                    let part = format!("(({}))", command.expr.value);
                    let why = "bash calculates here, and other shells run it";
                    self.ask(Ground::UnknownCode, &part, why, "may run commands");
                }
                self.calculation(&command.expr);
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                parts.into_iter().flatten().for_each(|part| self.calculation(part));
                self.repeated(|judge| judge.list(&clause.body.list));
            }
            CompoundCommand::ForClause(clause) => self.for_loop(clause),
            CompoundCommand::CaseClause(clause) => self.perhaps(|judge| judge.case(clause)),
            CompoundCommand::IfClause(clause) => self.perhaps(|judge| judge.condition(clause)),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.repeated(|judge| {
                    judge.list(&clause.0);
                    judge.list(&clause.1.list);
                });
            }
            CompoundCommand::Coprocess(process) => {
                // Shells differ in which word is its name and which its command.
                self.unknown_code("coproc", "shells differ in what a coprocess runs");
                self.isolated(|judge| judge.command_node(&process.body));
            }
        }
    }

    fn case(&mut self, clause: &CaseClauseCommand) {
        self.word(&clause.value.value);
        let before = self.cwd.clone();
        for case in &clause.cases {
            case.patterns.iter().for_each(|pattern| {
                self.word(&pattern.value);
            });
            if let Some(list) = &case.cmd {
                self.list(list);
                self.or_in(before.clone());
            }
        }
    }

    fn condition(&mut self, clause: &IfClauseCommand) {
        self.list(&clause.condition);
        let before = self.cwd.clone();
        self.list(&clause.then);
        for part in clause.elses.iter().flatten() {
            self.or_in(before.clone());
            if let Some(condition) = &part.condition {
                self.list(condition);
            }
            self.list(&part.body);
        }
        self.or_in(before);
    }

    /// Judges what may run more than once: if it moves, the next time it starts elsewhere.
    fn repeated(&mut self, inside: impl Fn(&mut Self)) {
        self.repeats += 1;
        let (before, wrote) = (self.cwd.clone(), self.wrote);
        self.perhaps(&inside);
        let moved = self.cwd != before;
        if moved || self.wrote != wrote {
            match self.rounds.checked_sub(1) {
                None => self.refused(fence::Refused::TooDeep, "loops inside loops"),
                Some(rounds) => {
                    self.rounds = rounds;
                    if moved {
                        self.cwd.clear();
                    }
                    self.perhaps(&inside);
                }
            }
        }
        self.repeats -= 1;
    }

    fn for_loop(&mut self, clause: &ForClauseCommand) {
        let name = clause.variable_name.as_str();
        self.plain_name(name);
        match &clause.values {
            None => self.assign(name, &Word::open("$@"), name),
            Some(values) => {
                for value in values {
                    let words = self.word(&value.value);
                    words.iter().for_each(|word| self.assign(name, word, name));
                }
            }
        }
        self.repeated(|judge| judge.list(&clause.body.list));
        // Without a single round it was never set.
        self.variables.insert(name.to_owned(), Variable::Unknown);
    }

    fn function(&mut self, function: &FunctionDefinition) {
        let name = function.fname.value.clone();
        self.plain_name(&name);
        self.with_redirects(function.body.1.as_ref(), |_| ());
        let certain = self.conditions == 0;
        self.functions.push(Function { name, cwd: None, moves: false, certain });
        let at = self.functions.len() - 1;
        let (before, missed) = (self.cwd.clone(), self.missed.clone());
        self.repeats += 1;
        self.perhaps(|judge| judge.compound(&function.body.0));
        self.repeats -= 1;
        self.deferred = true;
        self.functions[at].moves = self.cwd != before;
        self.functions[at].cwd = Some(before.clone());
        self.cwd = before;
        self.missed = missed;
    }

    /// Asks about a name that is more than a name.
    fn plain_name(&mut self, name: &str) {
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:+@".contains(c)) {
            self.ask(Ground::UnknownCode, name, "this is no plain name", "may run commands");
        }
    }
}

/// Parses a script; the error is none when it is the grammar that refuses.
pub(super) fn parse(text: &str) -> Result<Program, Option<fence::Refused>> {
    fence::check_text(text).map_err(Some)?;
    let options = ParserOptions::default();
    let tokens = uncached_tokenize_str(text, &options.tokenizer_options()).map_err(|_| None)?;
    fence::check_tokens(&tokens).map_err(Some)?;
    parse_tokens(&tokens, &options).map_err(|_| None)
}
