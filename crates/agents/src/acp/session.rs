//! Starts a session with an agent: `initialize`, then `session/new` or `session/load`, and its mode.

use std::path::Path;
use std::time::Duration;

use agent_client_protocol::Agent;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, EnvVariable, FileSystemCapabilities, Implementation, InitializeRequest,
    InitializeResponse, LoadSessionRequest, McpServer, McpServerStdio, NewSessionRequest, SessionModeState,
    SetSessionModeRequest, StopReason,
};
use mw_tools::dialects::Dialect;

use super::error::AcpError;
use super::quirks::Quirks;

/// How long an agent may take for these requests.
const MOMENT: Duration = Duration::from_secs(60);

/// What a session is started with.
pub(crate) struct Opening<'a> {
    pub(crate) connection: &'a ConnectionTo<Agent>,
    pub(crate) cwd: &'a Path,
    /// Our own MCP server, which the agent gets.
    pub(crate) server: McpServer,
}

/// A session of the agent.
pub(crate) struct Opened {
    /// The agent's id of it.
    pub(crate) session: String,
    /// The mode of the agent, if it has modes.
    pub(crate) mode: Option<String>,
}

impl Opening<'_> {
    /// Loads a known session, or creates one. `replays` gets true while the agent repeats the earlier
    /// conversation, then false.
    ///
    /// # Errors
    /// When the agent refuses; [`AcpError::Expired`] if it no longer has the known session.
    pub(crate) async fn open(&self, known: Option<&str>, replays: impl Fn(bool)) -> Result<Opened, AcpError> {
        match known {
            Some(known) => self.load(known, replays).await,
            None => self.create().await,
        }
    }

    async fn create(&self) -> Result<Opened, AcpError> {
        let request = NewSessionRequest::new(self.cwd).mcp_servers(vec![self.server.clone()]);
        let made = in_time("session/new", self.connection.send_request(request).block_task()).await?;
        Ok(Opened { session: made.session_id.0.to_string(), mode: current(made.modes) })
    }

    async fn load(&self, known: &str, replays: impl Fn(bool)) -> Result<Opened, AcpError> {
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

/// Sets the mode of the agent. The request is sent at once, so several arrive in the order of the calls.
pub(crate) fn set_mode(
    connection: &ConnectionTo<Agent>,
    session: &str,
    mode: &str,
) -> impl Future<Output = Result<(), AcpError>> + Send + use<> {
    let request = SetSessionModeRequest::new(session.to_owned(), mode.to_owned());
    let set = connection.send_request(request).block_task();
    async move { in_time("session/set_mode", set).await.map(drop) }
}

/// Our own MCP server, as it is announced to an agent.
pub(crate) struct OwnServer<'a> {
    pub(crate) mw: &'a Path,
    /// The dialect of its tools.
    pub(crate) dialect: Dialect,
    pub(crate) env: &'a [(String, String)],
}

impl OwnServer<'_> {
    pub(crate) fn described(&self) -> McpServer {
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
pub(crate) async fn greet(
    connection: &ConnectionTo<Agent>,
    quirks: Quirks,
) -> Result<InitializeResponse, AcpError> {
    let has_files = quirks.writes_through_client;
    let files = FileSystemCapabilities::new().read_text_file(has_files).write_text_file(has_files);
    let mut greeted = greet_as(connection, ClientCapabilities::new().fs(files).terminal(true)).await?;
    greeted.agent_capabilities.load_session &= quirks.loads;
    Ok(greeted)
}

/// Initialises an agent with these capabilities of ours.
pub(crate) async fn greet_as(
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
pub(crate) fn title(info: &Implementation) -> String {
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
pub(crate) fn is_hang_up(error: &agent_client_protocol::Error) -> bool {
    let reason = error.data.as_ref().and_then(|data| data.get("reason"));
    reason.is_some_and(|reason| reason == "incoming_transport_closed")
}

pub(crate) fn in_words(error: &agent_client_protocol::Error) -> String {
    // The message of our own agent contains the hint; the data repeat it for programs.
    let hint = error.data.as_ref().and_then(|data| data.get("hint")?.as_str());
    match &error.data {
        Some(_) if hint.is_some_and(|hint| error.message.contains(hint)) => error.message.clone(),
        Some(data) => format!("{} ({data})", error.message),
        None => error.message.clone(),
    }
}

/// Returns the stop reason of a completed turn. Any other reason is an error.
pub(crate) fn stopped(reason: StopReason) -> Result<String, AcpError> {
    let early = |reason: &str| Err(AcpError::Stopped { reason: reason.to_owned() });
    match reason {
        StopReason::EndTurn => Ok("end_turn".to_owned()),
        StopReason::MaxTokens => early("max_tokens"),
        StopReason::MaxTurnRequests => early("max_turn_requests"),
        StopReason::Refusal => early("refusal"),
        StopReason::Cancelled => early("cancelled"),
        _ => early("for an unknown reason"),
    }
}
