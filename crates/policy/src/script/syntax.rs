//! Analyses a parsed script: lists, pipelines and compound commands.

use brush_parser::ast::{
    AndOr, AndOrList, CaseClauseCommand, Command, CompoundCommand, CompoundList, ForClauseCommand,
    FunctionDefinition, IfClauseCommand, Pipeline, Program, RedirectList, SeparatorOperator,
};
use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str};

use crate::decision::BuiltinRule;
use crate::judge::{Function, Grammar, Judge, PipeContent};
use crate::script::parser_limits;
use crate::script::word::{Variable, Word};

impl Judge<'_> {
    /// Analyses a script.
    pub(crate) fn script(&mut self, text: &str, grammar: Grammar) {
        if self.depth >= parser_limits::MAX_DEPTH {
            return self.refused(parser_limits::Refused::TooDeep, text);
        }
        match parse(text) {
            Err(refused) => match refused {
                Some(refused) => self.refused(refused, text),
                None => {
                    self.parsed = false;
                    let why = "the parser does not support this syntax";
                    self.ask(BuiltinRule::Unreadable, text, why, "runs code that cannot be analysed");
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

    /// Analyses a subshell: its changes of state have no effect outside.
    pub(crate) fn isolated(&mut self, inside: impl FnOnce(&mut Self)) {
        let cwd = self.cwd.clone();
        let after_failed_cd = std::mem::take(&mut self.after_failed_cd);
        let input = self.input;
        self.conditionally(inside);
        self.input = input;
        self.cwd = cwd;
        self.after_failed_cd = after_failed_cd;
    }

    /// Analyses a script that another shell runs. Which variables and functions it inherits is not known.
    pub(crate) fn in_child_shell(&mut self, inside: impl FnOnce(&mut Self)) {
        let variables = self.variables.clone();
        let functions = std::mem::take(&mut self.functions);
        for (name, variable) in &mut self.variables {
            // Variables of the call are in the environment of every program.
            if !self.request.env.iter().any(|(given, _)| given == name) {
                *variable = Variable::Unknown;
            }
        }
        self.isolated(inside);
        self.variables = variables;
        self.functions = functions;
    }

    /// Analyses a command that another program runs. It may or may not change the directory of this shell.
    pub(crate) fn in_other_program(&mut self, inside: impl FnOnce(&mut Self)) {
        let before = self.cwd.clone();
        let after_failed_cd = std::mem::take(&mut self.after_failed_cd);
        self.conditionally(inside);
        self.or_in(before);
        self.after_failed_cd = after_failed_cd;
    }

    /// Analyses a part that may not run.
    fn conditionally(&mut self, inside: impl FnOnce(&mut Self)) {
        let known: Vec<String> = self.variables.keys().cloned().collect();
        self.conditions += 1;
        inside(self);
        self.conditions -= 1;
        // A variable that was first set there may be unset here, and an empty value changes a path as well.
        for (name, variable) in &mut self.variables {
            if known.binary_search(name).is_err() {
                *variable = Variable::Unknown;
            }
        }
    }

    pub(crate) fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            match item.1 {
                SeparatorOperator::Async => self.isolated(|judge| judge.and_or(&item.0)),
                SeparatorOperator::Sequence => self.and_or(&item.0),
            }
        }
    }

    fn and_or(&mut self, list: &AndOrList) {
        let outer = std::mem::take(&mut self.after_failed_cd);
        self.pipeline(&list.first);
        for more in &list.additional {
            match more {
                AndOr::And(pipeline) => self.conditionally(|judge| judge.pipeline(pipeline)),
                AndOr::Or(pipeline) => {
                    self.also_in(self.after_failed_cd.clone());
                    self.conditionally(|judge| judge.pipeline(pipeline));
                }
            }
        }
        self.also_in(self.after_failed_cd.clone());
        self.after_failed_cd = outer;
    }

    /// Adds possible current directories.
    fn also_in(&mut self, others: Vec<String>) {
        if self.cwd.is_empty() {
            return;
        }
        for other in others {
            if !self.cwd.contains(&other) {
                self.cwd.push(other);
            }
        }
        // With so many directories the current one counts as unknown.
        if self.cwd.len() > 8 {
            self.cwd.clear();
        }
    }

    /// Merges the possible directories of two branches.
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
        let outer = self.input;
        for command in stages {
            self.output = PipeContent::Unknown;
            self.isolated(|judge| judge.command_node(command));
            self.input = self.output;
        }
        // Some shells run the last stage themselves, so it may change their directory.
        let before = self.cwd.clone();
        self.conditionally(|judge| judge.command_node(last));
        self.or_in(before);
        self.input = outer;
    }

    fn command_node(&mut self, command: &Command) {
        self.output = PipeContent::Unknown;
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

    /// Analyses redirections and the command that they apply to. A file that the redirections write is not code that the
    /// command runs.
    fn with_redirects(&mut self, redirects: Option<&RedirectList>, inside: impl FnOnce(&mut Self)) {
        let (wrote, input) = (self.wrote, self.input);
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, "{}");
        }
        let writes = std::mem::replace(&mut self.wrote, wrote);
        inside(self);
        self.wrote |= writes;
        self.input = input;
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.isolated(|judge| judge.list(&subshell.list)),
            CompoundCommand::Arithmetic(command) => {
                if self.grammar == Grammar::Posix {
                    let part = format!("(({}))", command.expr.value);
                    let why = "bash evaluates this as arithmetic; other shells run it";
                    self.ask(BuiltinRule::UnknownCode, &part, why, "may run commands");
                }
                self.calculation(&command.expr);
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                parts.into_iter().flatten().for_each(|part| self.calculation(part));
                self.repeated(|judge| judge.list(&clause.body.list));
            }
            CompoundCommand::ForClause(clause) => self.for_loop(clause),
            CompoundCommand::CaseClause(clause) => self.conditionally(|judge| judge.case(clause)),
            CompoundCommand::IfClause(clause) => self.conditionally(|judge| judge.condition(clause)),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.repeated(|judge| {
                    judge.list(&clause.0);
                    judge.list(&clause.1.list);
                });
            }
            CompoundCommand::Coprocess(process) => {
                // Shells differ in which word is the name of the coprocess.
                self.unknown_code("coproc", "shells disagree on what a coprocess runs");
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

    /// Analyses a part that may run more than once. If it changes the directory, the next round begins elsewhere.
    fn repeated(&mut self, inside: impl Fn(&mut Self)) {
        self.repeats += 1;
        let (before, wrote) = (self.cwd.clone(), self.wrote);
        self.conditionally(&inside);
        let moved = self.cwd != before;
        if moved || self.wrote != wrote {
            match self.rounds.checked_sub(1) {
                None => self.refused(parser_limits::Refused::TooDeep, "loops inside loops"),
                Some(rounds) => {
                    self.rounds = rounds;
                    if moved {
                        self.cwd.clear();
                    }
                    self.conditionally(&inside);
                }
            }
        }
        self.repeats -= 1;
    }

    fn for_loop(&mut self, clause: &ForClauseCommand) {
        let name = clause.variable_name.as_str();
        self.plain_name(name);
        match &clause.values {
            None => self.assign(name, &Word::unknown("$@"), name),
            Some(values) => {
                for value in values {
                    let words = self.word(&value.value);
                    words.iter().for_each(|word| self.assign(name, word, name));
                }
            }
        }
        self.repeated(|judge| judge.list(&clause.body.list));
        // Without any round it is not set.
        self.variables.insert(name.to_owned(), Variable::Unknown);
    }

    fn function(&mut self, function: &FunctionDefinition) {
        let name = function.fname.value.clone();
        self.plain_name(&name);
        self.with_redirects(function.body.1.as_ref(), |_| ());
        let certain = self.conditions == 0;
        self.functions.push(Function { name, cwd: None, moves: false, certain });
        let at = self.functions.len() - 1;
        let (before, after_failed_cd) = (self.cwd.clone(), self.after_failed_cd.clone());
        self.repeats += 1;
        self.conditionally(|judge| judge.compound(&function.body.0));
        self.repeats -= 1;
        self.deferred = true;
        self.functions[at].moves = self.cwd != before;
        self.functions[at].cwd = Some(before.clone());
        self.cwd = before;
        self.after_failed_cd = after_failed_cd;
    }

    /// Asks about a name with special characters.
    fn plain_name(&mut self, name: &str) {
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:+@".contains(c)) {
            self.ask(BuiltinRule::UnknownCode, name, "this is not a plain name", "may run commands");
        }
    }
}

/// Parses a script; the error is none if the parser refuses it.
pub(crate) fn parse(text: &str) -> Result<Program, Option<parser_limits::Refused>> {
    parser_limits::check_text(text).map_err(Some)?;
    let options = ParserOptions::default();
    let tokens = uncached_tokenize_str(text, &options.tokenizer_options()).map_err(|_| None)?;
    parser_limits::check_tokens(&tokens).map_err(Some)?;
    parse_tokens(&tokens, &options).map_err(|_| None)
}
