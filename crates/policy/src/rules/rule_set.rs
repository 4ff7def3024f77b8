//! All rules of the settings.

use mw_model::Grant;

use super::checked_rule::{CheckedRule, RuleContext};
use super::rule::{Rule, RuleError, RuleOrigin};
use crate::decision::Decision;
use crate::script::word::Word;

/// A rule that asks about a command or denies it.
pub(crate) struct Stricter<'a> {
    pub(crate) decision: Decision,
    pub(crate) rule: String,
    pub(crate) reason: &'a str,
    pub(crate) grant: Option<&'a Grant>,
}

/// A rule that allows a command.
pub(crate) struct Allowing<'a> {
    pub(crate) rule: String,
    pub(crate) grant: Option<&'a Grant>,
}

/// Checked rules.
#[derive(Debug, Default)]
pub struct Rules(Vec<CheckedRule>);

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
            let loaded = CheckedRule::check(rule, origin)?;
            self.0.push(loaded);
        }
        Ok(())
    }

    /// Returns the rules that ask about or deny a command: decision, name and reason.
    pub(crate) fn stricter<'a>(
        &'a self,
        words: &'a [Word],
        context: RuleContext<'a>,
    ) -> impl Iterator<Item = Stricter<'a>> {
        let matches = move |loaded: &&CheckedRule| {
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
    pub(crate) fn allowing(&self, words: &[Word], context: RuleContext<'_>) -> Option<Allowing<'_>> {
        let texts: Vec<&str> = words.iter().map(Word::lit).collect::<Option<_>>()?;
        let matches = |loaded: &&CheckedRule| {
            loaded.rule.decision == Decision::Allow && loaded.applies(context) && loaded.matches(&texts)
        };
        let loaded = self.0.iter().find(matches)?;
        Some(Allowing { rule: loaded.label(), grant: loaded.grant.as_ref() })
    }
}

#[cfg(test)]
mod tests {
    use mw_model::Dialect;

    use super::*;
    use crate::mode::Mode;
    use crate::rules::RuleGrant;

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
