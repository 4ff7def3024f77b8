//! A checked rule: which calls and commands it is about.

use mw_model::{Dialect, Grant, Tool};

use super::rule::{Rule, RuleError, RuleOrigin};
use super::rule_grant::RuleGrant;
use crate::decision::Decision;
use crate::mode::Mode;
use crate::names::{self, Names};
use crate::script::word::Word;

/// Stands for any further words.
const REST: &str = "...";

/// Programs whose options may precede a subcommand.
const WITH_SUBCOMMANDS: Names<'_> = Names(
    "
    git cargo npm pnpm yarn bun docker podman kubectl oc gh helm go pip poetry uv terraform systemctl aws gcloud
    az mvn gradle dotnet flutter composer bundle gem brew mw
",
);

/// A checked rule.
#[derive(Debug)]
pub(super) struct CheckedRule {
    pub(super) rule: Rule,
    origin: RuleOrigin,
    words: Vec<String>,
    rest: bool,
    pub(super) grant: Option<Grant>,
}

/// The circumstances of a call, to which a rule may be limited.
#[derive(Clone, Copy)]
pub(crate) struct RuleContext<'a> {
    pub(crate) tool: &'a str,
    pub(crate) mode: Mode,
    pub(crate) dialect: Dialect,
}

impl CheckedRule {
    pub(super) fn check(rule: Rule, origin: RuleOrigin) -> Result<Self, RuleError> {
        let name = || rule.name.clone();
        let unknown = |what, given: &str| RuleError::Unknown { rule: name(), what, name: given.to_owned() };
        if origin == RuleOrigin::Project && rule.decision == Decision::Allow {
            return Err(RuleError::Loosens(name()));
        }
        if let Some(tool) = rule.tool.as_deref().filter(|tool| Tool::named(tool).is_none()) {
            return Err(unknown("tool", tool));
        }
        if let Some(mode) = rule.mode.as_deref().filter(|mode| Mode::named(mode).is_none()) {
            return Err(unknown("mode", mode));
        }
        if let Some(profile) = rule.profile.as_deref().filter(|name| Dialect::of_profile(name).is_none()) {
            return Err(unknown("profile", profile));
        }
        if origin == RuleOrigin::Project && rule.grant.is_some() {
            return Err(RuleError::Grants(name()));
        }
        let grant = rule.grant.as_ref().map(RuleGrant::grant).transpose();
        let grant = grant.map_err(|part| RuleError::Grant { rule: name(), part })?;
        let mut words: Vec<String> = rule.pattern.split_whitespace().map(str::to_owned).collect();
        let rest = words.last().is_some_and(|word| word == REST);
        if rest {
            words.pop();
        }
        if words.is_empty() {
            return Err(RuleError::Empty(name()));
        }
        if words.iter().any(|word| word == REST) {
            return Err(RuleError::RestNotLast(name()));
        }
        let loaded = Self { rule, origin, words, rest, grant };
        let matches = |example: &String| loaded.matches(&example.split_whitespace().collect::<Vec<_>>());
        if let Some(example) = loaded.rule.examples.iter().find(|example| !matches(example)) {
            return Err(RuleError::Example { rule: loaded.rule.name.clone(), example: example.clone() });
        }
        if let Some(example) = loaded.rule.counter_examples.iter().find(|example| matches(example)) {
            return Err(RuleError::CounterExample {
                rule: loaded.rule.name.clone(),
                example: example.clone(),
            });
        }
        Ok(loaded)
    }

    pub(super) fn label(&self) -> String {
        format!("{}:{}", self.origin.word(), self.rule.name)
    }

    pub(super) fn applies(&self, context: RuleContext<'_>) -> bool {
        let is =
            |wanted: &Option<String>, given: &str| wanted.as_deref().is_none_or(|wanted| wanted == given);
        is(&self.rule.tool, context.tool)
            && is(&self.rule.mode, context.mode.name())
            && is(&self.rule.profile, context.dialect.profile())
    }

    /// Returns whether a command may have this number of words.
    fn takes(&self, count: usize) -> bool {
        if self.rest { count >= self.words.len() } else { count == self.words.len() }
    }

    pub(super) fn matches(&self, words: &[&str]) -> bool {
        self.takes(words.len())
            && self.words.iter().zip(words).all(|(pattern, word)| names::matches(pattern, word))
    }

    /// Returns whether a rule that asks or denies may match: any possible value of a word counts, and the directory of
    /// the program does not matter.
    pub(super) fn may_match(&self, words: &[Word]) -> bool {
        self.may_match_words(words) || self.may_match_behind_options(words)
    }

    /// Returns whether the rule may match without the options before the subcommand, such as `-C .` in `git -C . push`. Which
    /// of them takes a value is not known, so each later word may be the subcommand.
    fn may_match_behind_options(&self, words: &[Word]) -> bool {
        let Some((program, rest)) = words.split_first() else { return false };
        let base = program.lit().map_or("", |name| name.rsplit('/').next().unwrap_or(name));
        let is_option = |word: &Word| word.lit().is_none_or(|text| text.starts_with(['-', '+']));
        if !WITH_SUBCOMMANDS.contains(base) || !rest.first().is_some_and(is_option) {
            return false;
        }
        let mut shorter = vec![program.clone()];
        (1..rest.len()).any(|from| {
            shorter.truncate(1);
            shorter.extend_from_slice(&rest[from..]);
            self.may_match_words(&shorter)
        })
    }

    fn may_match_words(&self, words: &[Word]) -> bool {
        let splits = words.iter().any(|word| word.splits && word.known.is_none());
        (self.takes(words.len()) || splits)
            && self.words.iter().zip(words).enumerate().all(|(at, (pattern, word))| match word.values() {
                None => true,
                Some(values) => values.iter().any(|value| {
                    let base = value.rsplit('/').next().unwrap_or(value);
                    names::matches(pattern, value) || (at == 0 && names::matches(pattern, base))
                }),
            })
    }
}
