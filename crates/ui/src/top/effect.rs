//! What the screen wants done, by whom: looked up by the worker, done to tasks, or asked of the terminal.

use std::ops::Range;

use super::event::Query;
use super::log::LogTarget;
pub(crate) use crate::screen::MouseUse;

/// Something to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Look something up.
    Find(Lookup),
    /// Read this log from now on, and no other.
    Follow(Option<LogTarget>),
    /// Do something to tasks, or answer somebody who asks.
    Do(Deed),
    /// Give the terminal to another program.
    Run(Program),
    /// Have the terminal copy a text.
    Copy(String),
    /// Take the mouse, or leave it to the terminal.
    Mouse(MouseUse),
    /// Draw everything anew.
    Redraw,
    /// Stop, as a shell expects it.
    Suspend,
    /// Leave.
    Quit,
}

/// Something that the library is asked for. Nothing is changed by it.
#[derive(Clone, Debug, PartialEq)]
pub enum Lookup {
    /// List tasks.
    List(Query, Stretch),
    /// Look at one closely.
    Facts(String),
    /// Look up the runs of these.
    Runs(Vec<String>),
    /// Look up the sessions.
    Sessions,
    /// Look whether one takes input, so that somebody can attach to it.
    Attachable(String),
    /// Look what became of a proposal that is no longer open.
    Outcome(String),
    /// Read what comes before an offset.
    LogBefore(LogTarget, u64),
}

/// Something that is done, and whose outcome is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// End tasks.
    Kill(Vec<String>, Force),
    /// Run them once more.
    Restart(Vec<String>),
    /// Type a line into it.
    Input(String, String),
    /// Answer a proposal.
    Answer(String, Reply),
    /// Remove tasks that have ended.
    Clear(Removal),
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
    /// These.
    These(Vec<String>),
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
