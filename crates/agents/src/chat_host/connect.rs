//! Starts the agent of a chat: its command, environment and services.

use std::sync::{Arc, Mutex};

use mw_model::EnvVar;

use super::ChatOptions;
use super::connection::{AgentConnection, ChatObserver, ConnectionOptions};
use super::core::ChatCore;
use crate::acp::PolicyPermissions;
use crate::acp::client::Client;
use crate::acp::quirks::Quirks;
use crate::acp::terminals::Terminals;

impl ChatCore<'_> {
    /// Starts the agent. Its events carry the number of this connection.
    pub(super) fn connect(&self) -> AgentConnection {
        let options = &self.options;
        let own = own_env(options);
        let mut env = options.agent.env.clone();
        env.extend(own.iter().cloned());
        let mut command = options.agent.command.clone();
        let quirks = if self.is_own_agent() {
            // Other agents get the dialect through our MCP server.
            command.extend(["--dialect".to_owned(), options.dialect.name().to_owned()]);
            Quirks::OWN_AGENT
        } else {
            Quirks::of(&command)
        };
        let observer = ChatObserver::new(self.messages.clone(), self.connections);
        let client = Client::new(observer, self.terminals(&own), quirks);
        let connection = ConnectionOptions {
            command,
            env,
            mw: options.mw.clone(),
            dialect: options.dialect,
            server_env: own,
            mode: self.wanted.clone().or_else(|| self.mode.clone()).or_else(|| options.agent.mode.clone()),
            known: self.ledger.known_to(&options.agent.name),
            errors: options.transcript.agent_errors(),
            cancel_after: options.cancel_after,
        };
        AgentConnection::open(connection, client)
    }

    /// Returns whether the agent is the built-in one.
    pub(super) fn is_own_agent(&self) -> bool {
        let options = &self.options;
        options.agent.command.first().is_some_and(|program| *program == options.mw.to_string_lossy())
    }

    /// Returns the terminals and permissions of the agent. Its commands are tasks of the chat and are judged like those
    /// of the user.
    fn terminals(&self, own: &[(String, String)]) -> Terminals {
        let call_settings = &self.runner.call_settings;
        let mut env = call_settings.env.clone();
        for (name, value) in own {
            EnvVar::set(&mut env, name, value);
        }
        // Without a project, the agent's directory is used.
        let project = call_settings.policy.project.clone().filter(|project| !project.as_os_str().is_empty());
        let permissions = PolicyPermissions {
            home: self.options.home.clone(),
            session: call_settings.session.clone(),
            policy: call_settings.policy.clone(),
            shell: call_settings.shell.clone(),
            cwd: call_settings.cwd.clone(),
            project: project.unwrap_or_else(|| call_settings.cwd.clone()),
        };
        Terminals {
            permissions: Arc::new(permissions),
            session: call_settings.session.clone(),
            env,
            limits: call_settings.limits.clone(),
            holder: Some(self.host.holder()),
            known: Mutex::default(),
        }
    }
}

/// Returns the variables for the agent, its MCP server and its commands.
fn own_env(options: &ChatOptions) -> Vec<(String, String)> {
    let home = options.home.settings().home.to_string_lossy().into_owned();
    let keep = options.call_settings.policy.timeouts.keep.as_secs();
    // The chat delivers the notifications, and a person is present for approvals.
    let own = [
        ("MEANWHILE_HOME", home),
        ("MEANWHILE_SESSION", options.transcript.session.clone()),
        // All tasks of the chat are numbered together.
        ("MEANWHILE_CONTEXT", options.call_settings.context_stamp.clone()),
        ("MEANWHILE_TOOLS_NOTICES", "false".to_owned()),
        ("MEANWHILE_APPROVAL_WAIT", format!("{keep}s")),
    ];
    own.map(|(name, value)| (name.to_owned(), value)).to_vec()
}
