//! Events: everything that can change the screen.

use crossterm::event::{KeyEvent, MouseEvent};
use meanwhile::engine::SessionInfo;
use meanwhile::model::Timestamp;
use mw_desk::Proposed;
use mw_desk::log_window::{LogChunk, LogTarget};
use mw_desk::query::{Lane, Window};
use mw_desk::rows::Fact;

/// An event.
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
    /// A second has passed while a visible task runs.
    Tick,
    /// Tasks have changed.
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
    /// A message about an action of another process.
    Told(String),
    /// What was asked for is done: in words, the first line first.
    Done(Vec<String>),
    /// What was asked for failed: what happened, and what to do.
    Failed(String),
}
