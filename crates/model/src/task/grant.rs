//! What a task may do.
//!
//! Policy derives a grant from a command, an approval shows and binds it, and the supervisor makes the kernel enforce
//! it. A task without a grant is not confined.

use serde::{Deserialize, Serialize};

use crate::text::raw_text::RawText;

/// The files that a task may read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadGrant {
    /// Everything but secrets, such as keys and the tokens of other programs.
    #[default]
    NoSecrets,
    /// Everything that the user may read, except the home of meanwhile.
    All,
}

/// The files that a task may change. Each variant includes the ones before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteGrant {
    /// Temporary files only.
    #[default]
    Temp,
    /// The project, except protected names: files that other programs obey, such as `.git/hooks`.
    Project,
    /// Also these files and directories; absolute. A protected name that is listed here may be changed.
    Paths(Vec<String>),
    /// Everything that the user may change, except the home of meanwhile.
    Anything,
}

/// The addresses that a task may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkGrant {
    /// None.
    #[default]
    None,
    /// This machine.
    Loopback,
    /// All.
    Full,
}

/// The environment of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnvironmentGrant {
    /// Without variables whose names say that they are secret.
    #[default]
    NoSecrets,
    /// Complete.
    All,
}

/// What a task may do. The default is the least.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The files that it may read.
    #[serde(default)]
    pub read: ReadGrant,
    /// The files that it may change.
    #[serde(default)]
    pub write: WriteGrant,
    /// The addresses that it may reach.
    #[serde(default)]
    pub network: NetworkGrant,
    /// Its environment.
    #[serde(default)]
    pub environment: EnvironmentGrant,
}

/// The grant of a task, and the directories that its words mean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskGrant {
    /// What it may do.
    #[serde(flatten)]
    pub grant: Grant,
    /// The project; absolute. `None` if there is none, and then nothing counts as inside the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<RawText>,
    /// The home directory of the user; absolute. Not taken from the environment of the task, which may have another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<RawText>,
    /// Whether the task must not start unless everything in it is enforced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
}

impl Grant {
    /// Returns the least grant that includes both.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self {
            read: self.read.max(other.read),
            write: self.write.joined(other.write),
            network: self.network.max(other.network),
            environment: self.environment.max(other.environment),
        }
    }

    /// Returns the grant that allows everything.
    #[must_use]
    pub const fn everything() -> Self {
        Self {
            read: ReadGrant::All,
            write: WriteGrant::Anything,
            network: NetworkGrant::Full,
            environment: EnvironmentGrant::All,
        }
    }

    /// Returns whether it allows everything. Such a task is not confined: it may need other privileges.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        *self == Self::everything()
    }

    /// Returns whether everything that `other` allows is allowed.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        self.clone().joined(other.clone()) == *self
    }

    /// Describes it for people, such as `reads files except secrets, writes in the project, no network`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let read = match self.read {
            ReadGrant::NoSecrets => "reads files except secrets",
            ReadGrant::All => "reads all files",
        };
        let write = match &self.write {
            WriteGrant::Temp => "writes only temporary files".to_owned(),
            WriteGrant::Project => "writes in the project".to_owned(),
            WriteGrant::Paths(paths) => format!("writes in the project and in {}", paths.join(", ")),
            WriteGrant::Anything => "writes anywhere".to_owned(),
        };
        let network = match self.network {
            NetworkGrant::None => "no network",
            NetworkGrant::Loopback => "network on this machine only",
            NetworkGrant::Full => "uses the network",
        };
        let environment = match self.environment {
            EnvironmentGrant::NoSecrets => "",
            EnvironmentGrant::All => ", gets the secrets in its environment",
        };
        format!("{read}, {write}, {network}{environment}")
    }
}

impl WriteGrant {
    fn joined(self, other: Self) -> Self {
        match (self, other) {
            (Self::Paths(mut paths), Self::Paths(more)) => {
                paths.extend(more);
                paths.sort();
                paths.dedup();
                Self::Paths(paths)
            }
            (one, other) => one.max(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes(write: WriteGrant) -> Grant {
        Grant { write, ..Grant::default() }
    }

    #[test]
    fn a_joined_grant_includes_both() {
        let one = writes(WriteGrant::Paths(vec!["/b".to_owned()]));
        let other = Grant {
            network: NetworkGrant::Full,
            ..writes(WriteGrant::Paths(vec!["/a".to_owned(), "/b".to_owned()]))
        };
        let both = one.clone().joined(other.clone());
        assert_eq!(both.write, WriteGrant::Paths(vec!["/a".to_owned(), "/b".to_owned()]));
        assert!(both.includes(&one) && both.includes(&other));
        assert!(!one.includes(&both) && !other.includes(&writes(WriteGrant::Anything)));
        assert!(writes(WriteGrant::Anything).includes(&one) && one.includes(&writes(WriteGrant::Project)));
    }

    #[test]
    fn the_default_is_the_least() {
        let full = Grant {
            read: ReadGrant::All,
            write: WriteGrant::Anything,
            network: NetworkGrant::Full,
            environment: EnvironmentGrant::All,
        };
        assert!(full.includes(&Grant::default()));
        assert_eq!(Grant::default().joined(full.clone()), full);
        assert_eq!(
            Grant::default().in_words(),
            "reads files except secrets, writes only temporary files, no network"
        );
    }

    #[test]
    fn an_empty_record_grants_the_least() {
        assert_eq!(serde_json::from_str::<Grant>("{}").unwrap(), Grant::default());
    }
}
