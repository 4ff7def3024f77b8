//! Rules in settings.
//!
//! A rule matches commands by their words. `*` in a word stands for any characters, and a last word `...` for any
//! further words. A rule that allows a command removes the findings of the built-in rules for it. A rule that asks or
//! denies adds a decision, and the strictest decision wins.

use mw_model::{Dialect, Grant, Tool};
use serde::Deserialize;

use super::decision::Decision;
use super::mode::Mode;
use super::names::{self, Names};
use super::rule_grant::RuleGrant;
use crate::script::word::Word;

/// Stands for any further words.
const REST: &str = "...";

/// A rule, as written in a settings file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// The words of the command, such as `git push origin ...`.
    #[serde(rename = "match")]
    pub pattern: String,
    /// The decision.
    pub decision: Decision,
    /// The reason, shown with the decision.
    #[serde(default)]
    pub reason: String,
    /// The tool to which it applies; absent = every tool.
    #[serde(default)]
    pub tool: Option<String>,
    /// The mode in which it applies; absent = every mode.
    #[serde(default)]
    pub mode: Option<String>,
    /// The profile to which it applies; absent = every profile.
    #[serde(default)]
    pub profile: Option<String>,
    /// What a command that it allows may do, or what a yes to its question gives; absent = what the command seems to need.
    #[serde(default)]
    pub grant: Option<RuleGrant>,
    /// Commands that it must match.
    #[serde(default)]
    pub examples: Vec<String>,
    /// Commands that it must not match.
    #[serde(default)]
    pub counter_examples: Vec<String>,
}

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleOrigin {
    /// The settings of the user.
    User,
    /// The settings of the project, which may only be stricter.
    Project,
}

impl RuleOrigin {
    const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// A rule that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// It has no words.
    #[error("rule {0:?}: `match` is empty; write, for example, `git push ...`")]
    Empty(String),
    /// `...` is not the last word.
    #[error("rule {0:?}: `...` stands for all further words and must be the last")]
    RestNotLast(String),
    /// There is no such tool, mode or profile.
    #[error("rule {rule:?}: there is no {what} {name:?}")]
    Unknown {
        /// The rule.
        rule: String,
        /// What is unknown: a tool, a mode or a profile.
        what: &'static str,
        /// The name given.
        name: String,
    },
    /// The grant has a word that means nothing, or a path that is not absolute.
    #[error(
        "rule {rule:?}: the grant has no part {part:?}; write, for example, `project+network`, or absolute paths"
    )]
    Grant {
        /// The rule.
        rule: String,
        /// The part.
        part: String,
    },
    /// A rule of a project grants something.
    #[error("rule {0:?}: only the user's rules can grant something")]
    Grants(String),
    /// A rule of a project allows a command.
    #[error("rule {0:?}: a rule of a project can only ask or deny; only the user's rules can allow")]
    Loosens(String),
    /// The rule does not match one of its examples.
    #[error("rule {rule:?} does not match its example {example:?}")]
    Example {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
    },
    /// The rule matches one of its counter-examples.
    #[error("rule {rule:?} matches its counter-example {example:?}")]
    CounterExample {
        /// The rule.
        rule: String,
        /// The counter-example.
        example: String,
    },
}

#[derive(Debug)]
struct Loaded {
    rule: Rule,
    origin: RuleOrigin,
    words: Vec<String>,
    rest: bool,
    grant: Option<Grant>,
}

/// A rule that asks about a command or denies it.
pub(super) struct Stricter<'a> {
    pub(super) decision: Decision,
    pub(super) rule: String,
    pub(super) reason: &'a str,
    pub(super) grant: Option<&'a Grant>,
}

/// A rule that allows a command.
pub(super) struct Allowing<'a> {
    pub(super) rule: String,
    pub(super) grant: Option<&'a Grant>,
}

/// Programs whose options may precede a subcommand.
const WITH_SUBCOMMANDS: Names<'_> = Names(
    "
    git cargo npm pnpm yarn bun docker podman kubectl oc gh helm go pip poetry uv terraform systemctl aws gcloud
    az mvn gradle dotnet flutter composer bundle gem brew mw
