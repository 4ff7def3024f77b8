//! Tests whether an agent works, by an `initialize` request and nothing more.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use agent_client_protocol::Client as ClientRole;

use super::error::AcpError;
use super::process::{AgentProcess, Start};
use super::quirks::Quirks;
use super::{session, wire};
use mw_tools::delegation::AgentEntry;

/// How long `initialize` may take. Some agents load a lot first.
const PATIENCE: Duration = Duration::from_secs(20);

/// What an agent reports about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Its name and version, if it reports them.
    pub info: Option<String>,
    /// Whether it can load a session in a new process.
    pub can_load: bool,
    /// How a person can sign in, if that is required.
    pub sign_in: Vec<String>,
}

/// Starts an agent, initialises it and ends it.
///
/// # Errors
/// When it cannot be started or does not answer.
pub fn greet(entry: &AgentEntry, cwd: &Path) -> Result<Handshake, AcpError> {
    let start = Start { command: &entry.command, env: &entry.env, cwd, stderr: Stdio::null() };
    let (process, stdin, stdout) = AgentProcess::start(start)?;
    let (transport, _) = wire::lines(stdin, stdout);
    let failed = |why: String| AcpError::NotStarted { command: entry.command.join(" "), why };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(error.to_string()))?;
    let quirks = Quirks::of(&entry.command);
    let mut greeted = Err(AcpError::Gone { how: String::new() });
    let place = &mut greeted;
    let connected = ClientRole.v1().name("meanwhile").connect_with(transport, async move |connection| {
        *place = tokio::select! {
            greeted = session::greet(&connection, quirks) => greeted,
            () = connection.incoming_closed() => Err(AcpError::Gone { how: String::new() }),
            () = tokio::time::sleep(PATIENCE) => {
                Err(AcpError::Silent { request: "initialize", seconds: PATIENCE.as_secs() })
            }
        };
        Ok(())
    });
    let _ = runtime.block_on(connected);
    runtime.shutdown_background();
    if let Err(AcpError::Gone { how }) = &mut greeted {
        std::thread::sleep(Duration::from_millis(20));
        *how = process.ended().unwrap_or_else(|| "it closed its output".to_owned());
    }
    process.end(Duration::from_millis(200));
    let greeted = greeted?;
    Ok(Handshake {
        info: greeted.agent_info.as_ref().map(session::title),
        can_load: greeted.agent_capabilities.load_session,
        sign_in: greeted.auth_methods.iter().map(|method| method.name().to_owned()).collect(),
    })
}
