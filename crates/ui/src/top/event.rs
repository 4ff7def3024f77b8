//! What happens to the screen: the one thing that comes to it from the world.

use crossterm::event::{KeyEvent, MouseEvent};
use meanwhile::model::{Status, Timestamp};
use meanwhile::{Run, SessionInfo};

use super::log::{LogChunk, LogTarget};
use mw_desk::rows::Fact;
use mw_desk::rows::TaskRow;

/// Which tasks to list, and in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Of this session.
    pub session: Option<String>,
    /// Of this batch.
    pub batch: Option<String>,
    /// In these states.
    pub states: States,
    /// With this text.
    pub text: String,
    /// In this order.
    pub sort: Sort,
    /// Whether the last of that order come first.
    pub is_reversed: bool,
}

impl Query {
    /// Tells whether anything is left out.
    pub(crate) fn leaves_out(&self) -> bool {
        self.session.is_some() || self.batch.is_some() || self.states != States::Any || !self.text.is_empty()
    }

    /// Returns a word for the order.
    pub(crate) const fn order_word(&self) -> &'static str {
        match (self.sort, self.is_reversed) {
            (Sort::State, _) => "state",
            (Sort::Newest, false) => "newest",
            (Sort::Newest, true) => "oldest",
            (Sort::Longest, false) => "longest",
            (Sort::Longest, true) => "shortest",
            (Sort::Name, false) => "name",
            (Sort::Name, true) => "name z-a",
            (Sort::Cpu, false) => "cpu",
            (Sort::Cpu, true) => "least cpu",
            (Sort::Memory, false) => "memory",
            (Sort::Memory, true) => "least memory",
        }
    }
}

/// Which states to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum States {
    /// All.
    #[default]
    Any,
    /// Those of tasks that are not over.
    Live,
    /// One.
    Only(Status),
}

/// The order of the list. Live tasks always come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// What runs, what is queued, what failed lately, the rest.
    #[default]
    State,
    /// Newest first.
    Newest,
    /// What took longest first.
    Longest,
    /// By name.
    Name,
    /// What uses the processors most first.
    Cpu,
    /// What uses most memory first.
    Memory,
}

impl Sort {
    /// All, as one key goes through them.
    pub const ALL: [Self; 6] =
        [Self::State, Self::Newest, Self::Longest, Self::Name, Self::Cpu, Self::Memory];
}

/// A stretch of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// What was asked for.
    pub query: Query,
    /// Place of the first row in the whole list.
    pub start: usize,
    /// The rows.
    pub rows: Vec<TaskRow>,
    /// How many there are in all.
    pub total: usize,
    /// How many of those have not ended.
    pub live: usize,
    /// The task that was to stay in sight, if there is one that does not fit the query.
    pub unlisted: Option<Box<TaskRow>>,
    /// When it was looked at.
    pub at: Timestamp,
}

/// One task in a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Whose.
    pub id: String,
    /// What it is.
    pub what: String,
    /// How it stands.
    pub status: Status,
    /// Its runs, oldest first.
    pub runs: Vec<Run>,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The mouse was used.
    Mouse(MouseEvent),
    /// The terminal has this size: columns, rows.
    Resized(u16, u16),
    /// A second has passed while something on screen runs.
    Tick,
    /// Something happened to tasks.
    News,
    /// News cannot be heard, for this reason; it is tried again.
    Deaf(String),
    /// They can be heard, or again.
    Hearing,
    /// Tasks were listed.
    Listed(Window),
    /// They could not be.
    Unlisted(String),
    /// A task was looked at closely.
    Known(String, Vec<Fact>),
    /// The runs of some tasks were looked up.
    Lanes(Vec<Lane>, Timestamp),
    /// The sessions were looked up.
    SessionsKnown(Vec<SessionInfo>),
    /// These wait for a person's answer, oldest first.
    Asked(Vec<Proposed>),
    /// This one can be attached to.
    Attachable(String),
    /// A log was read.
    Read(LogTarget, LogChunk),
    /// The stretch before was read.
    ReadEarlier(LogTarget, LogChunk),
    /// A log cannot be read.
    Unreadable(LogTarget, String),
    /// Somebody else did something that is to be known here.
    Told(String),
    /// What was asked for is done: in words, the first line first.
    Done(Vec<String>),
    /// What was asked for failed: what happened, and what to do.
    Failed(String),
}

/// Something that waits for a person's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// Its id.
    pub id: String,
    /// What a person reads before answering.
    pub lines: Vec<String>,
}
