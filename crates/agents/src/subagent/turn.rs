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
use tokio::sync::watch;

use super::transcript::Transcript;
use crate::acp::client::Client;
use crate::acp::error::AcpError;
use crate::acp::handlers::{handlers, respond_apart};
use crate::acp::session::{Opening, OwnServer, greet, in_words, is_hang_up, set_mode, stopped, title};
use crate::acp::wire::Garbage;
use crate::event_loop;
use mw_tools::dialects::Dialect;

/// How often the activity is written and silence is checked.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long to wait for an answer that arrived just before the connection closed.
const LAST_WORD: Duration = Duration::from_millis(500);

/// The settings of a turn.
pub(super) struct Conversation {
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
    /// It ends if it can load sessions; otherwise a keeper must have it.
    Unknown,
    /// It ends.
    Passing,
    /// A keeper has it.
    Kept,
    /// A keeper has had it since an earlier turn, and its session is open.
    Resident,
}

/// A turn.
pub(super) struct Turn {
    pub(super) client: Arc<Client<Mutex<Transcript>>>,
    pub(super) conversation: Conversation,
}

/// An event that is recorded before the turn ends.
pub(super) enum News {
    /// The agent was initialised.
    Greeted { info: Option<String>, can_load: bool },
    /// A session was created.
    Began { session: String },
    /// The prompt was sent.
    Accepted,
}

impl News {
    pub(super) fn apply(self, record: &mut AgentRecord) {
        match self {
            Self::Greeted { info, can_load } => {
                record.agent_info = info;
                record.can_load = can_load;
            }
            Self::Began { session } => record.session_id = Some(session),
            Self::Accepted => {
                if let Some(turn) = record.turns.last_mut() {
                    turn.accepted = true;
                }
            }
        }
    }
}

impl Turn {
    /// Runs the turn. Returns the stop reason of the protocol.
    pub(super) fn run(
        &self,
        transport: impl ConnectTo<ClientRole> + 'static,
        garbage: &Garbage,
        mut on_news: impl FnMut(News),
    ) -> Result<String, AcpError> {
        let failed = |why: String| AcpError::NotStarted { command: "the driver".to_owned(), why };
        // Threads that wait for a terminal end with this process.
        let outcome = event_loop::run(async {
            let (cancel, cancelled) = watch::channel(false);
            tokio::spawn(watch_signals(cancel));
            let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
            let turn = self.turn(transport, garbage, cancelled, tell);
            tokio::pin!(turn);
            let outcome = loop {
                tokio::select! {
                    Some(news) = told.recv() => on_news(news),
                    outcome = &mut turn => break outcome,
                }
            };
            while let Ok(news) = told.try_recv() {
                on_news(news);
            }
            outcome
        });
        self.client.transcript().tick(garbage.count());
        outcome.map_err(|error| failed(error.to_string()))?
    }

