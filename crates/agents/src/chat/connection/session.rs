//! The agent's session over an open connection: turns, modes and answers, all concurrently.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent_client_protocol::Agent;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, ContentBlock, PromptRequest, PromptResponse, TextContent,
};
use mw_desk::chat::Entry;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::requests::Requests;
use super::{AgentEvent, ConnectionOptions, EventHandler, Order, TurnEnd};
use crate::acp::client::{Client, NoObserver};
use crate::acp::error::AcpError;
use crate::acp::own_agent::HEARD;
use crate::acp::session;
use crate::acp::session::{Opened, Opening, OwnServer, stopped};

/// The agent's session over an open connection.
pub(super) struct AgentSession<'a> {
    pub(super) options: &'a ConnectionOptions,
    pub(super) connection: ConnectionTo<Agent>,
    pub(super) on_event: &'a Arc<EventHandler>,
    pub(super) client: &'a Arc<Client<NoObserver>>,
    pub(super) requests: &'a Requests,
    pub(super) replays: &'a AtomicBool,
}

impl AgentSession<'_> {
    pub(super) async fn run(&self, orders: &mut UnboundedReceiver<Order>) -> Result<(), AcpError> {
        let (begun, ready) = tokio::select! {
            begun = self.begin() => begun?,
            () = closed(orders) => return Ok(()),
        };
        // The event is sent after the set-up, because an order that arrives during the set-up would be lost.
        (self.on_event)(ready);
        let mut turns = JoinSet::new();
        // Modes are set concurrently with the agent's requests, because an agent may first wait for an answer to its
        // request.
        let mut mode_changes = JoinSet::new();
        let mut stopping = Stopping::No;
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    None | Some(Order::Close) => return Ok(()),
                    Some(Order::Prompt(text)) => {
                        self.requests.begin_turn();
                        let text = ContentBlock::Text(TextContent::new(text));
                        let request = PromptRequest::new(begun.clone(), vec![text]);
                        turns.spawn(self.connection.send_request(request).block_task());
                    }
                    Some(Order::Stop) => {
                        self.requests.cancel_all();
                        let _ = self.connection.send_notification(CancelNotification::new(begun.clone()));
                        stopping = match stopping {
                            Stopping::No if turns.is_empty() => Stopping::No,
                            Stopping::No => Stopping::Until(Instant::now() + self.options.cancel_after),
                            Stopping::Until(then) => Stopping::Until(then),
                            Stopping::Overdue => return Err(AcpError::Unstopped),
                        };
                    }
                    Some(Order::Mode(mode)) => _ = mode_changes.spawn(set_mode(&self.connection, &begun, mode)),
                    Some(Order::Answer(number, reply)) => {
                        let (approved, cwd) = (&self.client.approved, &self.client.terminals.cwd);
                        self.requests.answer(number, reply, |request| approved.give(request, cwd));
                    }
                },
                Some(ended) = turns.join_next() => {
                    stopping = Stopping::No;
                    self.client.approved.forget();
                    let client = Arc::clone(self.client);
                    // Terminals are released before the event is sent, because the next turn depends on it.
                    let _ = tokio::task::spawn_blocking(move || client.terminals.leave_all()).await;
                    (self.on_event)(AgentEvent::TurnEnded(turn_end(ended)?));
                }
                Some(Ok(event)) = mode_changes.join_next() => {
                    (self.on_event)(event);
                }
                () = stopping.overdue() => {
                    stopping = Stopping::Overdue;
                    (self.on_event)(AgentEvent::Unstopped(self.options.cancel_after));
                }
            }
        }
    }

    /// Initialises the agent and creates or loads a session. Returns the session's id and the event to send.
    async fn begin(&self) -> Result<(String, AgentEvent), AcpError> {
        let options = self.options;
        let greeted = match options.is_own_agent {
            true => session::greet_as(&self.connection, ClientCapabilities::new()).await?,
            false => session::greet(&self.connection, self.client.quirks).await?,
        };
        let can_load = greeted.agent_capabilities.load_session;
        let server = OwnServer { mw: &options.mw, dialect: options.dialect, env: &options.server_env };
        let opening = Opening { connection: &self.connection, cwd: &options.cwd, server: server.described() };
        let replays = |replays| self.replays.store(replays, Ordering::SeqCst);
        let known = options.known.as_deref().filter(|_| can_load);
        let (Opened { session, mode }, remembers) = match opening.open(known, replays).await {
            // The user is informed, and a new session is created.
            Err(AcpError::Expired { .. }) => (opening.open(None, replays).await?, false),
            opened => (opened?, known.is_some()),
        };
        let info = greeted.agent_info.as_ref().map(session::title);
        if let Some(mode) = &options.mode {
            (self.on_event)(set_mode(&self.connection, &session, mode.clone()).await);
        }
        let ready = AgentEvent::Ready { info, session: session.clone(), can_load, remembers, mode };
        Ok((session, ready))
    }
}

/// Whether the turn was cancelled.
#[derive(Clone, Copy)]
enum Stopping {
    No,
    /// The turn was cancelled and must end before this time.
    Until(Instant),
    /// The time has passed. A second cancellation kills the agent.
    Overdue,
}

impl Stopping {
    /// Returns when the time for cancelling the turn has passed.
    async fn overdue(self) {
        match self {
            Self::Until(then) => tokio::time::sleep_until(then).await,
            Self::No | Self::Overdue => std::future::pending().await,
        }
    }
}

/// Sets the agent's mode, in the order of the calls. Returns the result as an event.
fn set_mode(
    connection: &ConnectionTo<Agent>,
    session: &str,
    mode: String,
) -> impl Future<Output = AgentEvent> + Send + 'static {
    let set = session::set_mode(connection, session, &mode);
    async move {
        match set.await {
            Ok(()) => AgentEvent::Entry(Entry::Mode { mode }),
            Err(error) => AgentEvent::ModeRefused { mode, why: error.to_string() },
        }
    }
}

/// Returns when the connection is closed during set-up. The sender keeps messages that come too early.
async fn closed(orders: &mut UnboundedReceiver<Order>) {
    while !matches!(orders.recv().await, None | Some(Order::Close)) {}
}

type TurnResult = Result<Result<PromptResponse, agent_client_protocol::Error>, tokio::task::JoinError>;

fn turn_end(ended: TurnResult) -> Result<TurnEnd, AcpError> {
    match ended {
        Ok(Ok(response)) => Ok(match stopped(response.stop_reason) {
            Ok(_) => TurnEnd::Done,
            Err(AcpError::Stopped { reason }) => TurnEnd::Early(reason),
            Err(error) => TurnEnd::Early(error.to_string()),
        }),
        Ok(Err(error)) if session::is_hang_up(&error) => Err(AcpError::Gone { how: String::new() }),
        Ok(Err(error)) => {
            // The built-in agent reports whether it recorded the message before it failed.
            let is_recorded = error.data.as_ref().and_then(|data| data.get(HEARD)?.as_bool());
            let why = session::in_words(&error);
            Ok(if is_recorded == Some(true) { TurnEnd::Early(why) } else { TurnEnd::Refused(why) })
        }
        Err(_) => Ok(TurnEnd::Refused("the turn failed unexpectedly".to_owned())),
    }
}
