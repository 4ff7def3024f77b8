//! Starts the agent of a chat: its command, environment and services.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use mw_model::EnvVar;

use super::ChatOptions;
use super::connection::{AgentConnection, ConnectionOptions};
use super::core::{ChatCore, Message};
use crate::acp::PolicyPermissions;
use crate::acp::approved::Approved;
use crate::acp::client::{Client, NoObserver};
use crate::acp::quirks::Quirks;
use crate::acp::terminals::Terminals;

impl ChatCore<'_> {
    /// Starts the agent. Its events carry the number of this connection.
    pub(super) fn connect(&self) -> AgentConnection {
        let options = &self.options;
        let own = own_env(options);
        let mut env = options.agent.env.clone();
        env.extend(own.iter().cloned());
        let command = self.agent_command();
        let client = self.client(&own, Quirks::of(&command));
        let line = ConnectionOptions {
            command,
            env,
            cwd: options.premises.cwd.clone(),
            mw: options.mw.clone(),
            dialect: options.dialect,
            is_own_agent: self.is_own_agent(),
            server_env: own,
            mode: self.wanted.clone().or_else(|| self.mode.clone()).or_else(|| options.agent.mode.clone()),
            known: self.ledger.known_to(&options.agent.name),
            errors: options.transcript.agent_errors(),
            cancel_after: options.cancel_after,
        };
        let (messages, number) = (self.messages.clone(), self.connections);
        AgentConnection::open(line, client, move |event| {
            let (taken, until_taken) = channel();
            let _ = messages.send(Message::Agent(number, event, taken));
            until_taken
        })
    }

    /// Returns the command of the agent. The built-in agent gets the dialect as an option. Other agents get it through
    /// our MCP server.
    fn agent_command(&self) -> Vec<String> {
        let mut command = self.options.agent.command.clone();
        if self.is_own_agent() {
            command.extend(["--dialect".to_owned(), self.options.dialect.name().to_owned()]);
        }
        command
    }

    /// Returns whether the agent is the built-in one.
    pub(super) fn is_own_agent(&self) -> bool {
        let options = &self.options;
        options.agent.command.first().is_some_and(|program| *program == options.mw.to_string_lossy())
    }

    /// Returns the files and terminals for the agent. Its commands are tasks of the chat and are judged like those of
    /// the user.
    fn client(&self, own: &[(String, String)], quirks: Quirks) -> Client<NoObserver> {
        let premises = &self.runner.premises;
        let mut env = premises.env.clone();
        for (name, value) in own {
            env.retain(|var| var.name.as_bytes() != name.as_bytes());
            env.push(EnvVar { name: name.as_str().into(), value: value.as_str().into() });
        }
        // Without a project, the agent's directory is used.
        let project = premises.policy.project.clone().filter(|project| !project.as_os_str().is_empty());
        let root = project.unwrap_or_else(|| premises.cwd.clone());
        let permissions = PolicyPermissions {
            settings: self.options.settings.clone(),
            session: premises.session.clone(),
            policy: premises.policy.clone(),
            shell: premises.shell.to_lossy(),
            cwd: premises.cwd.clone(),
            project: root.clone(),
        };
        Client {
            observer: NoObserver,
            terminals: Terminals {
                settings: self.options.settings.clone(),
                session: premises.session.clone(),
                shell: premises.shell.clone(),
                cwd: premises.cwd.clone(),
                env,
                limits: premises.limits.clone(),
                holder: Some(self.host.holder()),
                known: Mutex::default(),
            },
            permissions: Arc::new(permissions),
            approved: Approved::default(),
            quirks,
            root,
        }
    }
}

/// Returns the variables for the agent, its MCP server and its commands.
fn own_env(options: &ChatOptions) -> Vec<(String, String)> {
    let home = options.settings.home.to_string_lossy().into_owned();
    let keep = options.premises.policy.patience.keep.as_secs();
    // The chat delivers the notifications, and a person is present for approvals.
    let own = [
        ("MEANWHILE_HOME", home),
        ("MEANWHILE_SESSION", options.transcript.session.clone()),
        // All tasks of the chat are numbered together.
        ("MEANWHILE_CONTEXT", options.premises.context_stamp.clone()),
        ("MEANWHILE_TOOLS_NOTICES", "false".to_owned()),
        ("MEANWHILE_APPROVAL_WAIT", format!("{keep}s")),
    ];
    own.map(|(name, value)| (name.to_owned(), value)).to_vec()
}
