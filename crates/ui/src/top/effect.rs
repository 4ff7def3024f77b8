//! What the screen wants done, by whom: looked up by the worker, done to tasks, or asked of the terminal.

use mw_desk::action::TaskAction;
use mw_desk::log_window::LogTarget;
use mw_desk::query::{Query, Stretch};

pub(crate) use crate::screen::MouseUse;

/// Something to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Look something up.
    Find(Lookup),
    /// Read this log from now on, and no other.
    Follow(Option<LogTarget>),
    /// Do something to tasks, or answer somebody who asks.
    Do(TaskAction),
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