    async fn turn(
        &self,
        transport: impl ConnectTo<ClientRole> + 'static,
        garbage: &Garbage,
        cancelled: watch::Receiver<bool>,
        tell: tokio::sync::mpsc::UnboundedSender<News>,
    ) -> Result<String, AcpError> {
        let gone = || AcpError::Gone { how: String::new() };
        let mut outcome = Err(gone());
        let place = &mut outcome;
        let connected = self.serve(transport, async move |connection| {
            *place = self.ask(&connection, garbage, cancelled, &tell).await;
            Ok(())
        });
        // The outcome counts more than an error while the connection closes.
        let _ = connected.await;
        outcome
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
        mut cancelled: watch::Receiver<bool>,
        tell: &tokio::sync::mpsc::UnboundedSender<News>,
    ) -> Result<String, AcpError> {
        let ready = tokio::select! {
            ready = self.begin(connection, tell) => ready,
            _ = cancelled.wait_for(|cancelled| *cancelled) => Err(AcpError::Cancelled),
            () = connection.incoming_closed() => Err(AcpError::Gone { how: String::new() }),
        };
        let session = ready?;
        let text = ContentBlock::Text(TextContent::new(self.conversation.prompt.clone()));
        let prompt = connection.send_request(PromptRequest::new(session.clone(), vec![text])).block_task();
        let _ = tell.send(News::Accepted);
        tokio::pin!(prompt);
        let answered = tokio::select! {
            answered = &mut prompt => Some(answered),
            _ = cancelled.wait_for(|cancelled| *cancelled) => None,
            () = connection.incoming_closed() => {
                // The answer may have come just before the end.
                tokio::time::timeout(LAST_WORD, &mut prompt).await.ok()
            }
            never = self.watch_silence(garbage) => match never {},
        };
        match answered {
            Some(Ok(response)) => stopped(response.stop_reason),
            Some(Err(error)) if is_hang_up(&error) => Err(AcpError::Gone { how: String::new() }),
            Some(Err(error)) => Err(AcpError::Refused { request: "session/prompt", why: in_words(&error) }),
            None if !*cancelled.borrow() => Err(AcpError::Gone { how: String::new() }),
            None => {
                let _ = connection.send_notification(CancelNotification::new(session));
                let _ = tokio::time::timeout(self.conversation.cancel_after, prompt).await;
                Err(AcpError::Cancelled)
            }
        }
    }

    /// Initialises the agent, and creates or loads a session.
    async fn begin(
        &self,
        connection: &ConnectionTo<Agent>,
        tell: &tokio::sync::mpsc::UnboundedSender<News>,
    ) -> Result<String, AcpError> {
        if let (Stay::Resident, Some(known)) = (self.conversation.stay, &self.conversation.known) {
            return Ok(known.clone());
        }
        let greeted = greet(connection, self.client.quirks).await?;
        let can_load = greeted.agent_capabilities.load_session;
        if !can_load && self.conversation.stay == Stay::Unknown {
            return Err(AcpError::NeedsKeeper);
        }
        let _ = tell.send(News::Greeted { info: greeted.agent_info.as_ref().map(title), can_load });
        let conversation = &self.conversation;
        let opening = Opening { connection, cwd: &conversation.cwd, server: conversation.server() };
        let replays = |replays| self.client.transcript().replays = replays;
        let session = opening.open(conversation.known.as_deref(), replays).await?.session;
        if conversation.known.is_none() {
            let _ = tell.send(News::Began { session: session.clone() });
        }
        if let Some(mode) = &conversation.mode {
            set_mode(connection, &session, mode).await?;
        }
        Ok(session)
    }

    /// Writes the activity regularly, and reports when the agent has been silent for too long.
    async fn watch_silence(&self, garbage: &Garbage) -> std::convert::Infallible {
        let mut told_at: Option<Instant> = None;
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let mut transcript = self.client.transcript();
            transcript.tick(garbage.count());
            let heard = transcript.heard;
            let limit = self.conversation.silence;
            if limit.is_zero() || heard.elapsed() < limit || told_at == Some(heard) {
                continue;
            }
            if transcript.activity.waiting.is_none() {
                let seconds = heard.elapsed().as_secs();
                transcript.wait_for(Some(format!("no message from the agent for {seconds} s")));
                // It is not known to wait for a person.
                transcript.activity.waiting = None;
            }
            told_at = Some(heard);
        }
    }
}

impl Conversation {
    /// Returns our MCP server, bound to the session of the agent's tasks.
    fn server(&self) -> McpServer {
        let env = [
            ("MEANWHILE_HOME".to_owned(), self.home.to_string_lossy().into_owned()),
            ("MEANWHILE_SESSION".to_owned(), self.child.clone()),
            (DEPTH_VARIABLE.to_owned(), self.depth.to_string()),
        ];
        OwnServer { mw: &self.mw, dialect: Dialect::Canonical, env: &env }.described()
    }
}

async fn watch_signals(cancel: watch::Sender<bool>) {
    let Ok(end_signal) = event_loop::end_signal() else { return };
    end_signal.await;
    let _ = cancel.send(true);
    std::future::pending::<()>().await;
}
