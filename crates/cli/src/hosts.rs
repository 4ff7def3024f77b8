//! What `mw setup` sets up: which hosts are installed, whether this `mw` is set up in them, and the timer of systemd.

use std::env;
use std::path::PathBuf;

use mw_agents::hosts::{
    AgentHost, FileChange, RequestedChange, SetupScope, Surroundings, hosts_with_setup, lasting_path,
};

use crate::error::CommandError;
use crate::{programs, systemd};

/// Where and with which program hosts are set up.
pub(crate) struct HostPlace {
    scope: SetupScope,
    project: PathBuf,
    program: String,
}

impl HostPlace {
    pub(crate) fn find(scope: SetupScope) -> Result<Self, CommandError> {
        let program = match scope {
            SetupScope::User => {
                let path = lasting_path(&programs::mw()?, &env::var_os("PATH").unwrap_or_default());
                let text = path.into_os_string().into_string();
                text.map_err(|path| {
                    let message = format!("{} is not UTF-8", path.to_string_lossy());
                    CommandError::usage(message, "install mw in a path that is valid UTF-8")
                })?
            }
            // The file is shared by people who have `mw` in different places.
            SetupScope::Project => "mw".to_owned(),
        };
        Ok(Self { scope, project: env::current_dir()?, program })
    }

    pub(crate) const fn scope(&self) -> SetupScope {
        self.scope
    }

    pub(crate) fn around(&self) -> Surroundings<'_> {
        Surroundings { variable: &|name| env::var_os(name), project: &self.project, program: &self.program }
    }
}

/// The argument for the user's systemd.
pub(crate) const SYSTEMD: &str = "systemd";

/// What is set up.
#[derive(Clone, Copy)]
pub(crate) enum Subject {
    Host(&'static AgentHost),
    Systemd,
}

impl Subject {
    pub(crate) const fn id(self) -> &'static str {
        match self {
            Self::Host(host) => host.id,
            Self::Systemd => SYSTEMD,
        }
    }

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Host(host) => host.title,
            Self::Systemd => SYSTEMD,
        }
    }

    pub(crate) const fn next(self) -> &'static str {
        match self {
            Self::Host(host) => host.next,
            Self::Systemd => "loginctl enable-linger keeps it running while you are not logged in",
        }
    }

    pub(crate) fn plan(
        self,
        change: RequestedChange,
        place: &HostPlace,
    ) -> Result<Vec<FileChange>, CommandError> {
        match self {
            Self::Host(host) => Ok(host.plan(change, place.scope(), &place.around())?),
            Self::Systemd => systemd::plan(change, &place.program, named_home()?.as_deref()),
        }
    }

    pub(crate) fn snippets(self, place: &HostPlace) -> Result<Vec<(PathBuf, String)>, CommandError> {
        match self {
            Self::Host(host) => Ok(host.snippets(place.scope(), &place.around())?),
            Self::Systemd => systemd::snippets(&place.program, named_home()?.as_deref()),
        }
    }
}

/// Returns the home that the environment names, which the timer has to know, too.
fn named_home() -> Result<Option<String>, CommandError> {
    let Some(home) = env::var_os("MEANWHILE_HOME").filter(|home| !home.is_empty()) else { return Ok(None) };
    let home = std::path::absolute(home)?.into_os_string().into_string();
    home.map(Some).map_err(|home| {
        let message = format!("{} is not UTF-8", home.to_string_lossy());
        CommandError::usage(message, "set MEANWHILE_HOME to a path that is valid UTF-8")
    })
}

/// The state of a host.
pub(crate) struct HostState {
    pub(crate) host: &'static AgentHost,
    pub(crate) found: bool,
    pub(crate) path: Option<PathBuf>,
    /// Whether it is set up; an error if that is unknown.
    pub(crate) set_up: Result<SetUp, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SetUp {
    No,
    Yes,
    /// In part, or with other commands: the words of these.
    Otherwise(Vec<Vec<String>>),
}

impl SetUp {
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Yes => "yes",
            Self::Otherwise(_) => "otherwise",
        }
    }
}

/// Returns the state of every host.
pub(crate) fn host_states(place: &HostPlace) -> Vec<HostState> {
    let state = |host: &'static AgentHost| {
        let around = place.around();
        let installed = host.installed(place.scope, &around);
        let path = installed.as_ref().ok().and_then(|all| Some(all.first()?.path.clone()));
        let set_up = installed.map_err(|error| error.to_string()).map(|all| {
            if all.iter().all(|one| one.command.is_none()) {
                SetUp::No
            } else if all.iter().all(|one| one.command.as_ref() == Some(&one.wanted)) {
                SetUp::Yes
            } else {
                SetUp::Otherwise(all.into_iter().map(|one| one.command.unwrap_or_default()).collect())
            }
        });
        HostState { host, found: around.has(host), path, set_up }
    };
    hosts_with_setup().map(state).collect()
}
