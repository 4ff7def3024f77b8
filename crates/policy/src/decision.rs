//! Decisions and their reasons.

use std::fmt;

use mw_model::Grant;
use serde::{Deserialize, Serialize};

/// A decision about a call, in order of strictness. The strictest decision wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The command may run.
    Allow,
    /// The command needs approval.
    Ask,
    /// The command is refused.
    Deny,
}

impl Decision {
    /// Returns its name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A built-in rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuiltinRule {
    /// The table of tools and modes.
    ToolMode,
    /// The command cannot be parsed.
    Unreadable,
    /// The command is too long or too deeply nested.
    TooLong,
    /// Files are deleted or emptied.
    Delete,
    /// Disks, the machine or its services are changed.
    Destroy,
    /// A file outside the project is written.
    WriteOutside,
    /// A file that controls other programs is written: hooks, settings.
    WriteProtected,
    /// Data is sent to another machine, or fetched into a file.
    Network,
    /// Code runs whose content is not known.
    UnknownCode,
    /// An unknown program runs.
    UnknownProgram,
    /// A decisive value is known only at run time.
    NotLiteral,
    /// A variable is set that changes what programs do.
    Variable,
    /// A secret may be read.
    Secret,
    /// A command runs as another user, or changes permissions.
    OtherUser,
    /// Processes are ended.
    Kill,
    /// Software is installed or removed.
    Install,
    /// The history or state of a repository is changed.
    Repository,
    /// The command has characters that look like others or that a terminal hides.
    Disguise,
    /// Code whose effects are unknown would get the network or secrets, which another part of the command needs.
    Combination,
}

impl BuiltinRule {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::ToolMode => "tool-mode",
            Self::Unreadable => "unreadable",
            Self::TooLong => "too-long",
            Self::Delete => "delete",
            Self::Destroy => "destroy",
            Self::WriteOutside => "write-outside",
            Self::WriteProtected => "write-protected",
            Self::Network => "network",
            Self::UnknownCode => "unknown-code",
            Self::UnknownProgram => "unknown-program",
            Self::NotLiteral => "not-literal",
            Self::Variable => "variable",
            Self::Secret => "secret",
            Self::OtherUser => "other-user",
            Self::Kill => "kill",
            Self::Install => "install",
            Self::Repository => "repository",
            Self::Disguise => "disguise",
            Self::Combination => "combination",
        }
    }
}

/// A reason why a call was not allowed at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The part of the command that it is about.
    pub part: String,
    /// The reason.
    pub why: String,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.part.is_empty() { f.write_str(&self.why) } else { write!(f, "`{}`: {}", self.part, self.why) }
    }
}

/// A decision, with what a person needs to know to approve or deny the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// The reasons, each with the part of the command that it is about; empty if the call is allowed.
    pub reasons: Vec<Reason>,
    /// The effects, in words.
    pub effects: Vec<String>,
    /// The rules that matched: built-in ones by name, others as `user:NAME` and `project:NAME`.
    pub rules: Vec<String>,
    /// Whether the whole command could be parsed.
    pub parsed: bool,
    /// What the command may do: if it is allowed, or if a person approves it.
    pub grant: Grant,
}

/// What a finding means for the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// It needs approval.
    Asks,
    /// It needs approval unless the kernel holds the command to its grant: the effects of this part are not known.
    Held,
    /// It needs no approval. Code of the project runs, and what it does is not known.
    Code,
}

/// A finding about a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) weight: Weight,
    pub(super) builtin: BuiltinRule,
    pub(super) reason: Reason,
    /// The effect; empty if the reason is enough.
    pub(super) effect: String,
    /// What an approval adds to the grant.
    pub(super) grant: Grant,
    /// Whether a rule of the user allows it.
    pub(super) excused: bool,
}
