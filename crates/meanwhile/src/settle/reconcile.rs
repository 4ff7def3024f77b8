//! Makes the database true to the task directories. Every front end does this before it believes the
//! database; doing it twice changes nothing.
//!
//! For a task that holds a slot, what its directory shows decides:
//!
//! | exit record | supervisor's lock | journal | the task … |
//! |---|---|---|---|
//! | there | – | – | has ended so |
//! | – | held | – | runs (or is being started) |
//! | – | free | started | runs unsupervised: it is adopted; if its process is gone, it is lost |
//! | – | free | nothing | was never started: it waits again, unless its starter is still at it |
//! | – | – | gone, though it ran | runs as long as its process lives, and is lost then |
//!
//! One that has ended may have left children behind, whom its supervisor looks after; if that is gone, they are adopted
//! too. What cannot be looked at says nothing: the task stays as it was, and is looked at again.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use mw_model::wire::{ExitRecord, JournalEntry, JournalLine};
use mw_model::{Cause, Event, Process, TaskId, TaskState, Timestamp};

use super::ending::end_unsupervised;
use crate::disk::look;
use crate::disk::platform;
use crate::disk::store::{Change, Transaction};
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::runtime::Runtime;
use crate::task::{Task, ended_by};

/// What a task's directory shows.
pub(crate) struct Findings {
    /// The run that was looked at.
    pub(crate) run: u32,
    pub(crate) journal: Vec<JournalLine>,
    /// Lines of earlier runs and of this one that were there before the rest was looked at.
    pub(crate) seen: u64,
    pub(crate) record: Option<ExitRecord>,
    pub(crate) supervised: bool,
    pub(crate) being_started: bool,
    /// Whether this process was starting it and has given up, though it still holds the start.
    pub(crate) given_up: bool,
    /// Whether it has ended, children of it live, and nobody looks after them.
    pub(crate) left: bool,
}

impl Findings {
    /// Why the command of a run was not executed, if its supervisor said so.
    fn not_executed(&self, run: u32) -> Option<&str> {
        self.journal.iter().filter(|line| line.run == run).find_map(|line| match &line.entry {
            JournalEntry::NotExecuted { message } => Some(message.as_str()),
            _ => None,
        })
    }

    /// The first process of a run and when it began, as far as its supervisor said so.
    fn begun(&self, run: u32) -> Option<(Process, Timestamp)> {
        self.journal.iter().filter(|line| line.run == run).find_map(|line| match &line.entry {
            JournalEntry::Started { process, started_at } => Some((process.clone(), *started_at)),
            _ => None,
        })
    }

    /// Tells whether a run's supervisor saw the last of its processes end, and what it had printed by then: all bytes,
    /// and those dropped.
    fn tree_empty(&self, run: u32) -> Option<(Option<u64>, Option<u64>)> {
        self.journal.iter().filter(|line| line.run == run).find_map(|line| match &line.entry {
            JournalEntry::TreeEmpty { output_bytes, dropped_bytes } => Some((*output_bytes, *dropped_bytes)),
            _ => None,
        })
    }

    pub(crate) fn started(&self, run: u32) -> Option<(Process, Timestamp)> {
        let known = self.begun(run);
        if self.supervised || self.not_executed(run).is_some() {
            return known;
        }
        // Somebody was about to execute it and died: it may run, under a pid that nobody wrote down.
        known.or_else(|| self.journal.iter().find(|line| line.run == run).map(|line| (nobody(), line.at)))
    }

    /// Tells whether nothing has come of a start, and nobody is at it. That may change between a look and the transaction
    /// that acts on it, so it is looked at again there.
    const fn is_abandoned(&self) -> bool {
        !self.supervised && !self.being_started && self.record.is_none()
    }

    /// Tells whether a run was begun, has no record, and nobody looks after it.
    pub(crate) fn is_untended(&self, run: u32) -> bool {
        !self.supervised
            && self.record.is_none()
            && self.not_executed(run).is_none()
            && self.started(run).is_some()
    }
}

/// A process that nobody wrote down.
const fn nobody() -> Process {
    Process { pid: 0, start_ticks: 0, boot_id: String::new() }
}

impl Runtime {
    /// Looks at every task that is not settled, records what happened, and starts what may start.
    ///
    /// # Errors
    /// When the database fails, or nothing can be looked at now. Damage to single tasks is recorded, not raised.
    pub fn reconcile(&self) -> Result<()> {
        self.reconcile_unsettled()?;
        if self.store()?.any_waiting()? {
            self.pump_queue();
        }
        Ok(())
    }

