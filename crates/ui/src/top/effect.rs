//! Effects: requests of the screen to the worker, the tasks or the terminal.

use mw_desk::action::TaskAction;
use mw_desk::log_window::LogTarget;
use mw_desk::query::{Query, RowRange};

use crate::screen::Request;

/// An effect outside the screen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Look something up.
    Find(Lookup),
    /// Follow this log and stop following any other.
    Follow(Option<LogTarget>),
    /// Perform an action on tasks or an approval request.
    Do(TaskAction),
    /// Give the terminal to another program.
    Run(Program),
    /// Change something about the screen or the terminal.
    Screen(Request),
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
