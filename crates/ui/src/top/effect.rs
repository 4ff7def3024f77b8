//! Effects: requests of the screen to the worker, the tasks or the terminal.

use mw_desk::action::TaskAction;
use mw_desk::log_window::LogTarget;
use mw_desk::query::{Query, RowRange};

use crate::screen::TerminalRequest;

/// An effect outside the screen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Look something up.
    Find(Lookup),
    /// Follow this log and stop following any other.
    Follow(Option<LogTarget>),
    /// Search the parts of this log that are not loaded, and cancel any earlier search.
    Search(Hunt),
    /// Cancel the search of a log.
    EndSearch,
    /// Perform an action on tasks or an approval request.
    Do(TaskAction),
    /// Give the terminal to another program.
    Run(Program),
    /// Change something about the screen or the terminal.
    Screen(TerminalRequest),
}

/// A request for data. It changes nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lookup {
    /// List tasks.
    List(Query, RowRange),
    /// Load the details of this task.
    Facts(String),
    /// Load the runs of these tasks.
    Runs(Vec<String>),
    /// List the sessions.
    Sessions,
    /// Check whether this task accepts input, before attaching to it.
    Attachable(String),
    /// Find out how this closed approval request was answered.
    Outcome(String),
    /// Read the part of this log before this offset.
    LogBefore(LogTarget, u64),
    /// Read the part of this log from this offset on.
    LogAfter(LogTarget, u64),
    /// Show the beginning of this log.
    LogStart(LogTarget),
}

/// A search in the parts of a log that are not loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunt {
    pub(crate) target: LogTarget,
    pub(crate) text: String,
    pub(crate) direction: Direction,
    /// The loaded part, which is not searched: its first offset, and the offset after it.
    pub(crate) loaded: (u64, u64),
}

/// The direction of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Towards the end; then on from the beginning.
    Forward,
    /// Towards the beginning; then on from the end.
    Backward,
}

/// A program that gets the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// `mw attach` to this task.
    Attach(String),
    /// The editor with this file.
    Editor(String),
    /// The pager with this file.
    Pager(String),
}
