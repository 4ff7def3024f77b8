//! Effects: what the screen requests from the worker, the tasks or the terminal.

use mw_desk::action::TaskAction;
use mw_desk::log_window::LogTarget;
use mw_desk::query::{Query, Stretch};

pub(crate) use crate::screen::MouseUse;

/// An effect outside the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Look something up.
    Find(Lookup),
    /// Read this log from now on, and no other.
    Follow(Option<LogTarget>),
    /// Perform an action on tasks or an approval request.
    Do(TaskAction),
    /// Give the terminal to another program.
    Run(Program),
    /// Have the terminal copy a text.
    Copy(String),
    /// Capture the mouse, or leave it to the terminal.
    Mouse(MouseUse),
    /// Redraw everything.
    Redraw,
    /// Suspend, as a shell expects it.
    Suspend,
    /// Quit.
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
    /// Check whether a task takes input, before attaching to it.
    Attachable(String),
    /// Look what became of a proposal that is no longer open.
    Outcome(String),
    /// Read what comes before an offset.
    LogBefore(LogTarget, u64),
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
