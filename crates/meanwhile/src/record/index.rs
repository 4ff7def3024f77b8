//! Reads task directories into the database: new arrivals, or all tasks after the database was lost.

use std::collections::HashSet;

use mw_model::wire::{ExitRecord, JournalEntry, JournalLine};
use mw_model::{Event, RunOrigin, TaskId, TaskSpec, TaskState, TaskTrace, Timestamp, next_state};

use crate::base::Base;
use crate::disk::home::Home;
use crate::disk::store::{Store, Transaction, new_task};
use crate::disk::task_dir::ToldNews;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::record::Records;
use crate::record::findings::Findings;
use crate::span;
use crate::span::RunFacts;
use crate::task::Task;

/// How many arrivals are recorded in one transaction, so that other processes get their turn.
const AT_ONCE: usize = 64;
/// Set when a task directory could not be read.
pub(crate) const DAMAGED: &str = "damaged";

/// The result of reading an arrival.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    /// It is in the database now.
    New,
    /// It was in the database already, or is unusable.
    Old,
    /// Its starter is still writing it, or was killed before it had written it.
    Unfinished,
}

impl Base {
    /// Records the tasks that were started without the database.
    pub(crate) fn take_in_arrivals(&self, store: &Store) -> Result<()> {
        let take = |ids: Vec<TaskId>| self.take_in_all(store, &ids);
        self.home.arrivals().take_in(take, |id| self.is_abandoned(id))
    }

    /// Records them in a temporary database of this process. They stay on the list.
    pub(crate) fn take_in_for_now(&self, copy: &Store) -> Result<()> {
        self.take_in_all(copy, &self.home.arrivals().ids()?).map(drop)
    }

    /// Adds every task that is not in the database to the list of arrivals. Only needed if the list was removed.
    pub(crate) fn find_arrivals(&self, store: &Store) -> Result<()> {
        for id in self.home.task_ids()? {
            if store.task(&id)?.is_none() {
                self.note_arrival(&id)?;
            }
        }
        // If the disk is full, the next command tries again.
        let _ = self.home.arrivals().make();
        Ok(())
    }

    /// Fills the database on disk from the task directories.
    pub(crate) fn rebuild(&self, transaction: &Transaction<'_>) -> Result<()> {
        rebuild(&self.home, transaction)?.iter().try_for_each(|id| self.note_arrival(id))
    }

    /// Builds a temporary database of this process from the task directories. The list does not change.
    pub(crate) fn rebuild_for_now(&self) -> Result<Store> {
        let mut store = Store::in_memory(self.home.tasks())?;
        let mut left = Vec::new();
        store.bring_up_to_date(|transaction| {
            left = rebuild(&self.home, transaction)?;
            Ok(())
        })?;
        self.take_in_all(&store, &left)?;
        Ok(store)
    }

    /// Removes the remains of tasks whose removal was interrupted.
    pub(crate) fn sweep_cleared(&self) -> Result<()> {
        let store = self.store()?;
        for id in self.home.task_ids()? {
            // What cannot be inspected is left to the next sweep.
            let is_ours = self.home.task(&id).refuse_foreign().is_ok();
            let was_being_cleared = self.home.task(&id).was_being_cleared().unwrap_or(false);
            if is_ours && was_being_cleared && store.task(&id)?.is_none() {
                self.home.task(&id).remove();
            }
        }
        Ok(())
    }

    pub(crate) fn note_arrival(&self, id: &TaskId) -> Result<()> {
        self.home.arrivals().announce(id, || Ok(())).map_err(Error::io("cannot write to arrivals"))
    }

