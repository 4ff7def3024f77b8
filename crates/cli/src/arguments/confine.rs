//! The options that confine a task.

use clap::Args;
use meanwhile::engine::model::{
    EnvironmentGrant, Grant, NetworkGrant, RawText, ReadGrant, TaskGrant, WriteGrant,
};
use meanwhile::engine::project_of;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::values::one_of;

/// What a person lets a task change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confine {
    /// Everything: it is not confined.
    None,
    /// The project and temporary files.
    Project,
    /// Temporary files.
    ReadOnly,
}

/// The words for them, with their strictness.
pub(crate) const CONFINE_RANKS: [(&str, u8); 3] = [("none", 0), ("project", 1), ("read-only", 2)];

/// The word for [`Confine::Project`].
pub(crate) const PROJECT: &str = "project";

static CHOICES: [(&str, Confine); 3] =
    [("none", Confine::None), (PROJECT, Confine::Project), ("read-only", Confine::ReadOnly)];

static NETWORKS: [(&str, NetworkGrant); 3] =
    [("none", NetworkGrant::None), ("loopback", NetworkGrant::Loopback), ("full", NetworkGrant::Full)];

impl Confine {
    /// Returns the choice that a setting names.
    fn named(word: &str) -> Self {
        CHOICES.iter().find(|(known, _)| *known == word).map_or(Self::None, |(_, choice)| *choice)
    }
}

// No doc comment: it would become the help of the commands.
#[derive(Args, Clone, Copy, Default, PartialEq)]
#[cfg_attr(test, derive(Debug))]
pub(crate) struct ConfineArguments {
    /// What the task may change: `project`, only temporary files (`read-only`), or everything (`none`) [default:
    /// confine.user]
    #[arg(long, value_name = "none|project|read-only", value_parser = one_of(&CHOICES))]
    confine: Option<Confine>,
    /// The network of a confined task; `loopback` is TCP on this machine [default: none]
    #[arg(long, value_name = "none|loopback|full", value_parser = one_of(&NETWORKS))]
    network: Option<NetworkGrant>,
}

impl ConfineArguments {
    /// Returns the grant of a task; `None` if it is not confined. `usual` is the setting.
    pub(crate) fn grant(self, usual: &str, directory: &Path, home: Option<PathBuf>) -> Option<TaskGrant> {
        let write = match self.confine.unwrap_or_else(|| Confine::named(usual)) {
            Confine::None => return None,
            Confine::Project => WriteGrant::Project,
            Confine::ReadOnly => WriteGrant::Temp,
        };
        let text = |path: PathBuf| RawText::from(path.as_os_str().as_bytes());
        Some(TaskGrant {
            grant: Grant {
                read: ReadGrant::NoSecrets,
                write,
                network: self.network.unwrap_or_default(),
                environment: EnvironmentGrant::NoSecrets,
            },
            project: project_of(directory, home.as_deref()).map(text),
            home: home.map(text),
            strict: false,
        })
    }
}
