//! Task ids and other names of a task.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Implements the conversions of a type that is stored and shown as text, from its `FromStr` and `Display`.
macro_rules! text_form {
    ($name:ident) => {
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl TryFrom<String> for $name {
            type Error = <Self as FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    };
}
pub(crate) use text_form;

const SUFFIX_LEN: usize = 8;
const ALPHABET: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// The kind of work of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// A command on this machine.
    Shell,
    /// A subagent.
    Agent,
    /// A job on another machine or engine.
    Remote,
}

impl TaskKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Shell, Self::Agent, Self::Remote];

    /// Returns the word used in records and filters.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Agent => "agent",
            Self::Remote => "remote",
        }
    }

    /// Returns the first part of an id of this kind.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Shell => "bash",
            Self::Agent => "agent",
            Self::Remote => "remote",
        }
    }

    /// Parses the word used in records and filters.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// A task's canonical id: kind, hyphen, eight lowercase letters or digits.
///
/// The text is always safe as a file name; nothing else may be joined into a task path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(String);

/// Makes the eight letters or digits of an id; 41 bits of the number are used.
pub(crate) fn random_suffix(random: u64) -> String {
    let mut rest = random;
    (0..SUFFIX_LEN)
        .map(|_| {
            let letter = ALPHABET[(rest % 36) as usize];
            rest /= 36;
            char::from(letter)
        })
        .collect()
}

/// A text that is not a task id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a task id such as bash-k3f9x2ab")]
pub struct IdError(String);

impl TaskId {
    /// Makes an id from a random number; 41 bits of it are used.
    #[must_use]
    pub fn from_random(kind: TaskKind, random: u64) -> Self {
        Self(format!("{}-{}", kind.prefix(), random_suffix(random)))
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the task belongs to an agent.
    #[must_use]
    pub fn is_of_agent(&self) -> bool {
        self.0.strip_prefix(TaskKind::Agent.prefix()).is_some_and(|rest| rest.starts_with('-'))
    }

    /// Returns the eight characters after the kind.
    #[must_use]
    pub fn suffix(&self) -> &str {
        &self.0[self.0.len() - SUFFIX_LEN..]
    }
}

impl FromStr for TaskId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let valid = text.split_once('-').is_some_and(|(prefix, suffix)| {
            TaskKind::ALL.iter().any(|kind| kind.prefix() == prefix)
                && suffix.len() == SUFFIX_LEN
                && suffix.bytes().all(|b| ALPHABET.contains(&b))
        });
        if valid { Ok(Self(text.to_owned())) } else { Err(IdError(text.to_owned())) }
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text_form!(TaskId);

/// Returns the short handle, which numbers the background tasks of a context, or else of a session: `bash_1`,
/// `bash_2`, …
#[must_use]
pub fn short_handle(kind: TaskKind, number: u64) -> String {
    format!("{}_{number}", kind.prefix())
}

/// Parses a short handle; `None` if the text is not exactly as [`short_handle`] writes it.
#[must_use]
pub fn parse_short_handle(handle: &str) -> Option<(TaskKind, u64)> {
    TaskKind::ALL.into_iter().find_map(|kind| {
        let number: u64 = handle.strip_prefix(kind.prefix())?.strip_prefix('_')?.parse().ok()?;
        (short_handle(kind, number) == handle).then_some((kind, number))
    })
}

/// Returns the handle with the time and the program: `task_20260209_143022_pytest_k3f9`.
///
/// `program` may be a path and contain any character; it is reduced to a safe name of 24 characters. The first letters
/// of the id distinguish tasks that were started in the same second.
#[must_use]
pub fn long_handle(created: Timestamp, program: &str, id: &TaskId) -> String {
    let (year, month, day, hour, minute, second) = created.civil();
    let stem = program.rsplit('/').next().unwrap_or("");
    let stem = stem.split('.').find(|part| !part.is_empty()).unwrap_or("");
    let safe: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '-' })
        .take(24)
        .collect();
    let safe = if safe.is_empty() { "task" } else { safe.as_str() };
    let unique = &id.suffix()[..4];
    format!("task_{year:04}{month:02}{day:02}_{hour:02}{minute:02}{second:02}_{safe}_{unique}")
}

/// Returns whether a text has the form of an id or a handle. Such a text must not be a task's name, because it could
/// later refer to another task.
#[must_use]
pub fn looks_like_handle(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let of_kind = |kind: &TaskKind| {
        let rest = text.strip_prefix(kind.prefix()).unwrap_or_default();
        rest.strip_prefix('_').is_some_and(digits)
    };
    let by_time = |rest: &str| {
        let mut words = rest.split('_');
        let mut is_number = |len| words.next().is_some_and(|word| word.len() == len && digits(word));
        is_number(8) && is_number(6)
    };
    text.parse::<TaskId>().is_ok()
        || TaskKind::ALL.iter().any(of_kind)
        || text.strip_prefix("task_").is_some_and(by_time)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn refuses_invalid_task_ids() {
        for bad in [
            "",
            "bash",
            "bash-",
            "bash-ABCDEFGH",
            "bash-1234567",
            "bash-123456789",
            "cash-12345678",
            "bash-../../x",
        ] {
            assert!(bad.parse::<TaskId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn handles_are_safe_names() {
        let id: TaskId = "bash-k3f9x2ab".parse().unwrap();
        let at = Timestamp::from_micros(1_770_647_422_000_000);
        assert_eq!(short_handle(TaskKind::Shell, 3), "bash_3");
        assert_eq!(parse_short_handle("agent_12"), Some((TaskKind::Agent, 12)));
        for other in ["bash_03", "bash_", "bash_+1", "bash-1", "bash-k3f9x2ab", "bash_99999999999999999999"] {
            assert_eq!(parse_short_handle(other), None, "{other}");
        }
        assert_eq!(long_handle(at, "/usr/bin/pytest", &id), "task_20260209_143022_pytest_k3f9");
        assert_eq!(long_handle(at, "../ä b/..", &id), "task_20260209_143022_task_k3f9");
        assert_eq!(long_handle(at, "run tests.sh", &id), "task_20260209_143022_run-tests_k3f9");
    }

    #[test]
    fn distinguishes_handles_from_names() {
        for handle in ["bash-k3f9x2ab", "bash_1", "remote_12", "task_20260209_143022_make"] {
            assert!(looks_like_handle(handle), "{handle}");
        }
        for name in [
            "",
            "bash",
            "bash-",
            "bash-k3",
            "agent-smith",
            "dev-server",
            "bash-scripts-test",
            "bash-Build",
            "bash_x",
            "bash_",
            "task_1",
            "k3f9x2ab",
        ] {
            assert!(!looks_like_handle(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn every_random_number_gives_a_valid_id(random: u64) {
            for kind in TaskKind::ALL {
                let id = TaskId::from_random(kind, random);
                prop_assert_eq!(id.as_str().parse::<TaskId>(), Ok(id.clone()));
            }
        }
    }
}
