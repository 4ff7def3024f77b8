//! Events of a task. They are the authoritative record; the state follows from them.

use serde::{Deserialize, Serialize};

use super::cause::Cause;
use super::progress::Progress;
use super::state::{Process, RunOrigin};
use crate::time::Timestamp;
use crate::wire::JournalEntry;

/// Something that happened to a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// It got a slot.
    Reserved {
        /// When it got the slot.
        since: Timestamp,
    },
    /// Its starter died before a supervisor took over, so it is queued again.
    Released,
    /// Its first process was executed.
    Started {
        /// The process.
        process: Process,
        /// When the process was executed.
        started_at: Timestamp,
    },
    /// Its end was requested.
    KillRequested {
        /// The requester.
        by: String,
        /// The signal to send.
        signal: i32,
    },
    /// It ended.
    Ended {
        /// The cause of the end.
        cause: Cause,
        /// When it ended.
        ended_at: Timestamp,
        /// Whether output may be missing, because there was no supervisor to read it for a while.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        output_lost: bool,
    },
    /// Another run was requested, or follows from the task's schedule.
    Requeued {
        /// The origin of the run.
        origin: RunOrigin,
        /// It does not start before this time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
    },
    /// It is silent and seems to wait for an answer.
    Stalled {
        /// The last line it printed.
        prompt: String,
    },
    /// Its readiness condition is met.
    Ready {
        /// What was seen: a line, or a port.
        what: String,
        /// When it was seen.
        ready_at: Timestamp,
    },
    /// It reported progress. Not every report becomes an event.
    Progress {
        /// The report.
        progress: Progress,
    },
    /// The foreground wait ended, and it continues in the background.
    MovedToBackground {
        /// The number in its short handle from now on.
        handle_number: u64,
    },
    /// It was moved to another session.
    Reassigned {
        /// The old session.
        from: String,
        /// The new session.
        to: String,
        /// The reason, for people.
        reason: String,
    },
    /// The last of the processes that outlived the first one has ended.
    TreeEmpty,
}

impl Event {
    /// Returns the word for this kind of event.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Reserved { .. } => "reserved",
            Self::Released => "released",
            Self::Started { .. } => "started",
            Self::KillRequested { .. } => "kill_requested",
            Self::Ended { .. } => "ended",
            Self::Requeued { .. } => "requeued",
            Self::Stalled { .. } => "stalled",
            Self::Ready { .. } => "ready",
            Self::Progress { .. } => "progress",
            Self::MovedToBackground { .. } => "moved_to_background",
            Self::Reassigned { .. } => "reassigned",
            Self::TreeEmpty => "tree_empty",
        }
    }
}

impl JournalEntry {
    /// Returns the event of a journal entry; `at` is the time of its line. Entries without an event only help a new
    /// supervisor to continue.
    #[must_use]
    pub fn event(&self, at: Timestamp) -> Option<Event> {
        match self.clone() {
            Self::Started { process, started_at, .. } => Some(Event::Started { process, started_at }),
            Self::KillRequested { by, signal, .. } => Some(Event::KillRequested { by, signal }),
            Self::Stalled { prompt } => Some(Event::Stalled { prompt }),
            Self::Ready { what } => Some(Event::Ready { what, ready_at: at }),
            Self::Progress { progress } => Some(Event::Progress { progress }),
            Self::Spawning { .. }
            | Self::NotExecuted { .. }
            | Self::LimitReached { .. }
            | Self::ResourceLimitReached { .. }
            | Self::Hosted
            | Self::Belongs { .. }
            | Self::TakenOver { .. }
            | Self::DriverStarted { .. }
            | Self::TreeEmpty { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_entry_becomes_an_event_with_its_time() {
        let at = Timestamp::from_micros(5);
        let ready = JournalEntry::Ready { what: "port 80".to_owned() };
        assert_eq!(ready.event(at), Some(Event::Ready { what: "port 80".to_owned(), ready_at: at }));
        assert_eq!(JournalEntry::Hosted.event(at), None);
    }
}
