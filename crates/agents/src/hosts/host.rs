//! The description of a host: its files, their formats, and what is written into them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use meanwhile::engine::find_program;
use serde_json::{Value, json};

use super::hook::Hooks;
use super::session::Identity;
use super::setup::error::SetupError;
use super::setup::json::Syntax;

/// A program that runs agents and can use meanwhile.
pub struct AgentHost {
    /// Its name on the command line.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What to do before a change takes effect.
    pub next: &'static str,
    /// Its hooks, if they can pass text to its agent.
    pub hooks: Option<Hooks>,
    pub(in crate::hosts) identity: Identity,
    /// The programs by which it is found.
    pub(in crate::hosts) programs: &'static [&'static str],
    /// What is written where. Empty if it cannot be set up.
    pub(in crate::hosts) files: &'static [HostFile],
}

/// One of its files.
pub(in crate::hosts) struct HostFile {
    pub(in crate::hosts) user: ConfigPath,
    pub(in crate::hosts) project: ConfigPath,
    pub(in crate::hosts) format: FileFormat,
    pub(in crate::hosts) entries: &'static [HostEntry],
}

/// The format of a file.
#[derive(Clone, Copy)]
pub(in crate::hosts) enum FileFormat {
    Json(Syntax),
    Toml,
}

/// Where a file is.
pub(in crate::hosts) struct ConfigPath {
    base: BaseDir,
    /// The directory below the base.
    directory: &'static str,
    /// The possible names. The first one that exists is used; if none does, the first one is created.
    names: &'static [&'static str],
}

impl ConfigPath {
    pub(super) const fn new(base: BaseDir, directory: &'static str, names: &'static [&'static str]) -> Self {
        Self { base, directory, names }
    }
}

/// The base directory of a file.
pub(in crate::hosts) enum BaseDir {
    /// The directory in this variable, without the directory below it; else the user's home.
    HomeUnless(&'static str),
    /// The directory in this variable; else the user's home.
    HomeIn(&'static str),
    /// The user's home.
    Home,
    /// `XDG_CONFIG_HOME`, else `.config` in the user's home.
    Config,
    /// The project.
    Project,
}

/// An entry in a file.
pub(in crate::hosts) enum HostEntry {
    /// The server, as a member with that path.
    Server { path: &'static [&'static str], value: fn(&str) -> Value },
    /// A hook, as an element of the array with that path.
    Hook { path: &'static [&'static str], matcher: Option<&'static str>, timeout: u64 },
    /// A hook that runs in the background and wakes the idle agent, as another element of the array with that path. A
    /// field of that name says so.
    Waker { path: &'static [&'static str], field: &'static str, timeout: u64 },
}

/// Whose settings are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupScope {
    /// The user's own.
    User,
    /// Those of one project, which are shared with others.
    Project,
}

/// The surroundings of a host.
pub struct Surroundings<'a> {
    /// The environment.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The project's directory.
    pub project: &'a Path,
    /// The path of `mw` for the host.
    pub program: &'a str,
}

impl Surroundings<'_> {
    fn directory(&self, name: &str) -> Option<PathBuf> {
        (self.variable)(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    fn home(&self) -> Result<PathBuf, SetupError> {
        self.directory("HOME").ok_or(SetupError::NoHome)
    }

    pub(in crate::hosts) fn resolve(&self, file: &ConfigPath) -> Result<PathBuf, SetupError> {
        let named = |name| self.directory(name).map_or_else(|| self.home(), Ok);
        let directory = match file.base {
            BaseDir::HomeUnless(name) => match self.directory(name) {
                Some(directory) => directory,
                None => self.home()?.join(file.directory),
            },
            BaseDir::HomeIn(name) => named(name)?.join(file.directory),
            BaseDir::Home => self.home()?.join(file.directory),
            BaseDir::Config => match self.directory("XDG_CONFIG_HOME") {
                Some(directory) => directory.join(file.directory),
                None => self.home()?.join(".config").join(file.directory),
            },
            BaseDir::Project => self.project.join(file.directory),
        };
        let paths = || file.names.iter().map(|name| directory.join(name));
        let present = paths().find(|path| path.symlink_metadata().is_ok());
        Ok(present.or_else(|| paths().next()).unwrap_or_else(|| directory.clone()))
    }

    /// Returns whether a host seems to be installed: it has a program on the PATH, or its own directory.
    #[must_use]
    pub fn has(&self, host: &AgentHost) -> bool {
        let path = (self.variable)("PATH").unwrap_or_default();
        let runs = |program: &&str| find_program(program, Some(path.as_ref()), Path::new("/")).is_ok();
        let left_traces = |file: &HostFile| {
            let own = !file.user.directory.is_empty();
            own && self.resolve(&file.user).is_ok_and(|path| path.parent().is_some_and(Path::is_dir))
        };
        host.programs.iter().any(runs) || host.files.iter().any(left_traces)
    }
}

impl HostFile {
    pub(in crate::hosts) const fn path(&self, scope: SetupScope) -> &ConfigPath {
        match scope {
            SetupScope::User => &self.user,
            SetupScope::Project => &self.project,
        }
    }
}

/// The name of our server in the files of hosts.
pub(in crate::hosts) const NAME: &str = "meanwhile";

/// Returns the entry of our server in the form that most hosts use.
pub(in crate::hosts) fn stdio(program: &str) -> Value {
    json!({"type": "stdio", "command": program, "args": ["mcp"]})
}

/// Returns whether a hook's command is `mw`, with any path, and these arguments.
pub(in crate::hosts) fn starts_mw(command: &str, arguments: &str) -> bool {
    let program = command.trim().strip_suffix(arguments).and_then(|program| program.strip_suffix(' '));
    program.is_some_and(|program| Path::new(program.trim_matches('\'')).file_name() == Some("mw".as_ref()))
}

#[cfg(test)]
mod tests {
    use mw_model::shell_word;

    use super::*;

    #[test]
    fn a_hook_is_recognised_with_any_path_to_mw() {
        let (hook, waker) = ("hook claude-code", "hook claude-code --wake");
        for program in ["mw", "/opt/x/mw", "/opt/with blank/mw"] {
            let command = |arguments| format!("{} {arguments}", shell_word(program));
            assert!(starts_mw(&command(hook), hook) && starts_mw(&command(waker), waker), "{program}");
            assert!(!starts_mw(&command(hook), waker) && !starts_mw(&command(waker), hook), "{program}");
        }
        for other in
            ["mw hook codex", "mwx hook claude-code", "echo claude-code", "mw hook claude-code --more"]
        {
            assert!(!starts_mw(other, hook), "{other}");
        }
    }
}
