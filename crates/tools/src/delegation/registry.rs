//! The available agents: those of the settings, and known ones that are installed.

use std::collections::BTreeMap;
use std::path::Path;

use meanwhile::engine::find_program;

/// The command and settings of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentEntry {
    /// The name of the agent.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables that are added to the agent's environment.
    pub env: Vec<(String, String)>,
    /// The initial mode of the agent's sessions.
    pub mode: Option<String>,
    /// Whether the agent is from the settings. Other agents were found on the PATH.
    pub configured: bool,
}

/// A well-known agent that supports the protocol.
#[derive(Clone, Copy, Debug)]
struct KnownAgent {
    /// The name of the agent.
    pub name: &'static str,
    /// Programs with their arguments. The first one on the PATH is used.
    pub commands: &'static [&'static [&'static str]],
}

/// The well-known agents that support the protocol.
static KNOWN: [KnownAgent; 7] = [
    KnownAgent { name: "claude", commands: &[&["claude-agent-acp"], &["claude-code-acp"]] },
    KnownAgent { name: "codex", commands: &[&["codex-acp"]] },
    KnownAgent { name: "gemini", commands: &[&["gemini", "--experimental-acp"]] },
    KnownAgent { name: "opencode", commands: &[&["opencode", "acp"]] },
    KnownAgent { name: "goose", commands: &[&["goose", "acp"]] },
    KnownAgent { name: "qwen", commands: &[&["qwen", "--experimental-acp"]] },
    KnownAgent { name: "copilot", commands: &[&["copilot", "--acp"]] },
];

/// The name of the built-in agent.
const OWN: &str = "mw";

/// The available agents.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    entries: BTreeMap<String, AgentEntry>,
    /// The default agent.
    pub default: Option<String>,
}

impl Registry {
    /// Collects the agents of the settings, the built-in one (`mw acp`), and known agents on this PATH. The settings
    /// take precedence.
    #[must_use]
    pub fn new(configured: Vec<AgentEntry>, path: &str, mw: &Path) -> Self {
        let mut entries = BTreeMap::new();
        for known in &KNOWN {
            let found = known
                .commands
                .iter()
                .find(|command| find_program(command[0], Some(path.as_ref()), Path::new("/")).is_ok());
            if let Some(command) = found {
                entries.insert(known.name.to_owned(), plain(known.name, command.iter().copied()));
            }
        }
        let mw = mw.to_string_lossy();
        entries.insert(OWN.to_owned(), plain(OWN, [mw.as_ref(), "acp"]));
        for entry in configured {
            entries.insert(entry.name.clone(), entry);
        }
        Self { entries, default: None }
    }

    /// Returns the agent of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&AgentEntry> {
        self.entries.get(name)
    }

    /// Returns the default agent: the one of the settings, else the first in them, else the first that was found, else
    /// the built-in one.
    #[must_use]
    pub fn default_agent(&self) -> Option<&AgentEntry> {
        let chosen = self.default.as_ref().and_then(|name| self.get(name));
        let configured = || self.entries.values().find(|entry| entry.configured);
        let found = || self.entries.values().find(|entry| entry.name != OWN);
        chosen.or_else(configured).or_else(found).or_else(|| self.get(OWN))
    }

    /// Returns all agents by name.
    pub fn entries(&self) -> impl Iterator<Item = &AgentEntry> {
        self.entries.values()
    }

    /// Returns the names of all agents.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.entries.keys().map(String::as_str).collect()
    }
}

fn plain<'a>(name: &str, command: impl IntoIterator<Item = &'a str>) -> AgentEntry {
    AgentEntry {
        name: name.to_owned(),
        command: command.into_iter().map(str::to_owned).collect(),
        env: Vec::new(),
        mode: None,
        configured: false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(directory: &Path, name: &str) {
        let file = directory.join(name);
        fs::write(&file, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn known_agents_are_found_and_settings_take_precedence() {
        let dir = tempfile::tempdir().unwrap();
        program(dir.path(), "opencode");
        program(dir.path(), "claude-code-acp");
        let path = dir.path().to_string_lossy().into_owned();
        let own = AgentEntry { configured: true, ..plain("opencode", ["other"]) };
        let registry = Registry::new(vec![own], &path, Path::new("/bin/mw"));
        assert_eq!(registry.names(), ["claude", "mw", "opencode"]);
        assert_eq!(registry.get("claude").unwrap().command, ["claude-code-acp"]);
        assert_eq!(registry.get("opencode").unwrap().command, ["other"]);
        assert_eq!(registry.default_agent().unwrap().name, "opencode");
        let none = Registry::new(Vec::new(), "", Path::new("/bin/mw"));
        assert_eq!(none.default_agent().unwrap().command, ["/bin/mw", "acp"]);
    }
}
