//! Tests whether an agent works, by an `initialize` request and nothing more.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use agent_client_protocol::Client as ClientRole;

use super::error::AcpError;
use super::process::{AgentProcess, Start};
use super::quirks::Quirks;
use super::session::{Handshake, initialize};
use super::wire;
use crate::event_loop;
use mw_tools::delegation::AgentEntry;

/// How long `initialize` may take. Some agents load a lot first.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Starts an agent, initialises it and ends it.
///
/// # Errors
/// When it cannot be started or does not answer.
pub fn greet(entry: &AgentEntry, cwd: &Path) -> Result<Handshake, AcpError> {
    let start = Start { command: &entry.command, env: &entry.env, cwd, stderr: Stdio::null() };
    let (process, stdin, stdout) = AgentProcess::start(start)?;
    let transport = wire::lines(stdin, stdout, |_| {});
    let quirks = Quirks::of(&entry.command);
    let mut greeted = Err(AcpError::gone());
    let outcome = &mut greeted;
    let connected = ClientRole.v1().name("meanwhile").connect_with(transport, async move |connection| {
        *outcome = tokio::time::timeout(TIMEOUT, initialize(&connection, quirks))
            .await
            .unwrap_or_else(|_| Err(AcpError::Silent { request: "initialize", seconds: TIMEOUT.as_secs() }));
        Ok(())
    });
    let _ = event_loop::run(connected).map_err(|error| AcpError::no_event_loop(&error))?;
    if let Err(AcpError::Gone { how }) = &mut greeted {
        *how = process.how_it_ended();
    }
    process.end(Duration::from_millis(200));
    greeted
}
