//! What the lab has asked for and done, for the checker.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a start has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It was started or queued under this id.
    Started(String),
    /// It was refused, with this message.
    Refused(String),
    /// The client was killed, or the answer is lost.
    Unknown,
}

/// A request to start a task.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub(super) session: String,
    pub(super) answer: Answer,
    pub(super) timeout: Option<Duration>,
    /// The size limit of its output.
    pub(super) has_cap: bool,
    /// A foreground command. It takes no slot, and its reply reports the end.
    pub(super) is_attached: bool,
}

/// A notification as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Receipt {
    pub(super) id: String,
    /// The run, if the notification names it.
    pub(super) run: Option<u64>,
    pub(super) status: String,
    /// Whether the receiver acknowledged it for certain. Otherwise it was killed, and may get it again.
    pub(super) is_certain: bool,
    /// Whether the database was replaced, or the disk was full, while the receiver worked.
    pub(super) is_in_doubt: bool,
}

/// The actions of a round. Requests are named by the key of their witness.
#[derive(Clone, Debug, Default)]
pub(super) struct Actions {
    pub(super) starts: BTreeMap<String, Start>,
    /// Requests to run again, also those that failed.
    pub(super) restarts: BTreeMap<String, u64>,
    pub(super) kills: BTreeSet<String>,
    pub(super) clears: BTreeSet<String>,
    /// Sessions that were ended or whose host was killed or has ended.
    pub(super) ended_sessions: BTreeSet<String>,
    pub(super) receipts: Vec<Receipt>,
    /// Signals that killed a supervisor or guardian, by the id of its task.
    pub(super) supervisor_kills: BTreeMap<String, u64>,
    /// The tasks of guardians that had not entered the directory of their task when they were seen.
    pub(super) tasks_of_guardians: BTreeMap<u32, String>,
    /// Supervisors whose guardian was killed before either had entered the directory of the task.
    pub(super) without_guardian: BTreeSet<u32>,
    /// Processes that were hit by SIGKILL. Between a look and a signal a supervisor's child may become a task.
    pub(super) killed: BTreeSet<u32>,
    /// How often the database was changed behind the product's back.
    pub(super) database_faults: u64,
    /// How often the disk was filled or freed; it is full while this is odd.
    pub(super) disk_changes: u64,
    /// Commands that ended in a way in which no command may.
    pub(super) misbehaviour: Vec<String>,
    /// Faults by class.
    pub(super) faults: BTreeMap<&'static str, u64>,
    /// Pairs of commands that raced.
    pub(super) races: u64,
}

/// The actions, shared by the threads of a round, and its log.
pub(super) struct Book {
    begun: Instant,
    actions: Mutex<Actions>,
    log: Mutex<File>,
}

impl Book {
    pub(super) fn new(log: File) -> Self {
        Self { begun: Instant::now(), actions: Mutex::default(), log: Mutex::new(log) }
    }

    pub(super) fn actions(&self) -> MutexGuard<'_, Actions> {
        self.actions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a line with the time to the log of the round.
    pub(super) fn log(&self, text: &str) {
        let line = format!("{:9.3} {text}\n", self.begun.elapsed().as_secs_f64());
        let _ = self.log.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
    }

    /// Counts a fault that has hit something.
    pub(super) fn count(&self, class: &'static str, number: u64) {
        if number > 0 {
            *self.actions().faults.entry(class).or_default() += number;
        }
    }
}
