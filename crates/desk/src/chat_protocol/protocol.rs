//! The messages between the chat screen and the process behind it, and the entries of the transcript.

use crate::action::ApprovalReply;
use crate::proposals::OpenRequest;
use meanwhile::model::{Notice, Status, Timestamp};
use serde::{Deserialize, Serialize};

/// An entry of a conversation. Entries are stored in display order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum ChatEntry {
    /// The chat was opened, with this agent and directory.
    Opened {
        /// The name of the agent.
        agent: String,
        /// The working directory of the agent.
        cwd: String,
    },
    /// The agent has started.
    Joined {
        /// The name and version that the agent reports.
        info: Option<String>,
        /// The agent's id of the conversation.
        session: String,
        /// Whether the agent can load the conversation again.
        can_load: bool,
    },
    /// A message of the user to the agent.
    User {
        /// The text.
        text: String,
    },
    /// A slash command.
    Command {
        /// The text with its slash.
        text: String,
    },
    /// The output of a slash command.
    Printed {
        /// The text of the output.
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
    Tool(ToolUpdate),
    /// A new or changed plan.
    Plan {
        /// The steps with their states.
        steps: Vec<(String, String)>,
    },
    /// A notification about a task of the session.
    Notice {
        /// The notification.
        notice: Box<Notice>,
    },
    /// These notifications were sent to the agent at the start of this turn.
    #[serde(rename = "told")]
    Delivered {
        /// The numbers of the notifications.
        numbers: Vec<i64>,
    },
    /// These notifications did not reach the agent, because it had exited or refused the turn. The next turn sends them
    /// again.
    #[serde(rename = "not_heard")]
    NotReceived {
        /// The numbers of the notifications.
        numbers: Vec<i64>,
    },
    /// A message of the user that could not be sent yet.
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
        reply: ApprovalReply,
    },
    /// The turn has ended.
    TurnEnded {
        /// The reason, if the turn ended early.
        early: Option<String>,
    },
    /// A note about the chat itself.
    Note {
        /// The note.
        text: String,
    },
}

/// An update of a tool call. Absent fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUpdate {
    /// The id of the call.
    pub id: String,
    /// The new title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The new state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ToolState>,
    /// The new content. It replaces the earlier content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ToolContent>>,
}

/// The state of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// The call waits to run, possibly for approval.
    Pending,
    /// The call is running.
    Running,
    /// The call has completed.
    Done,
    /// The call failed or was refused.
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
        /// The old content of the file.
        old: String,
        /// The new content of the file.
        new: String,
    },
}

/// A message to the chat screen.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatUpdate {
    /// A new entry of the conversation.
    Entry(ChatEntry),
    /// The live tasks of the session have changed. This is the new list.
    Tasks(Vec<ChatTask>),
    /// An approval request was added.
    Asked(OpenRequest),
    /// The approval request with this id is closed.
    Settled(String),
    /// The state of the agent has changed.
    Agent(AgentState),
    /// The slash commands of the agent itself.
    Commands(Vec<AgentCommand>),
    /// How many tokens of the agent's context are used, and how many there are. The second number is 0 if it is unknown.
    Context(u64, u64),
    /// The messages that the agent has not received yet.
    Waiting(Vec<String>),
    /// The tasks that would end with the chat, or the reason why they cannot be listed. This answers
    /// [`ChatOrder::Leave`].
    Leaving(Result<Vec<ChatTask>, String>),
    /// The earlier conversation is complete. Further entries are new.
    Replayed,
    /// An error that belongs to no entry, with a hint.
    Failed(String),
}

/// The slash commands of the chat itself: name, arguments and description.
pub const COMMANDS: [(&str, &str, &str); 12] = [
    ("background", "COMMAND", "run a command in the background"),
    ("tasks", "[STATUS]", "list the tasks of this chat"),
    ("status", "ID", "show one task and its last lines"),
    ("cancel", "ID", "end a task"),
    ("kill", "ID", "end a task at once (SIGKILL)"),
    ("restart", "ID", "run a task again"),
    ("resume", "ID MESSAGE", "send a message to an agent that has answered"),
    ("approve", "[ID]", "approve a request"),
    ("deny", "[ID]", "deny a request"),
    ("mode", "[MODE]", "show or set the approval mode"),
    ("help", "", "show all commands and keys"),
    ("quit", "", "quit"),
];

/// A slash command of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCommand {
    /// The name without its slash.
    pub name: String,
    /// What it does.
    pub description: String,
}

/// The state of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentState {
    /// The agent is being started.
    Starting,
    /// The agent waits for a message.
    Idle,
    /// A turn is running.
    Busy,
    /// The agent is not running.
    Gone,
}

/// A live task in the list of the chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatTask {
    /// The id of the task.
    pub id: String,
    /// The agent's handle for the task, such as `bash_1`.
    pub handle: String,
    /// The description or the command of the task.
    pub what: String,
    /// The state of the task.
    pub status: Status,
    /// The start time of the current run.
    pub since: Option<Timestamp>,
    /// The path of the log.
    pub log: String,
    /// Whether a call of the agent waits for the end of the task.
    pub awaited: bool,
    /// The last line that an awaited task has printed.
    pub tail: Option<String>,
}

/// A request of the chat screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatOrder {
    /// Send this message to the agent, or run it as a slash command.
    Say(String),
    /// Cancel the turn and its foreground command. Background tasks keep running.
    Stop,
    /// Kill this task and all its processes.
    Kill(String),
    /// Move the agent's foreground commands to the background.
    MoveToBackground,
    /// Answer the approval request with this id.
    Answer(String, ApprovalReply),
    /// List the tasks that would end with the chat.
    Leave,
}
