//! What passes between the screen of a chat and what is behind it, and which part of that is kept.

use crate::action::Reply;
use meanwhile::model::{Notice, Status, Timestamp};
use serde::{Deserialize, Serialize};

/// Something in a conversation, in the order in which it was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// The chat was opened: with which agent, where, and by what name the agent knows the conversation.
    Opened {
        /// The agent.
        agent: String,
        /// Where it works.
        cwd: String,
    },
    /// The agent is there.
    Joined {
        /// What it calls itself.
        info: Option<String>,
        /// Its name for the conversation.
        session: String,
        /// Whether it can take the conversation up again.
        can_load: bool,
    },
    /// The person wrote this to the agent.
    User {
        /// The text.
        text: String,
    },
    /// The person gave a command to the chat itself.
    Command {
        /// The text, with its slash.
        text: String,
    },
    /// The chat answered a command.
    Printed {
        /// The answer.
        text: String,
    },
    /// The agent said more.
    Said {
        /// How it went on.
        text: String,
    },
    /// The agent thought aloud.
    Thought {
        /// How it went on.
        text: String,
    },
    /// A tool call began or went on.
    Tool(ToolNews),
    /// The agent has a plan, or another one.
    Plan {
        /// Its steps: what, and how it stands.
        steps: Vec<(String, String)>,
    },
    /// Something happened to a task of the session.
    Notice {
        /// What.
        notice: Box<Notice>,
    },
    /// These notices went to the agent in front of the turn that begins.
    Told {
        /// Their numbers.
        numbers: Vec<i64>,
    },
    /// These notices did not reach it after all: it was gone, or took no turn. They lead the next one.
    NotHeard {
        /// Their numbers.
        numbers: Vec<i64>,
    },
    /// The person wrote this while it could not be sent.
    Waits {
        /// The text.
        text: String,
    },
    /// The agent's mode.
    Mode {
        /// Which.
        mode: String,
    },
    /// A question was answered.
    Answered {
        /// What was asked.
        what: String,
        /// How it was answered.
        reply: Reply,
    },
    /// The turn is over.
    TurnEnded {
        /// Why it went no further, unless it came to its end.
        early: Option<String>,
    },
    /// Something to know about the chat itself.
    Note {
        /// What.
        text: String,
    },
}

/// What is new about a tool call; absent is as before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolNews {
    /// Which call.
    pub id: String,
    /// What it does, in a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ToolState>,
    /// What it came to; replaces what was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ToolContent>>,
}

/// How a tool call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    /// It waits, perhaps for an answer.
    Pending,
    /// It is under way.
    Running,
    /// It is done.
    Done,
    /// It failed or was refused.
    Failed,
}

/// Part of what a tool call came to.
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
        /// Which.
        path: String,
        /// What was in it.
        old: String,
        /// What is in it.
        new: String,
    },
}

/// What the screen is told.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatNews {
    /// The conversation goes on.
    Entry(Entry),
    /// These are the live tasks of the session.
    Tasks(Vec<ChatTask>),
    /// A person has to answer.
    Asked(ChatQuestion),
    /// Nobody has to answer that any more.
    Settled(String),
    /// How the agent stands.
    Agent(AgentState),
    /// What the person said and the agent has not heard yet.
    Waiting(Vec<String>),
    /// What would end with the chat now, for whoever wants to leave; or why that cannot be seen.
    Leaving(Result<Vec<ChatTask>, String>),
    /// The conversation so far has been told; what comes is new.
    Replayed,
    /// Something failed that concerns no entry: what happened, and what to do.
    Failed(String),
}

/// How the agent stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentState {
    /// It is being started.
    Starting,
    /// It waits for words.
    Idle,
    /// A turn is under way.
    Busy,
    /// It is not there.
    Gone,
}

/// A live task, for the list of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatTask {
    /// Its id.
    pub id: String,
    /// How the agent calls it: `bash_1`.
    pub handle: String,
    /// What it is.
    pub what: String,
    /// How it stands.
    pub status: Status,
    /// Since when it runs.
    pub since: Option<Timestamp>,
    /// Its log.
    pub log: String,
    /// Whether a call of the agent waits for its end.
    pub awaited: bool,
}

/// Something that a person has to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatQuestion {
    /// Its id.
    pub id: String,
    /// In a few words.
    pub what: String,
    /// What is read before answering: the exact command and its effects.
    pub lines: Vec<String>,
    /// Whether a yes can be given for the whole session.
    pub for_session: bool,
}

/// What the screen wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatOrder {
    /// Say this to the agent; with a slash in front it is a command to the chat.
    Say(String),
    /// End the turn and what it waits for; tasks in the background go on.
    Stop,
    /// End this task and everything it started.
    Kill(String),
    /// Let the agent's calls no longer wait for their tasks, which go on.
    MoveToBackground,
    /// This is the answer.
    Answer(String, Reply),
    /// Look what would end with the chat.
    Leave,
}
