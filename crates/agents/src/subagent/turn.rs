//! One turn over the protocol: initialize, create or load the session, send the prompt, follow the answer, end.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, McpServer, PromptRequest, RequestPermissionRequest,
    SessionNotification, TextContent,
};
use agent_client_protocol::{Agent, Client as ClientRole, ConnectTo};
use mw_model::{AgentRecord, DEPTH_VARIABLE};
use tokio_util::sync::CancellationToken;

use super::transcript::Transcript;
use crate::acp::client::Client;
use crate::acp::error::AcpError;
use crate::acp::handlers::{handlers, respond_apart};
use crate::acp::session::{Opening, OwnServer, greet, in_words, is_hang_up, set_mode, stopped, title};
use crate::acp::wire::Garbage;
use crate::event_loop;
use mw_tools::dialects::Dialect;

/// The time between two writes of the activity. Silence is checked at the same time.
const ACTIVITY_INTERVAL: Duration = Duration::from_millis(500);
/// How long to wait for an answer that arrived just before the connection was closed.
const FINAL_ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

/// The settings of a turn.
pub(super) struct TurnSettings {
    pub(super) cwd: PathBuf,
    pub(super) mw: PathBuf,
    pub(super) home: PathBuf,
    pub(super) child: String,
    pub(super) depth: u32,
    pub(super) mode: Option<String>,
    /// The agent's id of the session to continue.
    pub(super) known: Option<String>,
    pub(super) prompt: String,
    pub(super) cancel_after: Duration,
    pub(super) silence: Duration,
    pub(super) stay: Stay,
}

/// What happens to the agent after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stay {
    /// The agent ends if it can load sessions. Otherwise a keeper must hold it.
    Unknown,
    /// The agent ends.
    Passing,
    /// A keeper holds the agent.
    Kept,
    /// A keeper has held the agent since an earlier turn, and its session is open.
    Resident,
}

/// A running turn.
pub(super) struct Turn {
    pub(super) client: Arc<Client<Mutex<Transcript>>>,
    pub(super) settings: TurnSettings,
}

/// A function that changes the record of the agent and writes it.
pub(super) type Change<'a> = dyn FnMut(&dyn Fn(&mut AgentRecord)) + 'a;

impl Turn {
    /// Runs the turn. Returns the stop reason of the protocol.
    pub(super) fn run(
        &self,
        transport: impl ConnectTo<ClientRole> + 'static,
        garbage: &Garbage,
        change: &mut Change<'_>,
    ) -> Result<String, AcpError> {
        let failed = |why: String| AcpError::NotStarted { command: "the driver".to_owned(), why };
        // Threads that wait for a terminal end with this process.
        let outcome = event_loop::run(async {
            let cancelled = CancellationToken::new();
            tokio::spawn(cancel_by_signal(cancelled.clone()));
            let mut outcome = Err(AcpError::Gone { how: String::new() });
            let place = &mut outcome;
            let connected = self.serve(transport, async move |connection| {
                *place = self.ask(&connection, garbage, cancelled, change).await;
                Ok(())
            });
            // The outcome is more important than an error while the connection is closed.
            let _ = connected.await;
            outcome
        });
        self.client.transcript().tick(garbage.count());
        outcome.map_err(|error| failed(error.to_string()))?
    }

    /// Answers the agent's requests while `main` runs.
    async fn serve(
        &self,
        transport: impl ConnectTo<ClientRole> + 'static,
        main: impl AsyncFnOnce(ConnectionTo<Agent>) -> Result<(), agent_client_protocol::Error>,
    ) -> Result<(), agent_client_protocol::Error> {
        let (updates, permission) = (Arc::clone(&self.client), Arc::clone(&self.client));
        handlers(&self.client)
            .on_receive_notification(
                async move |notification: SessionNotification, _connection| {
                    updates.transcript().update(&notification.update);
                    Ok(())
                },
                agent_client_protocol::on_receive_notification!(),
            )
            .on_receive_request(
                async move |request: RequestPermissionRequest, responder, _connection| {
                    respond_apart(&permission, responder, move |client| client.permission(&request));
                    Ok(())
                },
                agent_client_protocol::on_receive_request!(),
            )
            .connect_with(transport, main)
            .await
    }

