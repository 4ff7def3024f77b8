//! Starts a conversation over the protocol: `initialize`, then a new session or a loaded one.

use std::path::Path;
use std::time::Duration;

use agent_client_protocol::Agent;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, EnvVariable, FileSystemCapabilities, Implementation, InitializeRequest,
    InitializeResponse, LoadSessionRequest, McpServer, McpServerStdio, NewSessionRequest, SessionModeState,
    SetSessionModeRequest,
};
use mw_tools::dialects::Dialect;

use super::error::AcpError;
use super::quirks::Quirks;

/// How long an agent may take over requests that take a moment.
const MOMENT: Duration = Duration::from_secs(60);

/// Where a conversation takes place.
pub(super) struct Opening<'a> {
    pub(super) connection: &'a ConnectionTo<Agent>,
    pub(super) cwd: &'a Path,
    /// Our own MCP server, which the agent gets.
    pub(super) server: McpServer,
}

/// A conversation that the agent holds.
pub(super) struct Opened {
    /// The agent's own name for it.
    pub(super) session: String,
    /// The mode that the agent is in, if it has any.
    pub(super) mode: Option<String>,
}

impl Opening<'_> {
    /// Begins a conversation.
    pub(super) async fn begin(&self) -> Result<Opened, AcpError> {
        let request = NewSessionRequest::new(self.cwd).mcp_servers(vec![self.server.clone()]);
        let made = in_time("session/new", self.connection.send_request(request).block_task()).await?;
        Ok(Opened { session: made.session_id.0.to_string(), mode: current(made.modes) })
    }

    /// Takes up a conversation that the agent has held before; `replays` hears whether the agent is repeating it.
    ///
    /// An agent that has forgotten it is [`AcpError::Expired`].
    pub(super) async fn take_up(&self, known: &str, replays: impl Fn(bool)) -> Result<Opened, AcpError> {
        let request =
            LoadSessionRequest::new(known.to_owned(), self.cwd).mcp_servers(vec![self.server.clone()]);
        replays(true);
        let loaded = in_time("session/load", self.connection.send_request(request).block_task()).await;
        replays(false);
        let loaded = loaded.map_err(|error| match error {
            AcpError::Refused { why, .. } => AcpError::Expired { why },
            other => other,
        })?;
        Ok(Opened { session: known.to_owned(), mode: current(loaded.modes) })
    }
}

fn current(modes: Option<SessionModeState>) -> Option<String> {
    modes.map(|modes| modes.current_mode_id.0.to_string())
}

/// Wants another mode of the agent. The request is sent at once, so that several arrive in the order of the calls.
pub(super) fn set_mode(
    connection: &ConnectionTo<Agent>,
    session: &str,
    mode: &str,
) -> impl Future<Output = Result<(), AcpError>> + Send + use<> {
    let request = SetSessionModeRequest::new(session.to_owned(), mode.to_owned());
    let set = connection.send_request(request).block_task();
    async move { in_time("session/set_mode", set).await.map(drop) }
}

/// Our own MCP server, as it is announced to an agent.
pub(super) struct OwnServer<'a> {
    pub(super) mw: &'a Path,
    /// Whose tools it offers.
    pub(super) dialect: Dialect,
    pub(super) env: &'a [(String, String)],
}

impl OwnServer<'_> {
    pub(super) fn described(&self) -> McpServer {
        let env = self.env.iter().map(|(name, value)| EnvVariable::new(name, value)).collect();
        let server = McpServerStdio::new("meanwhile", self.mw.to_owned());
        let mut words = vec!["mcp".to_owned()];
        if self.dialect != Dialect::Canonical {
            words.extend(["--dialect".to_owned(), self.dialect.name().to_owned()]);
        }
        McpServer::Stdio(server.args(words).env(env))
    }
}

/// Initialises an agent and offers files and terminals to it.
pub(super) async fn greet(
    connection: &ConnectionTo<Agent>,
    quirks: Quirks,
) -> Result<InitializeResponse, AcpError> {
    let has_files = quirks.writes_through_client;
    let files = FileSystemCapabilities::new().read_text_file(has_files).write_text_file(has_files);
    let mut greeted = greet_as(connection, ClientCapabilities::new().fs(files).terminal(true)).await?;
    greeted.agent_capabilities.load_session &= quirks.loads;
    Ok(greeted)
}

/// Greets an agent.
pub(super) async fn greet_as(
    connection: &ConnectionTo<Agent>,
    able: ClientCapabilities,
) -> Result<InitializeResponse, AcpError> {
    let request = InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(able)
        .client_info(Implementation::new("meanwhile", env!("CARGO_PKG_VERSION")));
    let greeted = in_time("initialize", connection.send_request(request).block_task()).await?;
    if greeted.protocol_version != ProtocolVersion::V1 {
        return Err(AcpError::Version { version: format!("{:?}", greeted.protocol_version) });
    }
    Ok(greeted)
}

/// Returns what an agent calls itself: `opencode 1.2.3`.
pub(super) fn title(info: &Implementation) -> String {
    format!("{} {}", info.title.as_ref().unwrap_or(&info.name), info.version)
}

async fn in_time<T>(
    request: &'static str,
    answer: impl Future<Output = Result<T, agent_client_protocol::Error>>,
) -> Result<T, AcpError> {
    match tokio::time::timeout(MOMENT, answer).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) if is_hang_up(&error) => Err(AcpError::Gone { how: String::new() }),
        Ok(Err(error)) => Err(AcpError::Refused { request, why: in_words(&error) }),
        Err(_) => Err(AcpError::Silent { request, seconds: MOMENT.as_secs() }),
    }
}

/// Returns whether an error only says that the agent has exited.
pub(super) fn is_hang_up(error: &agent_client_protocol::Error) -> bool {
    let reason = error.data.as_ref().and_then(|data| data.get("reason"));
    reason.is_some_and(|reason| reason == "incoming_transport_closed")
}

pub(super) fn in_words(error: &agent_client_protocol::Error) -> String {
    // Our own agent's message has the hint for people; in the data it is for programs.
    let hint = error.data.as_ref().and_then(|data| data.get("hint")?.as_str());
    match &error.data {
        Some(_) if hint.is_some_and(|hint| error.message.contains(hint)) => error.message.clone(),
        Some(data) => format!("{} ({data})", error.message),
        None => error.message.clone(),
    }
}