    /// Returns what is wrong with a task that has a directory but is not in the database.
    pub(crate) fn damage(&self, id: &TaskId) -> Result<Option<Error>> {
        match self.home.task(id).refuse_foreign() {
            Err(foreign @ Error::Foreign { .. }) => return Ok(Some(foreign)),
            looked => looked?,
        }
        let is_new = self.home.task(id).is_being_started()? && self.home.task(id).journal()?.is_empty();
        if is_new || !self.home.task(id).is_present()? || self.home.task(id).was_being_cleared()? {
            return Ok(None);
        }
        match self.home.task(id).spec() {
            Ok(_) => Ok(None),
            Err(error @ Error::Damaged { .. }) => Ok(Some(error)),
            Err(error) => Err(error),
        }
    }

    /// Records these arrivals; returns those that are done.
    fn take_in_all(&self, store: &Store, ids: &[TaskId]) -> Result<HashSet<TaskId>> {
        let mut any = false;
        let mut done = HashSet::new();
        for some in ids.chunks(AT_ONCE) {
            let transaction = store.begin()?;
            // Their slots may have belonged to tasks that have ended since.
            Records::on(self).record_endings(&transaction)?;
            for id in some {
                match self.take_in(&transaction, id)? {
                    Arrival::Unfinished => {}
                    Arrival::New => any |= done.insert(id.clone()),
                    Arrival::Old => _ = done.insert(id.clone()),
                }
            }
            transaction.commit()?;
            fail_point("arrivals-committed");
        }
        if any {
            self.ring();
        }
        Ok(done)
    }

    fn take_in(&self, transaction: &Transaction<'_>, id: &TaskId) -> Result<Arrival> {
        if transaction.task(id)?.is_some() {
            return Ok(Arrival::Old);
        }
        // Read everything before the first change, so that a failure leaves no partial task.
        let (found, findings) = match self.look_at_arrival(id) {
            Ok(Some(looked)) => looked,
            Ok(None) => return Ok(Arrival::Unfinished),
            Err(_) if self.home.task(id).was_being_cleared().unwrap_or(false) => {
                self.home.task(id).remove();
                return Ok(Arrival::Old);
            }
            Err(Error::Damaged { .. } | Error::Foreign { .. }) => {
                transaction.set_mark(DAMAGED, 1)?;
                return Ok(Arrival::Old);
            }
            Err(error) if error.is_lack() => return Err(error),
            // It may be readable next time.
            Err(_) => {
                transaction.set_mark(DAMAGED, 1)?;
                return Ok(Arrival::Unfinished);
            }
        };
        let mut task = found.insert(&self.home, transaction)?;
        if !matches!(task.state, TaskState::Pending { .. }) {
            Records::on(self).apply_findings(transaction, &mut task, &findings)?;
        }
        Ok(Arrival::New)
    }

    /// Reads an arrival; nothing while its starter still writes it, or when the starter was killed before.
    fn look_at_arrival(&self, id: &TaskId) -> Result<Option<(OnDisk, Findings)>> {
        self.home.task(id).refuse_foreign()?;
        let was_told = self.home.task(id).has_spec()? || self.home.task(id).was_begun()?;
        if !was_told || (self.home.task(id).is_being_started()? && self.home.task(id).journal()?.is_empty()) {
            return Ok(None);
        }
        let found = OnDisk::read(&self.home, self.home.task(id).spec()?)?;
        let findings = Records::on(self).look_at(&found.task)?;
        Ok(Some((found, findings)))
    }

    /// Tells whether a starter was killed before it had written its task, and removes the remains: nobody knows of such a
    /// task. Call it only while no starter can be creating a directory.
    fn is_abandoned(&self, id: &TaskId) -> bool {
        let look = || {
            let home = &self.home;
            Ok::<_, Error>(
                !home.task(id).is_being_started()?
                    && !home.task(id).has_spec()?
                    && !home.task(id).was_begun()?,
            )
        };
        // What cannot be inspected stays on the list.
        let abandoned = look().unwrap_or(false);
        if abandoned {
            self.home.task(id).remove();
        }
        abandoned
    }
}

