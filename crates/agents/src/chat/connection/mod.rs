//! A lasting connection to an agent: one process, one conversation, any number of turns.
//!
//! The driver of a task needs only one turn; a chat needs many. Events from the agent and requests to it are plain data,
//! and the owner of the connection never waits for the agent.

mod conversation;
mod entries;
mod requests;
mod thread;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;
use std::time::Duration;

use meanwhile::Settings;
use meanwhile::engine::Teller;
use mw_desk::chat::{Entry, Reply};
use mw_model::approval::ProposalId;
use mw_model::{EnvVar, Limits, RawText};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::acp::permissions::Permissions;
use mw_tools::dialects::Dialect;

/// The options of a connection.
pub struct ConnectionOptions {
    /// The agent's program and arguments.
    pub command: Vec<String>,
    /// Variables that are added to its environment.
    pub env: Vec<(String, String)>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// The path of `mw`, for its MCP server.
    pub mw: PathBuf,
    /// The dialect of that server.
    pub dialect: Dialect,
    /// The environment of that server: home and session.
    pub server_env: Vec<(String, String)>,
    /// The mode of its session.
    pub mode: Option<String>,
    /// Its id of a session to load.
    pub known: Option<String>,
    /// The file for its standard error.
    pub errors: PathBuf,
    /// How long it may take to cancel a turn.
    pub cancel_after: Duration,
    /// The services that it may use.
    pub services: Services,
    /// Whether they are offered to it.
    pub offer: Offer,
}

/// Files and terminals for an agent. Its commands are tasks of the session.
#[derive(Clone)]
pub struct Services {
    /// The home.
    pub settings: Settings,
    /// The session that owns the tasks.
    pub session: String,
    /// The process that delivers the session's notifications.
    pub teller: Teller,
    /// The shell that runs scripts.
    pub shell: RawText,
    /// The environment of commands.
    pub env: Vec<EnvVar>,
    /// Their limits.
    pub limits: Limits,
    /// Decides what is allowed.
    pub permissions: Arc<dyn Permissions>,
    /// Where files may be read and written.
    pub root: PathBuf,
}

/// The services that an agent is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// None: our own agent has its own.
    Nothing,
    /// Files and terminals.
    Services,
}

/// An event from an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEvent {
    /// The agent has started and waits for a message.
    Ready {
        /// Its own name and version.
        info: Option<String>,
        /// Its id of the conversation.
        session: String,
        /// Whether it can load the conversation again.
        can_load: bool,
        /// Whether it remembers the conversation.
        remembers: bool,
        /// Its mode, if it has modes.
        mode: Option<String>,
    },
    /// The conversation continues.
    Entry(Entry),
    /// It requests permission.
    Asks {
        /// The number of the request.
        number: u64,
        /// Its id in the store, if the agent is our own.
        proposal: Option<ProposalId>,
        /// A short form.
        what: String,
        /// The full text.
        lines: Vec<String>,
    },
    /// The turn has ended.
    TurnEnded(TurnEnd),
    /// It was asked to stop this long ago and has not. If it is asked again, it is killed.
    Unstopped(Duration),
    /// It refuses a mode.
    ModeRefused {
        /// The mode.
        mode: String,
        /// The reason.
        why: String,
    },
    /// The agent has exited, and the connection is closed.
    Gone(String),
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// It has completed.
    Done,
    /// It ended early, for this reason. The message was received.
    Early(String),
    /// It was refused. The message was probably not received.
    Refused(String),
}

pub(super) enum Order {
    Prompt(String),
    Stop,
    Mode(String),
    Answer(u64, Reply),
    Close,
}

/// A connection to an agent. Dropping it closes it without waiting.
pub struct AgentConnection {
    orders: UnboundedSender<Order>,
    thread: Option<JoinHandle<()>>,
}

impl AgentConnection {
    /// Starts an agent. `heard` gets all events. Its receiver is closed when the event was processed; until then nothing
    /// more is read from the agent.
    #[must_use]
    pub fn open(
        options: ConnectionOptions,
        heard: impl Fn(AgentEvent) -> Receiver<()> + Send + Sync + 'static,
    ) -> Self {
        let (orders, taken) = unbounded_channel();
        let thread = std::thread::spawn(move || {
            let heard: Arc<Ears> = Arc::new(heard);
            let end = thread::run(&options, taken, &heard).err();
            if let Some(error) = end {
                heard(AgentEvent::Gone(error.to_string()));
            }
        });
        Self { orders, thread: Some(thread) }
    }

    /// A closed connection.
    #[must_use]
    pub fn closed() -> Self {
        Self { orders: unbounded_channel().0, thread: None }
    }

    /// Starts a turn.
    pub fn prompt(&self, text: String) {
        self.send(Order::Prompt(text));
    }

    /// Cancels the running turn.
    pub fn stop(&self) {
        self.send(Order::Stop);
    }

    /// Sets the mode.
    pub fn set_mode(&self, mode: String) {
        self.send(Order::Mode(mode));
    }

    /// Answers a permission request.
    pub fn answer(&self, number: u64, reply: Reply) {
        self.send(Order::Answer(number, reply));
    }

    /// Ends the agent and waits for its exit.
    pub fn close(mut self) {
        self.send(Order::Close);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    fn send(&self, order: Order) {
        // A closed connection has already reported it.
        let _ = self.orders.send(order);
    }
}

pub(super) type Ears = dyn Fn(AgentEvent) -> Receiver<()> + Send + Sync;