    /// Looks at every task that is not settled. Before slots are given away: one that runs unsupervised has
    /// lost its own and gets another.
    pub(crate) fn reconcile_unsettled(&self) -> Result<()> {
        for task in self.store()?.unsettled(&self.home.tasks())? {
            match self.reconcile_known(&task) {
                // One that cannot be looked at stays as it was, and hides no other.
                Err(error @ Error::Io { .. }) if !error.is_lack() => {}
                other => _ = other?,
            }
        }
        Ok(())
    }

    /// Does the same for one task; returns whether anything changed.
    pub(crate) fn reconcile_task(&self, id: &TaskId) -> Result<bool> {
        match self.store()?.task(id, &self.home.tasks())? {
            Some(task) => self.reconcile_known(&task),
            None => Ok(false),
        }
    }

    /// Does the same for a task whose start this process has given up.
    pub(crate) fn reconcile_started(&self, id: &TaskId) -> Result<bool> {
        let Some(task) = self.store()?.task(id, &self.home.tasks())? else {
            return Ok(false);
        };
        let findings = Findings { being_started: false, given_up: true, ..self.look_at(&task)? };
        self.act_on(&task, &findings)
    }

    /// A disk that is full keeps the news out of the database, not from those who ask.
    fn reconcile_known(&self, task: &Task) -> Result<bool> {
        match self.try_reconcile(task) {
            Err(Error::Store(error)) if error.is_lack_of_room() => Ok(false),
            other => other,
        }
    }

    fn try_reconcile(&self, task: &Task) -> Result<bool> {
        match &task.state {
            TaskState::Pending { .. } => return Ok(false),
            TaskState::Ended { .. } if task.survivors == 0 => return Ok(false),
            _ => {}
        }
        let findings = self.look_at(task)?;
        let current = matches!(task.state, TaskState::Running { .. } | TaskState::Cancelling { .. });
        if current && findings.supervised && findings.record.is_none() && findings.seen == task.journal_seen {
            return Ok(false);
        }
        if matches!(task.state, TaskState::Ended { .. }) && findings.supervised {
            return Ok(false);
        }
        self.act_on(task, &findings)
    }

    fn act_on(&self, task: &Task, findings: &Findings) -> Result<bool> {
        if findings.being_started && findings.is_untended(task.state.run()) {
            return self.await_starter(task);
        }
        if findings.left {
            let begun = findings.begun(task.state.run());
            let begun = begun.or_else(|| {
                let record = findings.record.as_ref()?;
                Some((record.process.clone()?, record.started_at?))
            });
            let (process, started_at) = begun.unwrap_or_else(|| (nobody(), task.created_at));
            return self.adopt(task, &process, started_at);
        }
        if let TaskState::Starting { run, since, .. } = &task.state
            && *since < self.boot_time()
            && findings.journal.iter().all(|line| line.run != *run)
            && findings.record.is_none()
        {
            // A journal may not have reached the disk: whether the command ran is not known.
            let reason = "the machine was restarted while it was being started".to_owned();
            return self.record_unsupervised(&task.id, *run, Cause::Lost { reason });
        }
        let unsupervised = !findings.supervised && findings.record.is_none() && !findings.being_started;
        if unsupervised && let Some(message) = findings.not_executed(task.state.run()) {
            let cause = Cause::SpawnFailed { message: message.to_owned() };
            return self.record_unsupervised(&task.id, task.state.run(), cause);
        }
        if unsupervised && let Some((process, started_at)) = findings.started(task.state.run()) {
            return self.adopt(task, &process, started_at);
        }
        if let Some(process) = self.vanished(task, findings)? {
            return self.lose(task, process);
        }
        self.record_findings(&task.id, findings)
    }

