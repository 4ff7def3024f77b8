//! The messages between the screen of a chat and the process behind it, and the entries that are kept.

use crate::action::Reply;
use meanwhile::model::{Notice, Status, Timestamp};
use serde::{Deserialize, Serialize};

/// An entry of a conversation, in display order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// The chat was opened, with this agent and directory.
    Opened {
        /// The agent.
        agent: String,
        /// Its working directory.
        cwd: String,
    },
    /// The agent has started.
    Joined {
        /// Its own name and version.
        info: Option<String>,
        /// Its id of the conversation.
        session: String,
        /// Whether it can load the conversation again.
        can_load: bool,
    },
    /// A message of the person to the agent.
    User {
        /// The text.
        text: String,
    },
    /// A slash command.
    Command {
        /// The text, with its slash.
        text: String,
    },
    /// The output of a slash command.
    Printed {
        /// The answer.
        text: String,
    },
    /// More text of the agent.
    Said {
        /// The next part of the text.
        text: String,
    },
    /// More thoughts of the agent.
    Thought {
        /// The next part of the text.
        text: String,
    },
    /// A tool call was started or updated.
    Tool(ToolNews),
    /// A new or changed plan.
    Plan {
        /// Its steps with their states.
        steps: Vec<(String, String)>,
    },
    /// A notification about a task of the session.
    Notice {
        /// The notification.
        notice: Box<Notice>,
    },
    /// These notifications were sent to the agent at the start of this turn.
    Told {
        /// Their numbers.
        numbers: Vec<i64>,
    },
    /// These notifications did not reach the agent, because it had exited or refused the turn. The next turn sends them
    /// again.
    NotHeard {
        /// Their numbers.
        numbers: Vec<i64>,
    },
    /// A message that could not be sent yet.
    Waits {
        /// The text.
        text: String,
    },
    /// The agent's mode.
    Mode {
        /// The name of the mode.
        mode: String,
    },
    /// An approval request was answered.
    Answered {
        /// The request.
        what: String,
        /// The answer.
        reply: Reply,
    },
    /// The turn has ended.
    TurnEnded {
        /// Why it ended early, if it did.
        early: Option<String>,
    },
    /// A note about the chat itself.
    Note {
        /// The note.
        text: String,
    },
}

/// An update of a tool call; absent fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolNews {
    /// Which call.
    pub id: String,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ToolState>,
    /// Its content; replaces the earlier content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ToolContent>>,
}

/// The state of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// It waits, perhaps for approval.
    Pending,
    /// It is running.
    Running,
    /// It has completed.
    Done,
    /// It failed or was refused.
    Failed,
}

/// A part of the content of a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "content", rename_all = "snake_case")]
pub enum ToolContent {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A file that was changed.
    Diff {
        /// The path of the file.
        path: String,
        /// Its old content.
        old: String,
        /// Its new content.
        new: String,
    },
}

/// The messages to the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatNews {
    /// The conversation continues.
    Entry(Entry),
    /// The live tasks of the session.
    Tasks(Vec<ChatTask>),
    /// A new approval request.
    Asked(ChatQuestion),
    /// The request with this id is closed.
    Settled(String),
    /// The state of the agent.
    Agent(AgentState),
    /// Messages that the agent has not received yet.
    Waiting(Vec<String>),
    /// The tasks that would end with the chat, for the quit dialog; or why they cannot be listed.
    Leaving(Result<Vec<ChatTask>, String>),
    /// The earlier conversation is complete; further entries are new.
    Replayed,
    /// An error that belongs to no entry, with a hint.
    Failed(String),
}

/// The state of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentState {
    /// It is being started.
    Starting,
    /// It waits for a message.
    Idle,
    /// A turn is running.
    Busy,
    /// It is not running.
    Gone,
}

/// A live task, for the list of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatTask {
    /// Its id.
    pub id: String,
    /// The agent's handle for it: `bash_1`.
    pub handle: String,
    /// Its description or command.
    pub what: String,
    /// Its state.
    pub status: Status,
    /// Since when it runs.
    pub since: Option<Timestamp>,
    /// Its log.
    pub log: String,
    /// Whether a call of the agent waits for its end.
    pub awaited: bool,
}

/// An approval request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatQuestion {
    /// Its id.
    pub id: String,
    /// A short form.
    pub what: String,
    /// The full text: the exact command and its effects.
    pub lines: Vec<String>,
    /// Whether it can be approved for the whole session.
    pub for_session: bool,
}

/// The requests of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatOrder {
    /// Send this message to the agent, or run it as a slash command.
    Say(String),
    /// End the turn and its foreground command; background tasks keep running.
    Stop,
    /// End this task and everything it started.
    Kill(String),
    /// Move the agent's foreground commands to the background.
    MoveToBackground,
    /// The answer to a request.
    Answer(String, Reply),
    /// List the tasks that would end with the chat.
    Leave,
}
