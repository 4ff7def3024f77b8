//! Where a task runs.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::id::TaskKind;
use crate::text::raw_text::RawText;

/// The back-end that runs a task, with its settings. It is part of the spec, so that the task is found again where it was
/// started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// A process of this machine.
    #[default]
    Process,
    /// The command is not executed: the input of the task decides what it prints and how it ends. For tests of hosts.
    Mock,
    /// A process of this machine, in a sandbox: it may change its project and temporary files, has no network unless its grant
    /// allows it, and sees no secrets and no other processes.
    Sandbox,
    /// A back-end of the configuration.
    Backend(Box<BackendPlace>),
}

impl Place {
    /// The places that need no configuration.
    pub const BUILT_IN: [Self; 3] = [Self::Process, Self::Mock, Self::Sandbox];

    /// Returns its name, as used with `--on`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Process => "process",
            Self::Mock => "mock",
            Self::Sandbox => "sandbox",
            Self::Backend(place) => &place.name,
        }
    }

    /// Returns whether this is the default, which specs leave out.
    #[must_use]
    pub fn is_process(&self) -> bool {
        *self == Self::Process
    }

    /// Returns whether the supervisor runs a driver instead of the command.
    #[must_use]
    pub const fn has_driver(&self) -> bool {
        matches!(self, Self::Backend(_))
    }

    /// Returns the kind of a command's task here.
    #[must_use]
    pub const fn task_kind(&self) -> TaskKind {
        match self {
            Self::Process | Self::Mock | Self::Sandbox => TaskKind::Shell,
            Self::Backend(_) => TaskKind::Remote,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A back-end of the configuration, as it was when the task was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendPlace {
    /// Its name in the configuration.
    pub name: String,
    /// What it is, with its settings.
    #[serde(flatten)]
    pub kind: BackendKind,
    /// The names of the variables that the command gets there. The rest of the task's environment is that of the driver.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<RawText>,
}

/// The kinds of back-ends that can be configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BackendKind {
    /// Another machine, reached with OpenSSH.
    Ssh(SshPlace),
    /// Docker or Podman.
    Container(ContainerPlace),
    /// A Slurm cluster, used with its command line tools.
    Slurm(SlurmPlace),
}

impl BackendKind {
    /// The words of all kinds.
    pub const WORDS: [&str; 3] = ["ssh", "container", "slurm"];

    /// Returns the word for it in the configuration.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Ssh(_) => "ssh",
            Self::Container(_) => "container",
            Self::Slurm(_) => "slurm",
        }
    }

    /// Returns the names of the variables that every command gets there, besides those that a start adds.
    #[must_use]
    pub fn passed_variables(&self) -> &[String] {
        match self {
            Self::Ssh(SshPlace { pass_env, .. })
            | Self::Container(ContainerPlace { pass_env, .. })
            | Self::Slurm(SlurmPlace { pass_env, .. }) => pass_env,
        }
    }
}

/// The settings of a back-end of the kind `ssh`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshPlace {
    /// The destination, as on the command line of `ssh`.
    pub host: String,
    /// Options of `ssh` that come before the destination.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The directory in which commands run there. Without it, that of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The directory there for the files of tasks. Without it, `~/.local/state/meanwhile-tasks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Local variables that every command gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_env: Vec<String>,
}

/// The settings of a back-end of the kind `container`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerPlace {
    /// The engine's API socket. Without it, the usual ones are tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<String>,
    /// The image of a new container for each task; absent if tasks run in an existing one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The existing container in which tasks run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Whether a missing image is pulled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pull_missing: bool,
    /// Mounts, as `SOURCE:TARGET[:ro]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<String>,
    /// Whether the task's project is mounted at the same path.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mount_project: bool,
    /// The user there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The network, such as `none` or `host`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// The directory in which commands run there. Without it, that of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Whether the engine adds no small init process to a new container.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_init: bool,
    /// The directory in an existing container for the files of tasks. Without it, `/tmp/meanwhile-tasks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Local variables that every command gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_env: Vec<String>,
}

/// The settings of a back-end of the kind `slurm`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlurmPlace {
    /// The partition. Without it, the default of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// The account that is charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The time limit of a job, as `sbatch --time` takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Further options of `sbatch`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Whether Slurm may run a command again after its node has failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requeue: bool,
    /// The directory in which commands run. Without it, that of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The directory for the files of tasks, which all nodes share. Without it, `~/.local/state/meanwhile-tasks`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Local variables that every command gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_env: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_earlier_specs_are_still_read() {
        for place in Place::BUILT_IN {
            let word = format!("{:?}", place.name());
            assert_eq!(serde_json::from_str::<Place>(&word).unwrap(), place);
            assert_eq!(serde_json::to_string(&place).unwrap(), word);
        }
    }

    #[test]
    fn a_configured_place_is_stored_with_its_settings() {
        let kind = BackendKind::Ssh(SshPlace { host: "box".to_owned(), ..SshPlace::default() });
        let variables = vec![RawText::from("CI")];
        let place = Place::Backend(Box::new(BackendPlace { name: "far".to_owned(), kind, variables }));
        let text = serde_json::to_string(&place).unwrap();
        assert_eq!(text, r#"{"backend":{"name":"far","kind":"ssh","host":"box","variables":["CI"]}}"#);
        assert_eq!(serde_json::from_str::<Place>(&text).unwrap(), place);
        let newer = text.replace("\"host\"", "\"later\":1,\"host\"");
        assert_eq!(serde_json::from_str::<Place>(&newer).unwrap(), place, "an added field is ignored");
        assert_eq!((place.name(), place.task_kind()), ("far", TaskKind::Remote));
    }
}
