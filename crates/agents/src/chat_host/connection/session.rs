//! The agent's session of a chat: turns, modes and answers, all concurrently.

use std::sync::Arc;

use agent_client_protocol::Agent;
use agent_client_protocol::v1::ConnectionTo;
use mw_desk::chat_protocol::ChatEntry;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use super::{AgentEvent, AgentOrder, ChatObserver, ConnectionOptions, TurnEnd};
use crate::acp::client::Client;
use crate::acp::error::AcpError;
use crate::acp::session::{AgentSession, Handshake, OwnServer, initialize};

/// The agent's session of a chat.
pub(super) struct ChatSession<'a> {
    pub(super) options: &'a ConnectionOptions,
    pub(super) client: &'a Arc<Client<ChatObserver>>,
}

impl ChatSession<'_> {
    pub(super) async fn run(
        &self,
        connection: ConnectionTo<Agent>,
        orders: &mut UnboundedReceiver<AgentOrder>,
    ) -> Result<(), AcpError> {
        let observer = &self.client.observer;
        let (session, ready) = tokio::select! {
            begun = self.begin(connection) => begun?,
            () = closed(orders) => return Ok(()),
        };
        // The event is sent after the set-up, because an order that arrives during the set-up would be lost.
        observer.send(ready);
        let mut turns = JoinSet::new();
        // Modes are set concurrently with the agent's requests, because an agent may first wait for an answer to its
        // request.
        let mut mode_changes = JoinSet::new();
        let mut stopping = Stopping::No;
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    None | Some(AgentOrder::Close) => return Ok(()),
                    Some(AgentOrder::Prompt(text)) => {
                        observer.requests.begin_turn();
                        turns.spawn(session.prompt(text));
                    }
                    Some(AgentOrder::Stop) => {
                        observer.requests.cancel_all();
                        session.cancel();
                        stopping = match stopping {
                            Stopping::No if turns.is_empty() => Stopping::No,
                            Stopping::No => Stopping::Until(Instant::now() + self.options.cancel_after),
                            Stopping::Until(then) => Stopping::Until(then),
                            Stopping::Overdue => return Err(AcpError::Unstopped),
                        };
                    }
                    Some(AgentOrder::Mode(mode)) => _ = mode_changes.spawn(set_mode(&session, mode)),
                    Some(AgentOrder::Answer(number, reply)) => {
                        let (approved, cwd) = (&self.client.approved, &self.client.permissions.cwd);
                        observer.requests.answer(number, reply, |request| approved.give(request, cwd));
                    }
                },
                Some(ended) = turns.join_next() => {
                    stopping = Stopping::No;
                    self.client.approved.forget();
                    let client = Arc::clone(self.client);
                    // Terminals are released before the event is sent, because the next turn depends on it.
                    let _ = tokio::task::spawn_blocking(move || client.terminals.leave_all()).await;
                    observer.send(AgentEvent::TurnEnded(turn_end(ended)?));
                }
                Some(Ok(event)) = mode_changes.join_next() => {
                    observer.send(event);
                }
                () = stopping.overdue() => {
                    stopping = Stopping::Overdue;
                    observer.send(AgentEvent::Unstopped(self.options.cancel_after));
                }
            }
        }
    }

    /// Initialises the agent and creates or loads a session. Returns the session and the event to send.
    async fn begin(&self, connection: ConnectionTo<Agent>) -> Result<(AgentSession, AgentEvent), AcpError> {
        let options = self.options;
        let Handshake { info, can_load, .. } = initialize(&connection, self.client.quirks).await?;
        let server = OwnServer { mw: &options.mw, dialect: options.dialect, env: &options.server_env };
        let open = |known| AgentSession::open(connection.clone(), self.client, &server, known);
        let known = options.known.as_deref().filter(|_| can_load);
        let ((session, mode), remembers) = match open(known).await {
            // The user is informed, and a new session is created.
            Err(AcpError::Expired { .. }) => (open(None).await?, false),
            opened => (opened?, known.is_some()),
        };
        if let Some(mode) = &options.mode {
            self.client.observer.send(set_mode(&session, mode.clone()).await);
        }
        let id = session.id.clone();
        Ok((session, AgentEvent::Ready { info, session: id, can_load, remembers, mode }))
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
fn set_mode(session: &AgentSession, mode: String) -> impl Future<Output = AgentEvent> + Send + 'static {
    let set = session.set_mode(&mode);
    async move {
        match set.await {
            Ok(()) => AgentEvent::Entry(ChatEntry::Mode { mode }),
            Err(error) => AgentEvent::ModeRefused { mode, why: error.to_string() },
        }
    }
}

/// Returns when the connection is closed during set-up. The sender keeps messages that come too early.
async fn closed(orders: &mut UnboundedReceiver<AgentOrder>) {
    while !matches!(orders.recv().await, None | Some(AgentOrder::Close)) {}
}

fn turn_end(ended: Result<Result<String, AcpError>, JoinError>) -> Result<TurnEnd, AcpError> {
    Ok(match ended {
        Ok(Ok(_)) => TurnEnd::Done,
        Ok(Err(AcpError::Stopped { reason: why } | AcpError::Refused { why, is_recorded: true, .. })) => {
            TurnEnd::Early(why)
        }
        Ok(Err(AcpError::Refused { why, .. })) => TurnEnd::Refused(why),
        Ok(Err(error)) => return Err(error),
        Err(_) => TurnEnd::Refused("the turn failed unexpectedly".to_owned()),
    })
}