    async fn ask(
        &self,
        connection: &ConnectionTo<Agent>,
        garbage: &Garbage,
        cancelled: CancellationToken,
        change: &mut Change<'_>,
    ) -> Result<String, AcpError> {
        let ready = tokio::select! {
            ready = self.begin(connection, change) => ready,
            () = cancelled.cancelled() => Err(AcpError::Cancelled),
            () = connection.incoming_closed() => Err(AcpError::Gone { how: String::new() }),
        };
        let session = ready?;
        let text = ContentBlock::Text(TextContent::new(self.settings.prompt.clone()));
        let prompt = connection.send_request(PromptRequest::new(session.clone(), vec![text])).block_task();
        change(&|record| record.turns.last_mut().into_iter().for_each(|turn| turn.accepted = true));
        tokio::pin!(prompt);
        let answered = tokio::select! {
            answered = &mut prompt => Some(answered),
            () = cancelled.cancelled() => None,
            () = connection.incoming_closed() => {
                // The answer may have arrived just before the end.
                tokio::time::timeout(FINAL_ANSWER_TIMEOUT, &mut prompt).await.ok()
            }
            never = self.watch_silence(garbage) => match never {},
        };
        match answered {
            Some(Ok(response)) => stopped(response.stop_reason),
            Some(Err(error)) if is_hang_up(&error) => Err(AcpError::Gone { how: String::new() }),
            Some(Err(error)) => Err(AcpError::Refused { request: "session/prompt", why: in_words(&error) }),
            None if !cancelled.is_cancelled() => Err(AcpError::Gone { how: String::new() }),
            None => {
                let _ = connection.send_notification(CancelNotification::new(session));
                let _ = tokio::time::timeout(self.settings.cancel_after, prompt).await;
                Err(AcpError::Cancelled)
            }
        }
    }

    /// Initialises the agent, and creates or loads a session.
    async fn begin(
        &self,
        connection: &ConnectionTo<Agent>,
        change: &mut Change<'_>,
    ) -> Result<String, AcpError> {
        if let (Stay::Resident, Some(known)) = (self.settings.stay, &self.settings.known) {
            return Ok(known.clone());
        }
        let greeted = greet(connection, self.client.quirks).await?;
        let can_load = greeted.agent_capabilities.load_session;
        if !can_load && self.settings.stay == Stay::Unknown {
            return Err(AcpError::NeedsKeeper);
        }
        change(&|record| {
            (record.agent_info, record.can_load) = (greeted.agent_info.as_ref().map(title), can_load);
        });
        let settings = &self.settings;
        let opening = Opening { connection, cwd: &settings.cwd, server: settings.server() };
        let replays = |replays| self.client.transcript().replays = replays;
        let session = opening.open(settings.known.as_deref(), replays).await?.session;
        if settings.known.is_none() {
            change(&|record| record.session_id = Some(session.clone()));
        }
        if let Some(mode) = &settings.mode {
            set_mode(connection, &session, mode).await?;
        }
        Ok(session)
    }

    /// Writes the activity regularly, and reports when the agent has been silent for too long.
    async fn watch_silence(&self, garbage: &Garbage) -> std::convert::Infallible {
        let mut told_at: Option<Instant> = None;
        loop {
            tokio::time::sleep(ACTIVITY_INTERVAL).await;
            let mut transcript = self.client.transcript();
            transcript.tick(garbage.count());
            let heard = transcript.heard;
            let limit = self.settings.silence;
            if limit.is_zero() || heard.elapsed() < limit || told_at == Some(heard) {
                continue;
            }
            if transcript.activity.waiting.is_none() {
                let seconds = heard.elapsed().as_secs();
                transcript.wait_for(Some(format!("no message from the agent for {seconds} s")));
                // It is unknown whether the agent waits for a person.
                transcript.activity.waiting = None;
            }
            told_at = Some(heard);
        }
    }
}

impl TurnSettings {
    /// Returns the configuration of our MCP server, bound to the session of the agent's tasks.
    fn server(&self) -> McpServer {
        let env = [
            ("MEANWHILE_HOME".to_owned(), self.home.to_string_lossy().into_owned()),
            ("MEANWHILE_SESSION".to_owned(), self.child.clone()),
            (DEPTH_VARIABLE.to_owned(), self.depth.to_string()),
        ];
        OwnServer { mw: &self.mw, dialect: Dialect::Canonical, env: &env }.described()
    }
}

async fn cancel_by_signal(cancelled: CancellationToken) {
    let Ok(end_signal) = event_loop::end_signal() else { return };
    end_signal.await;
    cancelled.cancel();
}
