//! A standing line to an agent: one process, one conversation, as many turns as somebody wants.
//!
//! The driver of a task holds one turn and is done; a chat goes on. What comes over the line is plain data, what
//! goes over it are a few orders, and nobody who holds it waits for the agent.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use meanwhile::{Settings, Teller};
use mw_desk::chat::{Entry, Reply};
use mw_model::approval::ProposalId;
use mw_model::{EnvVar, Limits, RawText};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::hold::hold;
use super::permissions::Permissions;
use mw_tools::dialects::Dialect;

/// What a line is opened with.
pub struct LineOptions {
    /// The agent's program and arguments.
    pub command: Vec<String>,
    /// What is added to its environment.
    pub env: Vec<(String, String)>,
    /// Where it works.
    pub cwd: PathBuf,
    /// The program `mw`, for the server it gets.
    pub mw: PathBuf,
    /// Whose tools that server offers.
    pub dialect: Dialect,
    /// What that server's environment holds: the home, the session.
    pub server_env: Vec<(String, String)>,
    /// The mode its conversation is put into.
    pub mode: Option<String>,
    /// Its name for a conversation that is taken up.
    pub known: Option<String>,
    /// Where what it says on standard error goes.
    pub errors: PathBuf,
    /// How long it may take to stop when it is asked to.
    pub cancel_after: Duration,
    /// What it may have done by us.
    pub services: Services,
    /// Whether it is told of them.
    pub offer: Offer,
}

/// Files and terminals for an agent: what it runs are tasks of the session.
#[derive(Clone)]
pub struct Services {
    /// The home.
    pub settings: Settings,
    /// Whose tasks they are.
    pub session: String,
    /// Who tells the session's news.
    pub teller: Teller,
    /// The shell that runs scripts.
    pub shell: RawText,
    /// The environment of commands.
    pub env: Vec<EnvVar>,
    /// Their limits.
    pub limits: Limits,
    /// Who decides what may be done.
    pub permissions: Arc<dyn Permissions>,
    /// Where files may be read and written.
    pub root: PathBuf,
}

/// What an agent is told it may have done by us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Nothing: it is our own, and has all of it itself.
    Nothing,
    /// Files and terminals.
    Services,
}

/// Something that came over the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineEvent {
    /// The agent is there and waits for words.
    Ready {
        /// What it calls itself.
        info: Option<String>,
        /// Its name for the conversation.
        session: String,
        /// Whether it can take the conversation up again.
        can_load: bool,
        /// Whether it knows what was said before.
        remembers: bool,
        /// The mode it is in, if it has any.
        mode: Option<String>,
    },
    /// The conversation goes on.
    Entry(Entry),
    /// It wants to do something and asks.
    Asks {
        /// The question's number.
        number: u64,
        /// What the store has it under, too, if the agent is our own.
        proposal: Option<ProposalId>,
        /// In a few words.
        what: String,
        /// Everything there is to read.
        lines: Vec<String>,
    },
    /// The turn is over.
    TurnEnded(TurnEnd),
    /// It was asked to stop this long ago and has not. Asked once more, it is ended.
    Unstopped(Duration),
    /// It does not go into that mode.
    ModeRefused {
        /// Which.
        mode: String,
        /// Why.
        why: String,
    },
    /// The agent is gone, and the line is closed.
    Gone(String),
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// It came to its end.
    Done,
    /// It went no further, for this reason; what was said was heard.
    Early(String),
    /// It was not taken, as far as is known.
    Refused(String),
}

pub(super) enum Order {
    Prompt(String),
    Stop,
    Mode(String),
    Answer(u64, Reply),
    Close,
}

/// A line to an agent. Dropped, it is closed without waiting.
pub struct Line {
    orders: UnboundedSender<Order>,
    thread: Option<JoinHandle<()>>,
}

impl Line {
    /// Starts an agent; everything else is told to `heard`, which returns what ends when that was taken in. The agent
    /// says no more until then.
    #[must_use]
    pub fn open(
        options: LineOptions,
        heard: impl Fn(LineEvent) -> Receiver<()> + Send + Sync + 'static,
    ) -> Self {
        let (orders, taken) = unbounded_channel();
        let thread = thread::spawn(move || {
            let heard: Arc<Ears> = Arc::new(heard);
            let end = hold(&options, taken, &heard).err();
            if let Some(error) = end {
                heard(LineEvent::Gone(error.to_string()));
            }
        });
        Self { orders, thread: Some(thread) }
    }

    /// A line at whose other end nobody is.
    #[must_use]
    pub fn closed() -> Self {
        Self { orders: unbounded_channel().0, thread: None }
    }

    /// Begins a turn.
    pub fn prompt(&self, text: String) {
        self.send(Order::Prompt(text));
    }

    /// Ends the turn that is under way.
    pub fn stop(&self) {
        self.send(Order::Stop);
    }

    /// Wants another mode.
    pub fn set_mode(&self, mode: String) {
        self.send(Order::Mode(mode));
    }

    /// Answers a question.
    pub fn answer(&self, number: u64, reply: Reply) {
        self.send(Order::Answer(number, reply));
    }

    /// Ends the agent and waits for that.
    pub fn close(mut self) {
        self.send(Order::Close);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    fn send(&self, order: Order) {
        // A line that is closed has said so.
        let _ = self.orders.send(order);
    }
}

pub(super) type Ears = dyn Fn(LineEvent) -> Receiver<()> + Send + Sync;
