//! Sends what an agent says and requests to the core of the chat.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionRequest, RequestPermissionResponse,
    SessionUpdate,
};
use agent_client_protocol::{Responder, V1};
use mw_desk::chat_protocol::{AgentCommand, ChatEntry};

use super::requests::{Added, MAX_REQUESTS, Requests};
use super::{AgentEvent, entries};
use crate::acp::client::{Client, Observer};
use crate::acp::own_agent;
use crate::chat_host::core::Message;

/// The events of one connection.
pub(crate) struct ChatObserver {
    pub(crate) messages: Sender<Message>,
    /// The number of the connection.
    pub(crate) number: u64,
    pub(super) requests: Requests,
}

impl ChatObserver {
    pub(crate) fn new(messages: Sender<Message>, number: u64) -> Self {
        Self { messages, number, requests: Requests::default() }
    }

    /// Sends an event. The receiver is closed when the core has processed it.
    pub(super) fn send(&self, event: AgentEvent) -> Receiver<()> {
        let (taken, until_taken) = channel();
        let _ = self.messages.send(Message::Agent(self.number, event, taken));
        until_taken
    }
}

impl Observer for ChatObserver {
    fn updated(client: &Client<Self>, update: &SessionUpdate) {
        match update {
            SessionUpdate::AvailableCommandsUpdate(update) => {
                let commands = update.available_commands.iter().map(|command| AgentCommand {
                    name: command.name.trim_start_matches('/').to_owned(),
                    description: command.description.clone(),
                });
                client.observer.send(AgentEvent::Commands(commands.collect()));
            }
            SessionUpdate::UsageUpdate(usage) => {
                client.observer.send(AgentEvent::Context(usage.used, usage.size));
            }
            _ => {}
        }
        if let Some(entry) = entries::entry(update, &|id| client.terminals.tail(id)) {
            // Nothing is ever received: this returns when the entry was processed.
            let _ = client.observer.send(AgentEvent::Entry(entry)).recv();
        }
    }

    fn asked(
        client: &Arc<Client<Self>>,
        request: RequestPermissionRequest,
        responder: Responder<RequestPermissionResponse, V1>,
    ) {
        let (what, lines) = entries::question(&request);
        let is_always = |option: &PermissionOption| option.kind == PermissionOptionKind::AllowAlways;
        let for_session = request.options.iter().any(is_always);
        // Only the built-in agent may set this, because another agent could hide a request with it.
        let proposal = own_agent::proposal(&request).filter(|_| client.quirks.is_own_agent);
        match client.observer.requests.add((request, responder)) {
            Added::Number(number) => {
                client.observer.send(AgentEvent::Asks { number, proposal, what, lines, for_session });
            }
            Added::FirstRefused => {
                let text =
                    format!("more than {MAX_REQUESTS} requests of the agent at once; the rest are refused");
                client.observer.send(AgentEvent::Entry(ChatEntry::Note { text }));
            }
            Added::Refused => {}
        }
    }
}
