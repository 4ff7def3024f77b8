//! A session with an agent: `initialize`, then `session/new` or `session/load`, its mode and its turns.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, ContentBlock, EnvVariable, FileSystemCapabilities,
    Implementation, InitializeRequest, LoadSessionRequest, McpServer, McpServerStdio, NewSessionRequest,
    PromptRequest, SetSessionModeRequest, StopReason, TextContent,
};
use agent_client_protocol::{Agent, Error, is_incoming_transport_closed};
use mw_tools::dialects::Dialect;
use serde_json::Value;

use super::client::Client;
use super::content::word;
use super::error::AcpError;
use super::own_agent::HEARD;
use super::quirks::Quirks;

/// How long an agent may take for these requests.
const MOMENT: Duration = Duration::from_secs(60);

/// An agent's session over an open connection.
#[derive(Clone)]
pub(crate) struct AgentSession {
    pub(crate) connection: ConnectionTo<Agent>,
    /// The agent's id of it.
    pub(crate) id: String,
}

impl AgentSession {
    /// Loads a known session, or creates one. Returns the mode of the agent, too, if it has modes. Updates are ignored
    /// while the agent repeats the earlier conversation.
    ///
    /// # Errors
    /// When the agent refuses; [`AcpError::Expired`] if it no longer has the known session.
    pub(crate) async fn open<W>(
        connection: ConnectionTo<Agent>,
        client: &Client<W>,
        server: &OwnServer<'_>,
        known: Option<&str>,
    ) -> Result<(Self, Option<String>), AcpError> {
        let (cwd, servers) = (&client.permissions.cwd, vec![server.described()]);
        let (id, modes) = match known {
            Some(known) => {
                let request = LoadSessionRequest::new(known.to_owned(), cwd).mcp_servers(servers);
                client.replays.store(true, Ordering::SeqCst);
                let loaded = in_time("session/load", connection.send_request(request).block_task()).await;
                client.replays.store(false, Ordering::SeqCst);
                let loaded = loaded.map_err(|error| match error {
                    AcpError::Refused { why, .. } => AcpError::Expired { why },
                    other => other,
                })?;
                (known.to_owned(), loaded.modes)
            }
            None => {
                let request = NewSessionRequest::new(cwd).mcp_servers(servers);
                let made = in_time("session/new", connection.send_request(request).block_task()).await?;
                (made.session_id.0.to_string(), made.modes)
            }
        };
        let mode = modes.map(|modes| modes.current_mode_id.0.to_string());
        Ok((Self { connection, id }, mode))
    }

    /// Sets the mode of the agent. The request is sent at once, so several arrive in the order of the calls.
    pub(crate) fn set_mode(&self, mode: &str) -> impl Future<Output = Result<(), AcpError>> + Send + use<> {
        let request = SetSessionModeRequest::new(self.id.clone(), mode.to_owned());
        let set = self.connection.send_request(request).block_task();
        async move { in_time("session/set_mode", set).await.map(drop) }
    }

    /// Sends a message, at once. Returns the stop reason of the completed turn; any other reason is an error.
    pub(crate) fn prompt(
        &self,
        text: String,
    ) -> impl Future<Output = Result<String, AcpError>> + Send + use<> {
        let text = ContentBlock::Text(TextContent::new(text));
        let prompt =
            self.connection.send_request(PromptRequest::new(self.id.clone(), vec![text])).block_task();
        async move { stopped(prompt.await.map_err(|error| failed("session/prompt", &error))?.stop_reason) }
    }

    /// Asks the agent to end its turn early.
    pub(crate) fn cancel(&self) {
        let _ = self.connection.send_notification(CancelNotification::new(self.id.clone()));
    }
}

/// Our own MCP server, as it is announced to an agent.
pub(crate) struct OwnServer<'a> {
    pub(crate) mw: &'a Path,
    /// The dialect of its tools.
    pub(crate) dialect: Dialect,
    pub(crate) env: &'a [(String, String)],
}

impl OwnServer<'_> {
    fn described(&self) -> McpServer {
        let env = self.env.iter().map(|(name, value)| EnvVariable::new(name, value)).collect();
        let server = McpServerStdio::new("meanwhile", self.mw.to_owned());
        let mut words = vec!["mcp".to_owned()];
        if self.dialect != Dialect::Canonical {
            words.extend(["--dialect".to_owned(), self.dialect.name().to_owned()]);
        }
        McpServer::Stdio(server.args(words).env(env))
    }
}

/// What an agent reports about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Its name and version, if it reports them: `opencode 1.2.3`.
    pub info: Option<String>,
    /// Whether it can load a session in a new process.
    pub can_load: bool,
    /// How a person can sign in, if that is required.
    pub sign_in: Vec<String>,
}

/// Initialises an agent and offers files and terminals to it, if it can use them.
pub(crate) async fn initialize(
    connection: &ConnectionTo<Agent>,
    quirks: Quirks,
) -> Result<Handshake, AcpError> {
    let has_files = quirks.writes_through_client;
    let files = FileSystemCapabilities::new().read_text_file(has_files).write_text_file(has_files);
    let request = InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(ClientCapabilities::new().fs(files).terminal(!quirks.is_own_agent))
        .client_info(Implementation::new("meanwhile", env!("CARGO_PKG_VERSION")));
    let agent = in_time("initialize", connection.send_request(request).block_task()).await?;
    if agent.protocol_version != ProtocolVersion::V1 {
        return Err(AcpError::Version { version: format!("{:?}", agent.protocol_version) });
    }
    let title =
        |info: &Implementation| format!("{} {}", info.title.as_ref().unwrap_or(&info.name), info.version);
    Ok(Handshake {
        info: agent.agent_info.as_ref().map(title),
        can_load: agent.agent_capabilities.load_session && quirks.loads,
        sign_in: agent.auth_methods.iter().map(|method| method.name().to_owned()).collect(),
    })
}

async fn in_time<T>(
    request: &'static str,
    answer: impl Future<Output = Result<T, Error>>,
) -> Result<T, AcpError> {
    match tokio::time::timeout(MOMENT, answer).await {
        Ok(answer) => answer.map_err(|error| failed(request, &error)),
        Err(_) => Err(AcpError::Silent { request, seconds: MOMENT.as_secs() }),
    }
}

fn failed(request: &'static str, error: &Error) -> AcpError {
    if is_incoming_transport_closed(error) {
        return AcpError::gone();
    }
    let field = |name: &str| error.data.as_ref()?.get(name);
    // The message of our own agent contains the hint; the data repeat it for programs.
    let hint = field("hint").and_then(Value::as_str);
    let why = match &error.data {
        Some(data) if !hint.is_some_and(|hint| error.message.contains(hint)) => {
            format!("{} ({data})", error.message)
        }
        _ => error.message.clone(),
    };
    let is_recorded = field(HEARD).and_then(Value::as_bool) == Some(true);
    AcpError::Refused { request, why, is_recorded }
}

/// Returns the stop reason of a completed turn. Any other reason is an error.
fn stopped(reason: StopReason) -> Result<String, AcpError> {
    match reason {
        StopReason::EndTurn => Ok(word(&reason)),
        early => Err(AcpError::Stopped { reason: word(&early) }),
    }
}