",
);

/// Checked rules.
#[derive(Debug, Default)]
pub struct Rules(Vec<Loaded>);

/// The circumstances of a call, to which a rule may be limited.
#[derive(Clone, Copy)]
pub(super) struct RuleContext<'a> {
    pub(super) tool: &'a str,
    pub(super) mode: Mode,
    pub(super) dialect: Dialect,
}

impl Rules {
    /// Returns no rules.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Checks rules with their examples, and adds them.
    ///
    /// # Errors
    /// When a rule cannot be used; the error names the first one.
    pub fn add(&mut self, rules: Vec<Rule>, origin: RuleOrigin) -> Result<(), RuleError> {
        for rule in rules {
            let loaded = Loaded::check(rule, origin)?;
            self.0.push(loaded);
        }
        Ok(())
    }

    /// Returns the rules that ask about or deny a command: decision, name and reason.
    pub(super) fn stricter<'a>(
        &'a self,
        words: &'a [Word],
        context: RuleContext<'a>,
    ) -> impl Iterator<Item = Stricter<'a>> {
        let matches = move |loaded: &&Loaded| {
            loaded.rule.decision != Decision::Allow && loaded.applies(context) && loaded.may_match(words)
        };
        self.0.iter().filter(matches).map(|loaded| Stricter {
            decision: loaded.rule.decision,
            rule: loaded.label(),
            reason: &loaded.rule.reason,
            grant: loaded.grant.as_ref(),
        })
    }

    /// Returns the rule that allows a command, if there is one.
    pub(super) fn allowing(&self, words: &[Word], context: RuleContext<'_>) -> Option<Allowing<'_>> {
        let texts: Vec<&str> = words.iter().map(Word::lit).collect::<Option<_>>()?;
        let matches = |loaded: &&Loaded| {
            loaded.rule.decision == Decision::Allow && loaded.applies(context) && loaded.matches(&texts)
        };
        let loaded = self.0.iter().find(matches)?;
        Some(Allowing { rule: loaded.label(), grant: loaded.grant.as_ref() })
    }
}

