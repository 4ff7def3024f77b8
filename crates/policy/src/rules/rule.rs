//! A rule as it is written, and why it may be refused.

use serde::Deserialize;

use super::rule_grant::RuleGrant;
use crate::decision::Decision;

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
    /// What a command that it allows may do, or what an approval gives if it asks; absent = what the command seems to need.
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
    pub(super) const fn word(self) -> &'static str {
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
