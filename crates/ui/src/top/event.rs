//! Events from other threads.

use meanwhile::engine::SessionInfo;
use meanwhile::model::Timestamp;
use mw_desk::OpenRequest;
use mw_desk::log_window::{LogChunk, LogTarget};
use mw_desk::query::{Lane, Window};
use mw_desk::rows::Fact;

use super::effect::Hunt;

/// An event from another thread.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// Tasks have changed.
    TasksChanged,
    /// Changes of tasks cannot be watched, for this reason. The watch is retried.
    WatchFailed(String),
    /// The watch has started, for the first time or after a failure.
    WatchStarted,
    /// A list of tasks was loaded.
    Listed(Window),
    /// The list of tasks could not be loaded, for this reason.
    ListFailed(String),
    /// The details of the task with this id were loaded.
    Facts(String, Vec<Fact>),
    /// The runs of some tasks were loaded at this time.
    Lanes(Vec<Lane>, Timestamp),
    /// The sessions were loaded.
    Sessions(Vec<SessionInfo>),
    /// These approval requests are open, oldest first.
    Asked(Vec<OpenRequest>),
    /// The task with this id can be attached to.
    Attachable(String),
    /// New output of a log was read.
    Read(LogTarget, LogChunk),
    /// An earlier part of a log was read.
    ReadEarlier(LogTarget, LogChunk),
    /// A later part of a log was read.
    ReadLater(LogTarget, LogChunk),
    /// This part of a log replaces what is shown.
    ReadStart(LogTarget, LogChunk),
    /// A search has read this many percent of a log.
    Searched(Hunt, u64),
    /// A search has found its text in this part, or nowhere.
    Found(Hunt, Option<LogChunk>),
    /// A log cannot be read, for this reason.
    Unreadable(LogTarget, String),
    /// An approval request was answered elsewhere. The text says how.
    AnsweredElsewhere(String),
    /// An action has succeeded. The lines describe its result.
    Done(Vec<String>),
    /// An action has failed. The text says what happened and what to do.
    Failed(String),
}