/// Fills an empty database from the task directories; returns tasks that may still be starting, or that cannot be inspected
/// now. Damaged directories are left unchanged.
fn rebuild(home: &Home, transaction: &Transaction<'_>) -> Result<Vec<TaskId>> {
    let (mut all, mut left) = (Vec::new(), Vec::new());
    for id in home.task_ids()? {
        match look_for_rebuild(home, &id) {
            Ok(Kept::Task(found)) => all.push(found),
            Ok(Kept::Unfinished) => left.push(id),
            Ok(Kept::Cleared) => home.task(&id).remove(),
            Err(error) if error.is_lack() => return Err(error),
            Err(error) => {
                transaction.set_mark(DAMAGED, 1)?;
                if !matches!(error, Error::Damaged { .. } | Error::Foreign { .. }) {
                    left.push(id);
                }
            }
        }
    }
    all.sort_by_key(|found| (found.spec.created_at, found.spec.number));
    for found in all {
        found.insert(home, transaction)?;
    }
    Ok(left)
}

/// What a rebuild finds in a task's directory.
enum Kept {
    Task(Box<OnDisk>),
    /// Its starter still uses the old database, or was killed before it had written anything.
    Unfinished,
    /// Another process was removing it.
    Cleared,
}

fn look_for_rebuild(home: &Home, id: &TaskId) -> Result<Kept> {
    home.task(id).refuse_foreign()?;
    if home.task(id).was_being_cleared()? {
        return Ok(Kept::Cleared);
    }
    if home.task(id).is_being_started()? || !(home.task(id).has_spec()? || home.task(id).was_begun()?) {
        return Ok(Kept::Unfinished);
    }
    Ok(Kept::Task(Box::new(OnDisk::read(home, home.task(id).spec()?)?)))
}

/// Reads a task that runs under a supervisor; nothing if it does not, or if that is uncertain.
pub(crate) fn running_task(home: &Home, id: &TaskId) -> Result<Option<Task>> {
    let supervised = home.task(id).is_supervised()?;
    let Ok(spec) = home.task(id).spec() else { return Ok(None) };
    let (task, journal) = not_begun(home, &spec)?;
    let run = task.state.run();
    if !supervised || home.task(id).result(run)?.is_some() {
        return Ok(None);
    }
    Ok(begun(task, journal.into_iter().filter(|line| line.run == run)))
}

/// Applies the journal of a run to its task; nothing unless the task is running afterwards.
fn begun(mut task: Task, journal: impl Iterator<Item = JournalLine>) -> Option<Task> {
    let mut apply = |event: &Event| next_state(&task.state, event).map(|state| task.set_state(state)).ok();
    apply(&Event::Reserved { since: Timestamp::default() })?;
    for line in journal {
        match line.entry {
            JournalEntry::Started { process, started_at } => apply(&Event::Started { process, started_at })?,
            JournalEntry::KillRequested { by, signal, .. } => apply(&Event::KillRequested { by, signal })?,
            // A repeated entry changes nothing.
            JournalEntry::Ready { what } => _ = apply(&Event::Ready { what, ready_at: line.at }),
            JournalEntry::Spawning { .. }
            | JournalEntry::NotExecuted { .. }
            | JournalEntry::LimitReached { .. }
            | JournalEntry::ResourceLimitReached { .. }
            | JournalEntry::Stalled { .. }
            | JournalEntry::Progress { .. }
            | JournalEntry::Hosted
            | JournalEntry::Belongs { .. }
            | JournalEntry::TakenOver { .. }
            | JournalEntry::TreeEmpty { .. } => {}
        }
    }
    task.state.process().is_some().then_some(task)
}