impl Loaded {
    fn check(rule: Rule, origin: RuleOrigin) -> Result<Self, RuleError> {
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

    fn label(&self) -> String {
        format!("{}:{}", self.origin.word(), self.rule.name)
    }

    fn applies(&self, context: RuleContext<'_>) -> bool {
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

    fn matches(&self, words: &[&str]) -> bool {
        self.takes(words.len())
            && self.words.iter().zip(words).all(|(pattern, word)| names::matches(pattern, word))
    }

    /// Returns whether a rule that asks or denies may match: any possible value of a word counts, and the directory of
    /// the program does not matter.
    fn may_match(&self, words: &[Word]) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(pattern: &str, decision: Decision) -> Rule {
        Rule {
            name: "r".to_owned(),
            pattern: pattern.to_owned(),
            decision,
            reason: String::new(),
            tool: None,
            mode: None,
            profile: None,
            grant: None,
            examples: Vec::new(),
            counter_examples: Vec::new(),
        }
    }

    fn loaded(rule: Rule) -> Result<Rules, RuleError> {
        let mut rules = Rules::none();
        rules.add(vec![rule], RuleOrigin::User)?;
        Ok(rules)
    }

    fn words(text: &str) -> Vec<Word> {
        text.split_whitespace().map(Word::plain).collect()
    }

    const CONTEXT: RuleContext<'_> =
        RuleContext { tool: "shell", mode: Mode::Safe, dialect: Dialect::Canonical };

    #[test]
    fn a_rule_matches_whole_words() {
        let rules = loaded(rule("git push origin ...", Decision::Allow)).unwrap();
        let allows = |text: &str| rules.allowing(&words(text), CONTEXT).is_some();
        assert!(allows("git push origin"));
        assert!(allows("git push origin main"));
        assert!(!allows("git push upstream"));
        assert!(!allows("git push"));
        assert!(!allows("/tmp/git push origin"));
        let rules = loaded(rule("npm run build:*", Decision::Allow)).unwrap();
        assert!(rules.allowing(&words("npm run build:web"), CONTEXT).is_some());
        assert!(rules.allowing(&words("npm run build:web x"), CONTEXT).is_none());
    }

    #[test]
    fn a_deny_rule_matches_any_program_directory_and_unknown_words() {
        let rules = loaded(rule("rm -rf ...", Decision::Deny)).unwrap();
        let denies = |words: &[Word]| rules.stricter(words, CONTEXT).count() == 1;
        assert!(denies(&words("/bin/rm -rf x")));
        assert!(denies(&[Word::plain("rm"), Word::unknown("$x")]));
        assert!(!denies(&words("rm x")));
    }

    #[test]
    fn a_deny_rule_about_a_subcommand_matches_behind_options_of_the_program() {
        let rules = loaded(rule("git push ...", Decision::Deny)).unwrap();
        let denies = |text: &str| rules.stricter(&words(text), CONTEXT).count() == 1;
        for text in [
            "git -C . push",
            "git -c a=b -C x push origin",
            "git --no-pager push",
            "/usr/bin/git --git-dir .git push",
        ] {
            assert!(denies(text), "{text}");
        }
        assert!(!denies("git -C . status") && !denies("git stash push") && !denies("echo -n git push"));
        let rules = loaded(rule("cargo publish", Decision::Deny)).unwrap();
        assert_eq!(rules.stricter(&words("cargo +nightly publish"), CONTEXT).count(), 1);
    }

    #[test]
    fn the_grant_of_a_rule_is_checked_on_load() {
        let granting = |words: &str| Rule {
            grant: Some(RuleGrant::Words(words.to_owned())),
            ..rule("terraform plan ...", Decision::Allow)
        };
        let rules = loaded(granting("project+network")).unwrap();
        let found = rules.allowing(&words("terraform plan"), CONTEXT).unwrap();
        assert_eq!(found.grant.map(|grant| grant.network), Some(mw_model::NetworkGrant::Full));
        let message = loaded(granting("project+internet")).err().unwrap().to_string();
        assert!(message.contains("no part \"internet\""), "{message}");
        let asks = Rule { decision: Decision::Ask, ..granting("project") };
        let refused = Rules::none().add(vec![asks], RuleOrigin::Project);
        assert!(matches!(refused, Err(RuleError::Grants(_))));
    }

    #[test]
    fn examples_and_counter_examples_are_checked_on_load() {
        let mut wrong = rule("git push ...", Decision::Ask);
        wrong.examples = vec!["git push".to_owned(), "git pull".to_owned()];
        let message = loaded(wrong.clone()).err().unwrap().to_string();
        assert_eq!(message, "rule \"r\" does not match its example \"git pull\"");
        wrong.examples.clear();
        wrong.counter_examples = vec!["git push x".to_owned()];
        let message = loaded(wrong).err().unwrap().to_string();
        assert_eq!(message, "rule \"r\" matches its counter-example \"git push x\"");
    }

    #[test]
    fn invalid_rules_are_refused() {
        assert!(matches!(loaded(rule(" ", Decision::Ask)), Err(RuleError::Empty(_))));
        assert!(matches!(loaded(rule("...", Decision::Ask)), Err(RuleError::Empty(_))));
        assert!(matches!(loaded(rule("a ... b", Decision::Ask)), Err(RuleError::RestNotLast(_))));
        let unknown = Rule { mode: Some("yolo".to_owned()), ..rule("a", Decision::Ask) };
        assert!(matches!(loaded(unknown), Err(RuleError::Unknown { what: "mode", .. })));
        let loosens = Rules::none().add(vec![rule("a", Decision::Allow)], RuleOrigin::Project);
        assert!(matches!(loosens, Err(RuleError::Loosens(_))));
    }
}
