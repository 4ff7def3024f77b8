//! What a task's directory shows, and what follows from it.

use mw_model::wire::{ExitRecord, JournalEntry, JournalLine};
use mw_model::{Process, TaskState, Timestamp};

use crate::task::Task;

/// What a task's directory shows.
pub(crate) struct Findings {
    /// The run that was inspected.
    pub(crate) run: u32,
    pub(crate) journal: Vec<JournalLine>,
    /// How many lines the journal had, those of earlier runs included.
    pub(crate) seen: u64,
    pub(crate) record: Option<ExitRecord>,
    pub(crate) supervised: bool,
    pub(crate) being_started: bool,
    pub(super) looker: Looker,
    /// Whether the run had ended when it was inspected. Only then children that it left behind were looked for.
    pub(super) had_ended: bool,
    /// Whether it has ended, some of its processes are still running, and they have no supervisor.
    pub(crate) has_orphans: bool,
}

/// Who looks at a task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Looker {
    Anybody,
    /// The process that was starting the task and has given up. It still holds the lock of the start.
    Starter,
}

/// What follows for a task that holds a slot, or has left children behind.
pub(crate) enum Situation<'findings> {
    /// Its supervisors were killed, and the process that starts it is still at work.
    StarterAtWork,
    /// It has ended, and children that it left behind have no supervisor.
    LeftChildren(Process, Timestamp),
    /// The machine rebooted during its start. Its journal may not have reached the disk, so whether the command ran is not
    /// known.
    CutByReboot,
    /// Its supervisor recorded why the command could not be executed, and is gone.
    NotExecuted(&'findings str),
    /// It runs, or ran, without a supervisor and without an exit record.
    Unsupervised(Process, Timestamp),
    /// Nothing has to be done but to record what is new.
    Recordable,
}

impl Findings {
    /// Decides what follows for a task.
    pub(crate) fn situation(&self, task: &Task, booted: Timestamp) -> Situation<'_> {
        let run = task.state.run();
        if self.awaits_starter() {
            return Situation::StarterAtWork;
        }
        if self.has_orphans {
            let written_down = || {
                let record = self.record.as_ref()?;
                Some((record.process.clone()?, record.started_at?))
            };
            let begun = self.begun(run).or_else(written_down);
            let (process, started_at) = begun.unwrap_or_else(|| (nobody(), task.created_at));
            return Situation::LeftChildren(process, started_at);
        }
        // Whoever holds a lock has taken it after the last reboot. The time of the reboot is computed from the clock, which may
        // have been set.
        if let TaskState::Starting { since, .. } = &task.state
            && !self.supervised
            && !self.being_started
            && *since < booted
            && self.record.is_none()
            && self.journal.iter().all(|line| line.run != run)
        {
            return Situation::CutByReboot;
        }
        if self.supervised || self.record.is_some() || self.being_started {
            return Situation::Recordable;
        }
        if let Some(message) = self.not_executed(run) {
            return Situation::NotExecuted(message);
        }
        match self.started(run) {
            Some((process, started_at)) => Situation::Unsupervised(process, started_at),
            None => Situation::Recordable,
        }
    }

    /// Returns whether its supervisors were killed while its starter is still at work.
    pub(crate) fn awaits_starter(&self) -> bool {
        self.being_started && self.is_untended(self.run)
    }

    /// The same directory once a new supervisor is on its way.
    pub(crate) fn with_supervisor(self) -> Self {
        Self { supervised: true, ..self }
    }

    /// The same directory with an exit record that has come meanwhile.
    pub(crate) fn with_record(self, record: Option<ExitRecord>) -> Self {
        Self { record, ..self }
    }

    /// Returns what `read` finds in the first journal entry of a run that has it.
    fn find<'a, T>(&'a self, run: u32, read: impl Fn(&'a JournalEntry) -> Option<T>) -> Option<T> {
        self.journal.iter().filter(|line| line.run == run).find_map(|line| read(&line.entry))
    }

    /// Returns why the command of a run was not executed, if its supervisor recorded it.
    pub(crate) fn not_executed(&self, run: u32) -> Option<&str> {
        self.find(run, |entry| match entry {
            JournalEntry::NotExecuted { message } => Some(message.as_str()),
            _ => None,
        })
    }

    /// Returns the first process of a run and its start time, if its supervisor recorded them.
    pub(crate) fn begun(&self, run: u32) -> Option<(Process, Timestamp)> {
        self.find(run, |entry| match entry {
            JournalEntry::Started { process, started_at, .. } => Some((process.clone(), *started_at)),
            _ => None,
        })
    }

    /// Returns the output counts if the run's supervisor saw all of its processes end: all bytes, and the dropped ones.
    pub(crate) fn tree_empty(&self, run: u32) -> Option<(Option<u64>, Option<u64>)> {
        self.find(run, |entry| match entry {
            JournalEntry::TreeEmpty { output_bytes, dropped_bytes } => Some((*output_bytes, *dropped_bytes)),
            _ => None,
        })
    }

    pub(crate) fn started(&self, run: u32) -> Option<(Process, Timestamp)> {
        let known = self.begun(run);
        if self.supervised || self.not_executed(run).is_some() {
            return known;
        }
        // A process was killed just before it executed the command: it may run under a pid that was not recorded.
        known.or_else(|| self.journal.iter().find(|line| line.run == run).map(|line| (nobody(), line.at)))
    }

    /// Returns whether the command of a run may have been executed, whoever supervises it now.
    pub(crate) fn may_have_begun(&self, run: u32) -> bool {
        self.not_executed(run).is_none() && self.journal.iter().any(|line| line.run == run)
    }

    /// Returns whether a start led to nothing, and no process continues it. This may change before the transaction that acts on
    /// it, so it is checked again there.
    pub(crate) const fn is_abandoned(&self) -> bool {
        !self.supervised && !self.being_started && self.record.is_none()
    }

    /// Returns whether a run was started, has no record, and has no supervisor.
    pub(crate) fn is_untended(&self, run: u32) -> bool {
        !self.supervised
            && self.record.is_none()
            && self.not_executed(run).is_none()
            && self.started(run).is_some()
    }
}

/// A process that was not recorded.
pub(crate) const fn nobody() -> Process {
    Process { pid: 0, start_ticks: 0, boot_id: String::new() }
}
