//! The connection, its options, and the messages in both directions.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use mw_desk::chat_protocol::{AgentCommand, ApprovalReply, ChatEntry};
use mw_model::approval::ProposalId;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::observer::ChatObserver;
use crate::acp::client::Client;
use mw_tools::dialects::Dialect;

/// The options of a connection.
pub(crate) struct ConnectionOptions {
    /// The agent's program and arguments.
    pub(crate) command: Vec<String>,
    /// Variables that are added to its environment.
    pub(crate) env: Vec<(String, String)>,
    /// The path of `mw`, for its MCP server.
    pub(crate) mw: PathBuf,
    /// The dialect of the MCP server.
    pub(crate) dialect: Dialect,
    /// The environment of the MCP server: home and session.
    pub(crate) server_env: Vec<(String, String)>,
    /// The mode of the agent's session.
    pub(crate) mode: Option<String>,
    /// The agent's id of a session to load.
    pub(crate) known: Option<String>,
    /// The file for the agent's standard error.
    pub(crate) errors: PathBuf,
    /// How long the agent may take to cancel a turn.
    pub(crate) cancel_after: Duration,
}

/// An event from an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AgentEvent {
    /// The agent has started and waits for a message.
    Ready {
        /// The name and version that the agent reports.
        info: Option<String>,
        /// The agent's id of the conversation.
        session: String,
        /// Whether the agent can load the conversation again.
        can_load: bool,
        /// Whether the agent remembers the conversation.
        remembers: bool,
        /// The agent's mode, if it has modes.
        mode: Option<String>,
    },
    /// The agent has sent a new entry of the conversation.
    Entry(ChatEntry),
    /// The agent requests permission.
    Asks {
        number: u64,
        /// The id of the request in the store, if it is from the built-in agent.
        proposal: Option<ProposalId>,
        /// A short description.
        what: String,
        lines: Vec<String>,
        /// Whether the agent offers an approval that also covers later calls.
        for_session: bool,
    },
    /// The agent has announced its slash commands.
    Commands(Vec<AgentCommand>),
    /// The agent has reported how many tokens of its context are used, and how many there are.
    Context(u64, u64),
    /// The turn has ended.
    TurnEnded(TurnEnd),
    /// The turn has not ended this long after it was cancelled. A second cancellation kills the agent.
    Unstopped(Duration),
    /// The agent refuses a mode.
    ModeRefused { mode: String, why: String },
    /// The agent has exited, and the connection is closed.
    Gone(String),
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    /// The turn has completed.
    Done,
    /// The turn ended early, for this reason. The message was received.
    Early(String),
    /// The turn was refused. The message was probably not received.
    Refused(String),
}

/// An order to an agent.
pub(crate) enum AgentOrder {
    /// Start a turn with this message.
    Prompt(String),
    /// Cancel the running turn.
    Stop,
    /// Set the mode.
    Mode(String),
    /// Answer the permission request with this number.
    Answer(u64, ApprovalReply),
    /// End the agent.
    Close,
}

/// A connection to an agent. Dropping it closes it without waiting.
pub(crate) struct AgentConnection {
    orders: UnboundedSender<AgentOrder>,
    thread: Option<JoinHandle<()>>,
}

impl AgentConnection {
    /// Starts an agent, whose requests the client answers.
    pub(crate) fn open(options: ConnectionOptions, client: Client<ChatObserver>) -> Self {
        let (orders, mut taken) = unbounded_channel();
        let thread = std::thread::spawn(move || {
            let client = Arc::new(client);
            if let Err(error) = super::thread::run(&options, &client, &mut taken) {
                client.observer.send(AgentEvent::Gone(error.to_string()));
            }
        });
        Self { orders, thread: Some(thread) }
    }

    pub(crate) fn closed() -> Self {
        Self { orders: unbounded_channel().0, thread: None }
    }

    /// Ends the agent and waits for its exit.
    pub(crate) fn close(mut self) {
        self.send(AgentOrder::Close);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    pub(crate) fn send(&self, order: AgentOrder) {
        // If the connection is closed, that was already reported.
        let _ = self.orders.send(order);
    }
}
