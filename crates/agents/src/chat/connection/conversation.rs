//! The conversation over an open connection: the session, turns, modes and answers, all concurrently.

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
use super::thread::NoObserver;
use super::{AgentEvent, ConnectionOptions, Ears, Offer, Order, TurnEnd};
use crate::acp::client::Client;
use crate::acp::error::AcpError;
use crate::acp::own_agent::HEARD;
use crate::acp::quirks::Quirks;
use crate::acp::session;
use crate::acp::session::{Opened, Opening, OwnServer, stopped};

/// The conversation over an open connection.
pub(super) struct Conversation<'a> {
    pub(super) options: &'a ConnectionOptions,
    pub(super) connection: ConnectionTo<Agent>,
    pub(super) heard: &'a Arc<Ears>,
    pub(super) client: &'a Arc<Client<NoObserver>>,
    pub(super) requests: &'a Requests,
    pub(super) replays: &'a AtomicBool,
}

impl Conversation<'_> {
    pub(super) async fn run(&self, orders: &mut UnboundedReceiver<Order>) -> Result<(), AcpError> {
        let (begun, ready) = tokio::select! {
            begun = self.begin() => begun?,
            () = closed(orders) => return Ok(()),
        };
        // Not before: a request that arrives during the set-up would be lost.
        (self.heard)(ready);
        let mut turns = JoinSet::new();
        // Concurrently with the requests: an agent may not answer one while it waits for an answer from us.
        let mut wishes = JoinSet::new();
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
                    Some(Order::Mode(mode)) => _ = wishes.spawn(set_mode(&self.connection, &begun, mode)),
                    Some(Order::Answer(number, reply)) => {
                        let (approved, cwd) = (&self.client.approved, &self.client.terminals.cwd);
                        self.requests.answer(number, reply, |request| approved.give(request, cwd));
                    }
                },
                Some(ended) = turns.join_next() => {
                    stopping = Stopping::No;
                    self.client.approved.forget();
                    let client = Arc::clone(self.client);
                    // Before the event is sent, because the next turn depends on it.
                    let _ = tokio::task::spawn_blocking(move || client.terminals.leave_all()).await;
                    (self.heard)(AgentEvent::TurnEnded(turn_end(ended)?));
                }
                Some(Ok(event)) = wishes.join_next() => {
                    (self.heard)(event);
                }
                () = stopping.overdue() => {
                    stopping = Stopping::Overdue;
                    (self.heard)(AgentEvent::Unstopped(self.options.cancel_after));
                }
            }
        }
    }

    /// Initialises the agent and creates or loads a session. Returns the session's id and the event to send.
    async fn begin(&self) -> Result<(String, AgentEvent), AcpError> {
        let options = self.options;
        let greeted = match options.offer {
            Offer::Nothing => session::greet_as(&self.connection, ClientCapabilities::new()).await?,
            Offer::Services => session::greet(&self.connection, Quirks::of(&options.command)).await?,
        };
        let can_load = greeted.agent_capabilities.load_session;
        let server = OwnServer { mw: &options.mw, dialect: options.dialect, env: &options.server_env };
        let opening = Opening { connection: &self.connection, cwd: &options.cwd, server: server.described() };
        let replays = |replays| self.replays.store(replays, Ordering::SeqCst);
        let known = options.known.as_deref().filter(|_| can_load);
        let (Opened { session, mode }, remembers) = match opening.open(known, replays).await {
            // The person is informed, and a new session is created.
            Err(AcpError::Expired { .. }) => (opening.open(None, replays).await?, false),
            opened => (opened?, known.is_some()),
        };
        let info = greeted.agent_info.as_ref().map(session::title);
        if let Some(mode) = &options.mode {
            (self.heard)(set_mode(&self.connection, &session, mode.clone()).await);
        }
        let ready = AgentEvent::Ready { info, session: session.clone(), can_load, remembers, mode };
        Ok((session, ready))
    }
}

/// Whether the turn was asked to stop.
#[derive(Clone, Copy)]
enum Stopping {
    No,
    /// It was, and has time until then.
    Until(Instant),
    /// The time is over. If it is asked again, the agent is killed.
    Overdue,
}

impl Stopping {
    /// Returns when the turn has had enough time to stop.
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

/// Returns when the connection is closed during set-up. Messages that come too early are kept by their sender.
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
            // Our own agent reports whether it recorded the message before it failed.
            let heard = error.data.as_ref().and_then(|data| data.get(HEARD)?.as_bool());
            let why = session::in_words(&error);
            Ok(if heard == Some(true) { TurnEnd::Early(why) } else { TurnEnd::Refused(why) })
        }
        Err(_) => Ok(TurnEnd::Refused("the turn failed unexpectedly".to_owned())),
    }
}