/// Reads a task as it was before its current run, and its journal.
fn not_begun(home: &Home, spec: &TaskSpec) -> Result<(Task, Vec<JournalLine>)> {
    let journal = home.task(&spec.id).journal()?;
    let shelved = home.task(&spec.id).last_shelved()?;
    let run = journal.iter().map(|line| line.run).max().unwrap_or(1).max(shelved + 1);
    let origin = match run {
        1 => RunOrigin::First,
        run if spec.agent.is_some() && home.task(&spec.id).follow_up(run)?.is_some() => RunOrigin::Resume,
        _ => RunOrigin::Restart,
    };
    let mut task = new_task(spec, TaskState::Pending { run, origin }, &home.task(&spec.id).log());
    if spec.agent.is_some() {
        task.resume_count = home.task(&spec.id).follow_ups(run)?;
    }
    Ok((task, journal))
}

/// All that a task's directory says about it, read before any of it is written elsewhere.
struct OnDisk {
    spec: TaskSpec,
    /// The task before its current run.
    task: Task,
    journal: Vec<JournalLine>,
    begun: bool,
    /// The last run whose end was delivered to the owner.
    told: Option<u32>,
    told_news: Vec<ToldNews>,
    /// The exit records of earlier runs, as far as they exist.
    earlier: Vec<ExitRecord>,
}

impl OnDisk {
    fn read(home: &Home, spec: TaskSpec) -> Result<Self> {
        let (task, journal) = not_begun(home, &spec)?;
        let run = task.state.run();
        let mut earlier = Vec::new();
        for run in 1..run {
            // The process that was moving its files may have been killed.
            let record = home.task(&spec.id).earlier_result(run)?;
            earlier.extend(if record.is_some() { record } else { home.task(&spec.id).result(run)? });
        }
        Ok(Self {
            begun: journal.iter().any(|line| line.run == run) || home.task(&spec.id).result(run)?.is_some(),
            told: home.task(&spec.id).told()?,
            told_news: home.task(&spec.id).told_news()?,
            spec,
            task,
            journal,
            earlier,
        })
    }

    /// Adds the task. A task that was being started gets the state from which reconciling continues.
    fn insert(&self, home: &Home, transaction: &Transaction<'_>) -> Result<Task> {
        let spec = &self.spec;
        let mut task = self.task.clone();
        task.number = transaction.take_number(&spec.session, spec.number)?;
        if self.begun {
            transaction.insert_reserved(&mut task, spec.created_at)?;
        } else {
            transaction.insert(&task)?;
            // If the disk is full, the next command does it.
            let _ = home.note_waiting();
        }
        if let Some(trace) = &spec.trace {
            self.enter_earlier_spans(transaction, &task, trace)?;
        }
        for record in self.earlier.iter().filter(|record| self.told.is_none_or(|told| told < record.run)) {
            transaction.tell_earlier_end(&task, record)?;
        }
        if self.told == Some(task.state.run()) {
            transaction.latch(&task, spec.created_at)?;
        } else if let Some(teller) = spec.teller.as_ref().filter(|_| task.state.run() == 1) {
            transaction.promise_end(&task, teller)?;
        }
        for told in &self.told_news {
            transaction.latch_news(&task, told, spec.created_at)?;
        }
        Ok(task)
    }

    /// Adds the spans of earlier runs. The end of a run without a record is unknown.
    fn enter_earlier_spans(
        &self,
        transaction: &Transaction<'_>,
        task: &Task,
        trace: &TaskTrace,
    ) -> Result<()> {
        for record in &self.earlier {
            let run = record.run;
            let mut of_run = self.journal.iter().filter(|line| line.run == run);
            let started = of_run.find_map(|line| match &line.entry {
                JournalEntry::Started { process, started_at } => Some((process.pid, *started_at)),
                _ => None,
            });
            let cause = record.cause();
            let facts = RunFacts {
                run,
                pid: started.map(|(pid, _)| pid),
                started_at: started.map(|(_, at)| at),
                ended: Some((record.completed_at, &cause)),
            };
            for span in span::of_earlier_run(task, trace, &facts) {
                transaction.enter_span(&span, trace)?;
            }
        }
        Ok(())
    }
}
