//! A chat as its screen sees it: options, orders, and the end.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use meanwhile::Meanwhile;
use meanwhile::engine::SessionPolicy;
use mw_desk::chat_protocol::{ChatOrder, ChatUpdate};

use mw_tools::call::CallSettings;
use mw_tools::delegation::AgentEntry;
use mw_tools::dialects::Dialect;
use mw_tools::screens::Layout;

use super::core::{ChatCore, Message};
use super::transcript::{ChatTranscript, TranscriptError};

/// The options of a chat.
pub struct ChatOptions {
    /// The home.
    pub home: Meanwhile,
    /// The settings for commands that the user starts, with the session of the chat.
    pub call_settings: CallSettings,
    /// The agent.
    pub agent: AgentEntry,
    /// The requested mode.
    pub mode: Option<String>,
    /// The approval rules of the session, with the mode of the chat.
    pub session_policy: SessionPolicy,
    /// A remark for the user about how the chat was opened.
    pub remark: Option<String>,
    /// The path of `mw`, for the agent's MCP server.
    pub mw: PathBuf,
    /// How long the agent may take to cancel a turn.
    pub cancel_after: Duration,
    /// The layout of lists and screens.
    pub layout: Layout,
    /// The dialect of the agent's tools and of task names.
    pub dialect: Dialect,
    /// Whether the end of a task starts a turn while the agent is idle.
    pub wake: Wake,
    /// The earlier entries, and the file for new ones.
    pub transcript: ChatTranscript,
}

/// When notifications are sent to the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Notifications are sent at once when the agent is idle.
    Idle,
    /// Notifications are sent together with the user's next message.
    NextTurn,
}

/// An open chat.
pub struct Chat {
    messages: Sender<Message>,
    thread: JoinHandle<Result<(), TranscriptError>>,
}

impl Chat {
    /// Opens a chat. `tell` receives the earlier entries first, then all messages to the screen.
    #[must_use]
    pub fn open(options: ChatOptions, tell: impl Fn(ChatUpdate) + Send + Sync + 'static) -> Self {
        let (messages, inbox) = channel();
        let tell: Arc<Tell> = Arc::new(tell);
        let sender = messages.clone();
        let thread = thread::spawn(move || ChatCore::work(options, sender, &inbox, &tell));
        Self { messages, thread }
    }

    /// Sends an order of the screen.
    pub fn order(&self, order: ChatOrder) {
        let _ = self.messages.send(Message::AgentOrder(order));
    }

    /// Ends the session's tasks, then the agent, and waits for both.
    ///
    /// # Errors
    /// Fails if entries could not be written to the transcript.
    pub fn close(self) -> Result<(), TranscriptError> {
        let _ = self.messages.send(Message::Close);
        // A panic was already reported.
        self.thread.join().unwrap_or(Ok(()))
    }
}

pub(super) type Tell = dyn Fn(ChatUpdate) + Send + Sync;
