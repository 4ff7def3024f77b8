//! Rules that people add.
//!
//! A rule names commands by their words. `*` in a word stands for any characters, and a last word `...` for any
//! further words. A rule that allows takes back what the built-in rules ask about, for exactly the commands it
//! fits; one that asks or denies adds to them. The strictest wins.

use mw_model::{Dialect, Tool};
use serde::Deserialize;

use super::decision::Decision;
use super::glob;
use super::mode::Mode;
use super::word::Word;

/// Stands for any further words.
const REST: &str = "...";

/// A rule as it is written in a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it is called.
    pub name: String,
    /// The words of the command, such as `git push origin ...`.
    #[serde(rename = "match")]
    pub pattern: String,
    /// What it decides.
    pub decision: Decision,
    /// The reason, shown with the decision.
    #[serde(default)]
    pub reason: String,
    /// The tool it holds for; every one when there is none.
    #[serde(default)]
    pub tool: Option<String>,
    /// The mode it holds in.
    #[serde(default)]
    pub mode: Option<String>,
    /// The profile it holds for.
    #[serde(default)]
    pub profile: Option<String>,
    /// Commands it must fit.
    #[serde(default)]
    pub examples: Vec<String>,
    /// Commands it must not fit.
    #[serde(default)]
    pub counter_examples: Vec<String>,
}

/// Whose rule it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleOrigin {
    /// The user's own.
    User,
    /// The project's, which may only tighten.
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
    /// It fits nothing.
    #[error("rule {0:?}: its match has no words; write for example `git push ...`")]
    Empty(String),
    /// `...` stands elsewhere.
    #[error("rule {0:?}: `...` stands for all further words and must be the last")]
    RestNotLast(String),
    /// There is no such tool, mode or profile.
    #[error("rule {rule:?}: there is no {what} {name:?}")]
    Unknown {
        /// The rule.
        rule: String,
        /// What there is none of.
        what: &'static str,
        /// The name given.
        name: String,
    },
    /// A project's rule allows something.
    #[error("rule {0:?}: a project may ask and deny, and only the user may allow")]
    Loosens(String),
    /// An example that the rule does not fit.
    #[error("rule {rule:?} does not fit its example {example:?}")]
    Example {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
    },
    /// A counter-example that the rule fits.
    #[error("rule {rule:?} fits its counter-example {example:?}")]
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
}

/// Rules that were checked.
#[derive(Debug, Default)]
pub struct Rules(Vec<Loaded>);

