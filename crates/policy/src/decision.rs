//! What was decided, and why.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What may happen to a call; the later the stricter, and the strictest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It runs.
    Allow,
    /// Somebody has to say yes first.
    Ask,
    /// It does not run.
    Deny,
}

impl Decision {
    /// Returns the word for it.
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

/// The built-in rule on which something is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ground {
    /// The table of tools and modes.
    ToolMode,
    /// The command could not be read.
    Unreadable,
    /// The command is too long or too deep to be judged.
    TooLong,
    /// Files are deleted or emptied.
    Delete,
    /// Disks, the machine or its services are changed.
    Destroy,
    /// Something is written outside the project.
    WriteOutside,
    /// Something is written where it would be obeyed later: hooks, settings.
    WriteProtected,
    /// Something is sent out, or fetched into a file.
    Network,
    /// Code runs whose content is not visible here.
    UnknownCode,
    /// A program runs that is not known.
    UnknownProgram,
    /// What decides is known only once it runs.
    NotLiteral,
    /// A variable is set that changes what programs do.
    Variable,
    /// A secret is read.
    Secret,
    /// Something runs with the rights of somebody else.
    OtherUser,
    /// Processes are ended.
    Kill,
    /// Software is installed or removed.
    Install,
    /// History or state of a repository is changed.
    Repository,
    /// Characters that look like others, or that a terminal would hide.
    Disguise,
}

impl Ground {
    /// Every built-in rule.
    pub const ALL: [Self; 18] = [
        Self::ToolMode,
        Self::Unreadable,
        Self::TooLong,
        Self::Delete,
        Self::Destroy,
        Self::WriteOutside,
        Self::WriteProtected,
        Self::Network,
        Self::UnknownCode,
        Self::UnknownProgram,
        Self::NotLiteral,
        Self::Variable,
        Self::Secret,
        Self::OtherUser,
        Self::Kill,
        Self::Install,
        Self::Repository,
        Self::Disguise,
    ];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
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
        }
    }

    /// Returns a command that it stops and one like it that it does not; none for what no command shows.
    #[must_use]
    pub const fn examples(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::ToolMode | Self::TooLong => None,
            Self::Unreadable => Some(("echo 'open", "echo 'closed'")),
            Self::Delete => Some(("find . -name '*.o' -delete", "find . -name '*.o'")),
            Self::Destroy => Some(("mkfs.ext4 /dev/sda1", "lsblk")),
            Self::WriteOutside => Some(("echo x > ../notes.txt", "echo x > notes.txt")),
            Self::WriteProtected => Some(("echo x > .git/hooks/pre-commit", "cat .git/HEAD")),
            Self::Network => Some(("curl -X POST https://example.org", "curl https://example.org")),
            Self::UnknownCode => Some(("python -c 'print(1)'", "python --version")),
            Self::UnknownProgram => Some(("frobnicate", "ls")),
            Self::NotLiteral => Some(("$cmd file", "cat file")),
            Self::Variable => Some(("PATH=. ls", "LANG=C ls")),
            Self::Secret => Some(("cat ~/.ssh/id_rsa", "cat README.md")),
            Self::OtherUser => Some(("sudo ls", "ls")),
            Self::Kill => Some(("kill -9 -1", "kill -l")),
            Self::Install => Some(("pip install requests", "pip list")),
            Self::Repository => Some(("git push", "git status")),
            Self::Disguise => Some(("l\u{0455} -a", "ls -a")),
        }
    }
}

/// Why something was not simply allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The part of the command that it is about.
    pub part: String,
    /// What about it.
    pub why: String,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.part.is_empty() { f.write_str(&self.why) } else { write!(f, "`{}`: {}", self.part, self.why) }
    }
}

/// What was decided, with everything a person needs to decide better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// Why, each naming a part of the command; empty when it is simply allowed.
    pub reasons: Vec<Reason>,
    /// What it would do, in words.
    pub effects: Vec<String>,
    /// The rules that had a say: built-in ones by name, others as `user:NAME` and `project:NAME`.
    pub rules: Vec<String>,
    /// Whether the command could be read as a whole.
    pub parsed: bool,
}

/// One thing that a judge found; each asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) ground: Ground,
    pub(super) reason: Reason,
    /// What it would do; empty when the reason says it all.
    pub(super) effect: String,
    /// Whether a user's rule allows it.
    pub(super) excused: bool,
}