    /// Both supervisors were killed while the starter is still at it, which knows more than anybody else and sends an
    /// adopter. Until then the task has no slot, and somebody else could be given it.
    fn await_starter(&self, task: &Task) -> Result<bool> {
        const PATIENCE: Duration = Duration::from_millis(500);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let findings = self.look_at(task)?;
            if !(findings.being_started && findings.is_untended(task.state.run())) {
                return self.act_on(task, &findings);
            }
            if Instant::now() > deadline {
                return self.record_findings(&task.id, &findings);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Looks in this order, because a supervisor writes its record before it lets go of its lock.
    pub(crate) fn look_at(&self, task: &Task) -> Result<Findings> {
        let being_started = self.home.is_being_started(&task.id)?;
        let supervised = self.home.is_supervised(&task.id)?;
        let record = self.home.result(&task.id, task.state.run())?;
        let journal = self.home.journal(&task.id)?;
        let seen = journal.len() as u64;
        let run = task.state.run();
        let mut findings =
            Findings { run, journal, seen, record, supervised, being_started, given_up: false, left: false };
        findings.left = self.is_left(task, &findings)?;
        Ok(findings)
    }

    fn is_still_abandoned(&self, task: &Task, before: &Findings) -> Result<bool> {
        let now = self.look_at(task)?;
        let now = Findings { being_started: now.being_started && !before.given_up, ..now };
        Ok(now.is_abandoned() && now.started(task.state.run()).is_none())
    }

    /// Tells whether children of a task that has ended live, and nobody looks after them.
    fn is_left(&self, task: &Task, findings: &Findings) -> Result<bool> {
        let run = task.state.run();
        let had_some = match &findings.record {
            Some(record) => !record.survivors.is_empty(),
            None => matches!(task.state, TaskState::Ended { .. }) && task.survivors > 0,
        };
        if findings.supervised || !had_some || findings.tree_empty(run).is_some() {
            return Ok(false);
        }
        let process = findings.record.as_ref().and_then(|record| record.process.clone());
        let process = process.or_else(|| Some(findings.begun(run)?.0)).unwrap_or_else(nobody);
        self.lives(task, &process, &findings.journal)
    }

    /// Tells whether any process of a task's present run lives: its first, one that carries its mark, or one in its
    /// control group.
    pub(crate) fn lives(&self, task: &Task, first: &Process, journal: &[JournalLine]) -> Result<bool> {
        let failed = || Error::io(format!("cannot look for the processes of {}", task.id));
        if !platform::tree_of(task.id.as_str(), first).map_err(failed())?.is_empty() {
            return Ok(true);
        }
        let run = task.state.run();
        let group = journal.iter().filter(|line| line.run == run).find_map(|line| match &line.entry {
            JournalEntry::Spawning { cgroup, .. } => cgroup.as_ref(),
            _ => None,
        });
        let Some(group) = group else { return Ok(false) };
        let members = Path::new(OsStr::from_bytes(group.as_bytes())).join("cgroup.procs");
        Ok(look::read(&members)?.is_some_and(|members| !members.is_empty()))
    }

    fn boot_time(&self) -> Timestamp {
        Timestamp::from_micros(self.clock.now().as_micros() - platform::uptime_us())
    }

    /// Records what was found.
    pub(crate) fn record_findings(&self, id: &TaskId, findings: &Findings) -> Result<bool> {
        let store = self.store()?;
        let transaction = store.begin(&self.home.tasks())?;
        let Some(mut task) = transaction.task(id)? else {
            return Ok(false);
        };
        let changed = self.apply_findings(&transaction, &mut task, findings)?;
        if changed {
            transaction.commit()?;
            fail_point("settle-committed");
            self.ring();
        }
        Ok(changed)
    }

    /// Turns what was found into events; returns whether there were any.
    pub(crate) fn apply_findings(
        &self,
        transaction: &Transaction<'_>,
        task: &mut Task,
        findings: &Findings,
    ) -> Result<bool> {
        let now = self.clock.now();
        let run = task.state.run();
        let mut changed = false;
        if findings.run != run {
            // Somebody has begun another run since the look, which says nothing of that.
            return Ok(false);
        }
        if matches!(task.state, TaskState::Starting { .. }) {
            match findings.started(run) {
                Some((process, started_at)) => {
                    transaction.apply(
                        task,
                        &Event::Started { process, started_at },
                        started_at,
                        Change::default(),
                    )?;
                    changed = true;
                }
                None if findings.is_abandoned() && self.is_still_abandoned(task, findings)? => {
                    transaction.apply(task, &Event::Released, now, Change::default())?;
                    // Without room for that it waits for the next command.
                    let _ = self.home.note_waiting();
                    changed = true;
                }
                None => {}
            }
        }
        let fresh = findings.journal.iter().skip(task.journal_seen as usize).filter(|line| line.run == run);
        for line in fresh {
            let event = match &line.entry {
                JournalEntry::KillRequested { by, signal, .. } => {
                    Event::KillRequested { by: by.clone(), signal: *signal }
                }
                JournalEntry::Stalled { prompt } => Event::Stalled { prompt: prompt.clone() },
                JournalEntry::Ready { what } => Event::Ready { what: what.clone(), ready_at: line.at },
                JournalEntry::Progress { progress } => Event::Progress { progress: progress.clone() },
                JournalEntry::Spawning { .. }
                | JournalEntry::NotExecuted { .. }
                | JournalEntry::Started { .. }
                | JournalEntry::LimitReached { .. }
                | JournalEntry::ResourceLimitReached { .. }
                | JournalEntry::Hosted
                | JournalEntry::Belongs { .. }
                | JournalEntry::TakenOver { .. }
                | JournalEntry::TreeEmpty { .. } => continue,
            };
            changed |= transaction.apply(task, &event, line.at, Change::default()).is_ok();
        }
        let seen = Change { journal_seen: Some(findings.seen), ..Change::default() };
        let live = matches!(
            task.state,
            TaskState::Running { .. } | TaskState::Cancelling { .. } | TaskState::Starting { .. }
        );
        if let Some(record) = findings.record.as_ref().filter(|_| live) {
            let change = Change {
                duration_ms: Some((record.duration_seconds * 1000.0) as u64),
                output_bytes: Some(record.output_bytes),
                dropped_bytes: Some(record.dropped_bytes),
                survivors: Some(record.survivors.len() as u32),
                ..seen
            };
            transaction.apply(task, &ended_by(record), record.completed_at, change)?;
            changed = true;
        }
        let is_over = matches!(task.state, TaskState::Ended { .. });
        if is_over && task.survivors > 0 && !findings.supervised && !findings.left {
            let told = findings.tree_empty(run);
            let (end, dropped) = match told {
                Some((Some(end), Some(dropped))) => (end, dropped),
                Some(_) | None => self.size_with_drops(task),
            };
            let change =
                Change { survivors: Some(0), output_bytes: Some(end), dropped_bytes: Some(dropped), ..seen };
            transaction.apply(task, &Event::TreeEmpty, now, change)?;
            changed = true;
        }
        if changed {
            transaction.set_journal_seen(&task.id, findings.seen)?;
        }
        Ok(changed)
    }

    /// Returns what an ended task has printed and what of it is not in the log. A full disk may have kept the note of
    /// what it dropped out of the log: what was known before is not forgotten.
    fn size_with_drops(&self, task: &Task) -> (u64, u64) {
        let Some((end, dropped)) = self.output_size(task) else {
            return (task.output_bytes, task.dropped_bytes);
        };
        let all = end.max(task.output_bytes);
        (all, dropped + (all - end))
    }

    /// Records every ending that is on disk, in the order in which the tasks came; returns whether there were
    /// any.
    pub(crate) fn record_endings(&self, transaction: &Transaction<'_>) -> Result<bool> {
        let mut any = false;
        for mut task in transaction.unsettled()? {
            if !matches!(task.state, TaskState::Ended { .. }) {
                let findings = match self.look_at(&task) {
                    // It is looked at again when somebody asks for it.
                    Err(error) if !error.is_lack() => continue,
                    other => other?,
                };
                if findings.record.is_some() {
                    any |= self.apply_findings(transaction, &mut task, &findings)?;
                }
            }
        }
        Ok(any)
    }

    pub(crate) fn record_unsupervised(&self, id: &TaskId, run: u32, cause: Cause) -> Result<bool> {
        let now = self.clock.now();
        let store = self.store()?;
        let transaction = store.begin(&self.home.tasks())?;
        let Some(mut task) = transaction.task(id)? else {
            return Ok(false);
        };
        if task.state.run() != run || matches!(task.state, TaskState::Ended { .. }) {
            return Ok(false);
        }
        end_unsupervised(&self.home, &transaction, &mut task, cause, now)?;
        transaction.commit()?;
        self.ring();
        Ok(true)
    }

    /// Returns a task as it is, also where the database could not be written.
    pub(crate) fn current(&self, id: &TaskId) -> Result<Task> {
        self.reconcile_task(id)?;
        let mut task = self.stored(id)?;
        self.overlay(&mut task);
        Ok(task)
    }

    /// Shows an ending that is on record but not in the database yet. What cannot be read shows nothing new.
    pub(crate) fn overlay(&self, task: &mut Task) {
        if task.state.process().is_some()
            && let Ok(Some(record)) = self.home.result(&task.id, task.state.run())
        {
            task.show_record(&record);
        }
    }
}