/// Where a rule is to hold.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
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

    /// Adds rules after their examples were tried.
    ///
    /// # Errors
    /// Names the first rule that cannot be used, and the example that shows it.
    pub fn add(&mut self, rules: Vec<Rule>, origin: RuleOrigin) -> Result<(), RuleError> {
        for rule in rules {
            let loaded = Loaded::check(rule, origin)?;
            self.0.push(loaded);
        }
        Ok(())
    }

    /// Returns what asks about or denies a command: the decision, the rule and why.
    pub(super) fn stricter<'a>(
        &'a self,
        words: &'a [Word],
        scene: Scene<'a>,
    ) -> impl Iterator<Item = (Decision, String, &'a str)> {
        let fits = move |loaded: &&Loaded| {
            loaded.rule.decision != Decision::Allow && loaded.holds(scene) && loaded.may_fit(words)
        };
        self.0
            .iter()
            .filter(fits)
            .map(|loaded| (loaded.rule.decision, loaded.label(), loaded.rule.reason.as_str()))
    }

    /// Returns the rule that allows a command, if there is one.
    pub(super) fn allowing(&self, words: &[Word], scene: Scene<'_>) -> Option<String> {
        let texts: Vec<&str> = words.iter().map(Word::lit).collect::<Option<_>>()?;
        let fits = |loaded: &&Loaded| {
            loaded.rule.decision == Decision::Allow && loaded.holds(scene) && loaded.fits(&texts)
        };
        self.0.iter().find(fits).map(Loaded::label)
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
        let loaded = Self { rule, origin, words, rest };
        let fits = |example: &String| loaded.fits(&example.split_whitespace().collect::<Vec<_>>());
        if let Some(example) = loaded.rule.examples.iter().find(|example| !fits(example)) {
            return Err(RuleError::Example { rule: loaded.rule.name.clone(), example: example.clone() });
        }
        if let Some(example) = loaded.rule.counter_examples.iter().find(|example| fits(example)) {
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

    fn holds(&self, scene: Scene<'_>) -> bool {
        let is =
            |wanted: &Option<String>, given: &str| wanted.as_deref().is_none_or(|wanted| wanted == given);
        is(&self.rule.tool, scene.tool)
            && is(&self.rule.mode, scene.mode.name())
            && is(&self.rule.profile, scene.dialect.profile())
    }

    fn fits(&self, words: &[&str]) -> bool {
        let long_enough =
            if self.rest { words.len() >= self.words.len() } else { words.len() == self.words.len() };
        long_enough && self.words.iter().zip(words).all(|(pattern, word)| glob::fits(pattern, word))
    }

    /// The same for a rule that tightens: what a word can be counts, and a program's directory does not.
    fn may_fit(&self, words: &[Word]) -> bool {
        let long_enough =
            if self.rest { words.len() >= self.words.len() } else { words.len() == self.words.len() };
        let splits = words.iter().any(|word| word.splits && word.known.is_none());
        (long_enough || splits)
            && self.words.iter().zip(words).enumerate().all(|(at, (pattern, word))| match word.values() {
                None => true,
                Some(values) => values.iter().any(|value| {
                    let base = value.rsplit('/').next().unwrap_or(value);
                    glob::fits(pattern, value) || (at == 0 && glob::fits(pattern, base))
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

    const SCENE: Scene<'_> = Scene { tool: "shell", mode: Mode::Safe, dialect: Dialect::Canonical };

    #[test]
    fn a_rule_fits_whole_words() {
        let rules = loaded(rule("git push origin ...", Decision::Allow)).unwrap();
        let allows = |text: &str| rules.allowing(&words(text), SCENE).is_some();
        assert!(allows("git push origin"));
        assert!(allows("git push origin main"));
        assert!(!allows("git push upstream"));
        assert!(!allows("git push"));
        assert!(!allows("/tmp/git push origin"));
        let rules = loaded(rule("npm run build:*", Decision::Allow)).unwrap();
        assert!(rules.allowing(&words("npm run build:web"), SCENE).is_some());
        assert!(rules.allowing(&words("npm run build:web x"), SCENE).is_none());
    }

    #[test]
    fn a_rule_that_tightens_sees_through_the_directory_and_unknown_words() {
        let rules = loaded(rule("rm -rf ...", Decision::Deny)).unwrap();
        let denies = |words: &[Word]| rules.stricter(words, SCENE).count() == 1;
        assert!(denies(&words("/bin/rm -rf x")));
        assert!(denies(&[Word::plain("rm"), Word::open("$x")]));
        assert!(!denies(&words("rm x")));
    }

    #[test]
    fn examples_are_tried_on_load() {
        let mut wrong = rule("git push ...", Decision::Ask);
        wrong.examples = vec!["git push".to_owned(), "git pull".to_owned()];
        let told = loaded(wrong.clone()).err().unwrap().to_string();
        assert_eq!(told, "rule \"r\" does not fit its example \"git pull\"");
        wrong.examples.clear();
        wrong.counter_examples = vec!["git push x".to_owned()];
        let told = loaded(wrong).err().unwrap().to_string();
        assert_eq!(told, "rule \"r\" fits its counter-example \"git push x\"");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        assert!(matches!(loaded(rule(" ", Decision::Ask)), Err(RuleError::Empty(_))));
        assert!(matches!(loaded(rule("...", Decision::Ask)), Err(RuleError::Empty(_))));
        assert!(matches!(loaded(rule("a ... b", Decision::Ask)), Err(RuleError::RestNotLast(_))));
        let unknown = Rule { mode: Some("yolo".to_owned()), ..rule("a", Decision::Ask) };
        assert!(matches!(loaded(unknown), Err(RuleError::Unknown { what: "mode", .. })));
        let loosens = Rules::none().add(vec![rule("a", Decision::Allow)], RuleOrigin::Project);
        assert!(matches!(loosens, Err(RuleError::Loosens(_))));
    }
}
