//! Agents in the settings file, and the settings for all of them.

use std::collections::BTreeMap;
use std::env;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use meanwhile::engine::model::{DEPTH_VARIABLE, RawText};
use mw_tools::delegation::{AgentEntry, AgentSettings, Registry};
use serde::Deserialize;

use super::load::Config;
use super::source::shown;
use crate::error::CommandError;
use crate::programs;

/// The agents of a settings file; the settings in it are read elsewhere.
#[derive(Deserialize)]
struct File {
    agents: BTreeMap<String, Table>,
}

/// `[agents.NAME]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    command: Command,
    #[serde(default)]
    env: BTreeMap<String, String>,
    mode: Option<String>,
}

/// A command line, or its words.
#[derive(Deserialize)]
#[serde(untagged)]
enum Command {
    Line(String),
    Words(Vec<String>),
}

impl Config {
    /// Returns the available agents and their settings.
    ///
    /// # Errors
    /// Names the file and the agent that cannot be used.
    pub(crate) fn agent_settings(&self) -> Result<AgentSettings, CommandError> {
        let mw = self.mw();
        let path = env::var("PATH").unwrap_or_default();
        let mut registry = Registry::new(self.configured_agents()?, &path, &mw);
        registry.default = Some(self.agents.default.clone()).filter(|name| !name.is_empty());
        let driver = [mw.as_os_str().as_bytes().into(), RawText::from("agent-driver")];
        Ok(AgentSettings {
            registry,
            max_depth: self.agents.max_depth,
            depth: env::var(DEPTH_VARIABLE).ok().and_then(|depth| depth.parse().ok()).unwrap_or(0),
            cancel_ms: self.agents.cancel_ms,
            silence_ms: self.agents.silence_ms,
            linger_ms: self.agents.linger_ms,
            driver: driver.to_vec(),
        })
    }

    /// Returns the program `mw` itself.
    pub(crate) fn mw(&self) -> PathBuf {
        // It was found when the settings were loaded.
        programs::mw().unwrap_or_default()
    }

    fn configured_agents(&self) -> Result<Vec<AgentEntry>, CommandError> {
        let Some((path, text)) = &self.agents_file else { return Ok(Vec::new()) };
        let refused = |why: &str| {
            let message = format!("{}: {}", shown(&path.to_string_lossy()), shown(why));
            CommandError::usage(message, "write [agents.NAME] command = \"…\"; see docs/agents.md")
        };
        let file: File = toml::from_str(text).map_err(|error| refused(error.message()))?;
        let mut entries = Vec::new();
        for (name, table) in file.agents {
            let command = match table.command {
                Command::Line(line) => shlex::split(&line).unwrap_or_default(),
                Command::Words(words) => words,
            };
            if command.is_empty() {
                return Err(refused(&format!(
                    "the command of agents.{name} is empty, or has an unclosed quote"
                )));
            }
            let env = table.env.into_iter().collect();
            entries.push(AgentEntry { name, command, env, mode: table.mode, configured: true });
        }
        Ok(entries)
    }
}
