//! The process behind the screen of a chat: it hosts a session and talks with one agent.
//!
//! ```text
//! screen ─ ChatOrder ─▶ core ─▶ connection ─▶ the agent's process ─▶ our MCP server, bound to the session
//! screen ◀─ ChatNews ── core ◀─ connection
//!                         ├─ the session: notifications, tasks, approval requests
//!                         └─ the transcript, a line per entry
//! ```
//!
//! The core is one thread, and only it makes decisions. Everything that may block (an approval, a kill, the agent) runs
//! on other threads, which send it messages.

mod announcing;
mod command_runner;
mod connect;
mod connection;
mod core;
mod inputs;
mod ledger;
mod modes;
mod questions;
mod slash;
mod tasks;
mod transcript;
mod turns;
mod unwritten;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use meanwhile::Settings;
use meanwhile::engine::HouseRules;
use mw_desk::chat::{ChatNews, ChatOrder};

use mw_tools::call::Premises;
use mw_tools::delegation::AgentEntry;
use mw_tools::dialects::Dialect;
use mw_tools::screens::Layout;

use core::{ChatCore, Message};
pub use transcript::{Transcript, TranscriptError, new_session};

/// The options of a chat.
pub struct ChatOptions {
    /// The settings of the engine.
    pub settings: Settings,
    /// The settings of commands that the person starts, with the session of the chat.
    pub premises: Premises,
    /// The agent.
    pub agent: AgentEntry,
    /// The requested mode.
    pub mode: Option<String>,
    /// The approval rules of the session, with the mode of the chat.
    pub house: HouseRules,
    /// A remark for the person about how the chat was opened.
    pub remark: Option<String>,
    /// The path of `mw`, for the agent's MCP server.
    pub mw: PathBuf,
    /// How long the agent may take to cancel a turn.
    pub cancel_after: Duration,
    /// How lists and screens are drawn.
    pub layout: Layout,
    /// The dialect of the agent's tools and of task names.
    pub dialect: Dialect,
    /// Whether the end of a task starts a turn while the agent is idle.
    pub wake: Wake,
    /// The earlier entries, and the file for new ones.
    pub transcript: Transcript,
}

/// When notifications reach the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// At once when it is idle.
    Idle,
    /// In front of the person's next message.
    NextTurn,
}

/// An open chat.
pub struct Chat {
    messages: Sender<Message>,
    thread: JoinHandle<Result<(), TranscriptError>>,
}

impl Chat {
    /// Opens a chat. `tell` gets the earlier entries first, then everything that the screen shows.
    #[must_use]
    pub fn open(options: ChatOptions, tell: impl Fn(ChatNews) + Send + Sync + 'static) -> Self {
        let (messages, inbox) = channel();
        let tell: Arc<Tell> = Arc::new(tell);
        let sender = messages.clone();
        let thread = thread::spawn(move || ChatCore::work(options, sender, &inbox, &tell));
        Self { messages, thread }
    }

    /// Sends an order of the screen.
    pub fn order(&self, order: ChatOrder) {
        let _ = self.messages.send(Message::Order(order));
    }

    /// Ends the session's tasks, then the agent, and waits for both.
    ///
    /// # Errors
    /// When entries could not be written to the transcript.
    pub fn close(self) -> Result<(), TranscriptError> {
        let _ = self.messages.send(Message::Close);
        // A panic was already reported.
        self.thread.join().unwrap_or(Ok(()))
    }
}

type Tell = dyn Fn(ChatNews) + Send + Sync;
