//! What happens to the screen, and what the screen wants done: the only two things that pass between state and world.

use std::ops::Range;

use crossterm::event::{KeyEvent, MouseEvent};
use meanwhile::model::{Status, Timestamp};
use meanwhile::{Run, SessionInfo};

use super::log::{LogChunk, LogTarget};
use crate::facts::Fact;
use crate::task_row::TaskRow;
pub use crate::terminal::MouseUse;

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
}

impl Query {
    /// Tells whether anything is left out.
    pub(crate) fn leaves_out(&self) -> bool {
        self.session.is_some() || self.batch.is_some() || self.states != States::Any || !self.text.is_empty()
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

/// The order within live and within ended tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Newest first.
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
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
        [Self::Newest, Self::Oldest, Self::Longest, Self::Name, Self::Cpu, Self::Memory];

    /// Returns its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::Longest => "longest",
            Self::Name => "name",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
        }
    }
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
    /// A log was read.
    Read(LogTarget, LogChunk),
    /// The stretch before was read.
    ReadEarlier(LogTarget, LogChunk),
    /// A log cannot be read.
    Unreadable(LogTarget, String),
    /// What was asked for is done: in words, the first line first.
    Done(Vec<String>),
    /// What was asked for failed: what happened, and what to do.
    Failed(String),
}

/// Something to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// List tasks.
    List(Query, Stretch),
    /// Look at one closely.
    Know(String),
    /// Look up the runs of these.
    LookUpRuns(Vec<String>),
    /// Look up the sessions.
    LookUpSessions,
    /// Read this log from now on, and no other.
    Follow(Option<LogTarget>),
    /// Read what comes before an offset.
    ReadBefore(LogTarget, u64),
    /// End a task; at once, if so.
    Kill(String, Force),
    /// Run it once more.
    Restart(String),
    /// Type a line into it.
    Input(String, String),
    /// Answer a proposal.
    Answer(String, Reply),
    /// Remove tasks that have ended.
    Clear(Removal),
    /// Give the terminal to another program.
    Run(Program),
    /// Take the mouse, or leave it to the terminal.
    Mouse(MouseUse),
    /// Draw everything anew.
    Redraw,
    /// Stop, as a shell expects it.
    Suspend,
    /// Leave.
    Quit,
}

/// Which rows to list, and whether to look at what they use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First row.
    pub start: usize,
    /// How many.
    pub count: usize,
    /// The task around which they are listed instead, should it have gone elsewhere.
    pub keep: Option<String>,
    /// Whether what they use is looked at anew.
    pub look: Look,
}

/// Whether what tasks use is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// What is known of it is good enough.
    Known,
    /// It is, for the rows at these places: those on screen.
    Fresh(Range<usize>),
}

/// How a task is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// Asked first.
    Term,
    /// At once.
    Kill,
}

/// Something that waits for a person's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// Its id.
    pub id: String,
    /// What a person reads before answering.
    pub lines: Vec<String>,
}

/// A person's answer to a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Yes, to this.
    Once,
    /// Yes, and to every further start of exactly this in its session.
    Session,
    /// No.
    Deny,
}

/// What is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    /// One task.
    One(String),
    /// All that have ended and fit.
    Ended(Query),
}

/// A program that gets the terminal for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// `mw attach`.
    Attach(String),
    /// A command of `mw` that asks, if it has to.
    Command(Vec<String>),
    /// The editor, on a file.
    Editor(String),
    /// The pager, on a file.
    Pager(String),
}
