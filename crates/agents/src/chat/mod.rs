//! The process behind the screen of a chat: it hosts a session and talks with one agent.
//!
//! ```text
//! screen ─ ChatOrder ─▶ core ─▶ connection ─▶ the agent's process ─▶ our MCP server, bound to the session
//! screen ◀─ ChatNews ── core ◀─ connection
//!                         ├─ the session: notifications, tasks, approval requests
//!                         └─ the transcript, a line per entry
//! ```
//!
//! The core is one thread, and only it makes decisions. Whatever may take long (an approval, a kill, the agent) runs on
//! other threads, which send it messages.

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
use mw_tools::dialects::screens::Layout;

use core::{ChatCore, Message};
pub use transcript::{Transcript, TranscriptError, new_session};

/// What a chat is opened with.
pub struct ChatOptions {
    /// The home and everything else.
    pub settings: Settings,
    /// What holds for commands that the person starts; its session is that of the chat.
    pub premises: Premises,
    /// The agent.
    pub agent: AgentEntry,
    /// The mode that was asked for.
    pub mode: Option<String>,
    /// What everything in the session is judged by; its mode is that of the chat.
    pub house: HouseRules,
    /// Something to know about how the chat was opened.
    pub remark: Option<String>,
    /// The program `mw`, for the server the agent gets.
    pub mw: PathBuf,
    /// How long the agent may take to stop when it is asked to.
    pub cancel_after: Duration,
    /// How lists and screens are drawn.
    pub layout: Layout,
    /// Whose tools the agent gets; tasks go by its names.
    pub dialect: Dialect,
    /// Whether an ending starts a turn while the agent is idle.
    pub wake: Wake,
    /// What was said before, and where the rest is written.
    pub transcript: Transcript,
}

/// When notifications reach the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// At once when it is idle.
    Idle,
    /// In front of what the person says next.
    NextTurn,
}

/// An open chat.
pub struct Chat {
    messages: Sender<Message>,
    thread: JoinHandle<Result<(), TranscriptError>>,
}

impl Chat {
    /// Opens a chat; `tell` gets everything the screen must know, what was said before first.
    #[must_use]
    pub fn open(options: ChatOptions, tell: impl Fn(ChatNews) + Send + Sync + 'static) -> Self {
        let (messages, inbox) = channel();
        let tell: Arc<Tell> = Arc::new(tell);
        let sender = messages.clone();
        let thread = thread::spawn(move || ChatCore::work(options, sender, &inbox, &tell));
        Self { messages, thread }
    }

    /// Wants something done.
    pub fn order(&self, order: ChatOrder) {
        let _ = self.messages.send(Message::Order(order));
    }

    /// Ends the session's tasks, then the agent, and waits for both.
    ///
    /// # Errors
    /// When something of the conversation could not be kept.
    pub fn close(self) -> Result<(), TranscriptError> {
        let _ = self.messages.send(Message::Close);
        // A panic was told when it happened.
        self.thread.join().unwrap_or(Ok(()))
    }
}

type Tell = dyn Fn(ChatNews) + Send + Sync;
