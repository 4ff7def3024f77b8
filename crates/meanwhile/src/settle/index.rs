//! Brings tasks from their directories into the database: those that have just arrived, and all of them
//! when the database was lost.

use std::collections::HashSet;

use mw_model::wire::{ExitRecord, JournalEntry, JournalLine};
use mw_model::{Event, RunOrigin, TaskId, TaskSpec, TaskState, TaskTrace, Timestamp, next_state};

use super::reconcile::Findings;
use crate::disk::home::{Home, ToldNews};
use crate::disk::store::{Store, Transaction, new_task};
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::retain::clear::Retained;
use crate::runtime::Runtime;
use crate::task::Task;
use crate::trace::spans;
use crate::trace::spans::RunFacts;

/// How many arrivals are taken in with one change of the database; others may want to change it too.
const AT_ONCE: usize = 64;
/// Set when a task directory was met that cannot be read.
const DAMAGED: &str = "damaged";

/// What became of an arrival.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    /// It is in the database now.
    New,
    /// It was there before, or cannot be used.
    Old,
    /// Its starter is still at it, or died before it was.
    Unfinished,
}

impl Runtime {
    /// Takes in the tasks that were started without the database.
    pub(crate) fn take_in_arrivals(&self, store: &Store) -> Result<()> {
        let take = |ids: Vec<TaskId>| self.take_in_all(store, &ids);
        self.home.arrivals().take_in(take, |id| self.is_abandoned(id))
    }

    /// Takes them into a database that is gone with this process. They stay on the list.
    pub(crate) fn take_in_for_now(&self, copy: &Store) -> Result<()> {
        self.take_in_all(copy, &self.home.arrivals().ids()?).map(drop)
    }

    /// Puts every task on the list that is not in the database. Only needed where somebody removed the list.
    pub(crate) fn find_arrivals(&self, store: &Store) -> Result<()> {
        for id in self.home.task_ids()? {
            if store.task(&id, &self.home.tasks())?.is_none() {
                self.note_arrival(&id)?;
            }
        }
        // Without room there is none, and the next one looks again.
        let _ = self.home.arrivals().make();
        Ok(())
    }

    /// Fills the database on disk from the task directories.
    pub(crate) fn rebuild(&self, transaction: &Transaction<'_>) -> Result<()> {
        rebuild(&self.home, transaction)?.iter().try_for_each(|id| self.note_arrival(id))
    }

    /// Makes a database that is gone with this process from the task directories. The list is left alone.
    pub(crate) fn rebuild_for_now(&self) -> Result<Store> {
        let store = Store::in_memory()?;
        let mut left = Vec::new();
        store.bring_up_to_date(&self.home.tasks(), |transaction| {
            left = rebuild(&self.home, transaction)?;
            Ok(())
        })?;
        self.take_in_all(&store, &left)?;
        Ok(store)
    }

    /// Removes what is left of tasks whose clearing was cut short.
    pub(crate) fn sweep_cleared(&self) -> Result<()> {
        let store = self.store()?;
        for id in self.home.task_ids()? {
            // What cannot be looked at is left to the next sweep.
            let is_ours = self.home.refuse_foreign(&id).is_ok();
            let was_being_cleared = self.home.was_being_cleared(&id).unwrap_or(false);
            if is_ours && was_being_cleared && store.task(&id, &self.home.tasks())?.is_none() {
                self.home.remove_task(&id);
            }
        }
        Ok(())
    }

    pub(crate) fn note_arrival(&self, id: &TaskId) -> Result<()> {
        self.home.arrivals().announce(id, || Ok(())).map_err(Error::io("cannot note a task"))
    }

    /// Returns the tasks whose files cannot be read, and why. They are left alone, and no list has them.
    ///
    /// # Errors
    /// When the database fails, or nothing can be looked at now.
    pub fn damaged(&self) -> Result<Vec<Retained>> {
        let store = self.store()?;
        if store.mark(DAMAGED)? == 0 {
            return Ok(Vec::new());
        }
        let arriving: HashSet<_> = self.home.arrivals().ids()?.into_iter().collect();
        let mut damaged = Vec::new();
        for id in self.home.task_ids()? {
            if store.task(&id, &self.home.tasks())?.is_some() {
                continue;
            }
            let error = match self.damage(&id) {
                Err(error) if error.is_lack() => return Err(error),
                Err(error) => error,
                Ok(Some(error)) if !arriving.contains(&id) => error,
                Ok(_) => continue,
            };
            damaged.push(Retained { reason: error.to_string(), hint: error.hint(), id });
        }
        damaged.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(damaged)
    }

    /// Tells what is wrong with a task that has a directory, and of which the database knows nothing.
    pub(crate) fn damage(&self, id: &TaskId) -> Result<Option<Error>> {
        match self.home.refuse_foreign(id) {
            Err(foreign @ Error::Foreign { .. }) => return Ok(Some(foreign)),
            looked => looked?,
        }
        let is_new = self.home.is_being_started(id)? && self.home.journal(id)?.is_empty();
        if is_new || !self.home.has_task(id)? || self.home.was_being_cleared(id)? {
            return Ok(None);
        }
        match self.home.spec(id) {
            Ok(_) => Ok(None),
            Err(error @ Error::Damaged { .. }) => Ok(Some(error)),
            Err(error) => Err(error),
        }
    }

    /// Takes these in; returns those that need not be looked at again.
    fn take_in_all(&self, store: &Store, ids: &[TaskId]) -> Result<HashSet<TaskId>> {
        let mut any = false;
        let mut done = HashSet::new();
        for some in ids.chunks(AT_ONCE) {
            let transaction = store.begin(&self.home.tasks())?;
            // Their slots may have been those of tasks that have ended since.
            self.record_endings(&transaction)?;
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
        // All looks come before the first change: one that fails leaves no half of a task.
        let (found, findings) = match self.look_at_arrival(id) {
            Ok(Some(looked)) => looked,
            Ok(None) => return Ok(Arrival::Unfinished),
            Err(_) if self.home.was_being_cleared(id).unwrap_or(false) => {
                self.home.remove_task(id);
                return Ok(Arrival::Old);
            }
            Err(Error::Damaged { .. } | Error::Foreign { .. }) => {
                transaction.set_mark(DAMAGED, 1)?;
                return Ok(Arrival::Old);
            }
            Err(error) if error.is_lack() => return Err(error),
            // It may be readable the next time.
            Err(_) => {
                transaction.set_mark(DAMAGED, 1)?;
                return Ok(Arrival::Unfinished);
            }
        };
        let mut task = found.insert(&self.home, transaction)?;
        if !matches!(task.state, TaskState::Pending { .. }) {
            self.apply_findings(transaction, &mut task, &findings)?;
        }
        Ok(Arrival::New)
    }

    /// Reads an arrival; nothing while its starter is still at it, or when that died before it was.
    fn look_at_arrival(&self, id: &TaskId) -> Result<Option<(OnDisk, Findings)>> {
        self.home.refuse_foreign(id)?;
        let was_told = self.home.has_spec(id)? || self.home.was_begun(id)?;
        if !was_told || (self.home.is_being_started(id)? && self.home.journal(id)?.is_empty()) {
            return Ok(None);
        }
        let found = OnDisk::read(&self.home, self.home.spec(id)?)?;
        let findings = self.look_at(&found.task)?;
        Ok(Some((found, findings)))
    }

    /// Tells whether a starter was killed before it had written its task down, and removes what is left: nobody
    /// was told of it. To be asked while no starter can be making a directory.
    fn is_abandoned(&self, id: &TaskId) -> bool {
        let look = || {
            let home = &self.home;
            Ok::<_, Error>(!home.is_being_started(id)? && !home.has_spec(id)? && !home.was_begun(id)?)
        };
        // What cannot be looked at stays on the list.
        let abandoned = look().unwrap_or(false);
        if abandoned {
            self.home.remove_task(id);
        }
        abandoned
    }
}

/// Fills an empty database from the task directories; returns those that somebody may still be starting, or that cannot
/// be looked at now. Directories that are damaged are left alone.
fn rebuild(home: &Home, transaction: &Transaction<'_>) -> Result<Vec<TaskId>> {
    let (mut all, mut left) = (Vec::new(), Vec::new());
    for id in home.task_ids()? {
        match look_for_rebuild(home, &id) {
            Ok(Kept::Task(found)) => all.push(found),
            Ok(Kept::Unfinished) => left.push(id),
            Ok(Kept::Cleared) => home.remove_task(&id),
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
    /// Its starter does not know that the database is new, or was killed before it had written anything.
    Unfinished,
    /// Somebody was about to remove it.
    Cleared,
}

fn look_for_rebuild(home: &Home, id: &TaskId) -> Result<Kept> {
    home.refuse_foreign(id)?;
    if home.was_being_cleared(id)? {
        return Ok(Kept::Cleared);
    }
    if home.is_being_started(id)? || !(home.has_spec(id)? || home.was_begun(id)?) {
        return Ok(Kept::Unfinished);
    }
    Ok(Kept::Task(Box::new(OnDisk::read(home, home.spec(id)?)?)))
}

/// Reads a task that runs under a supervisor; nothing when it does not, or when that is not certain.
pub(crate) fn running_task(home: &Home, id: &TaskId) -> Result<Option<Task>> {
    let supervised = home.is_supervised(id)?;
    let Ok(spec) = home.spec(id) else { return Ok(None) };
    let (task, journal) = not_begun(home, &spec)?;
    let run = task.state.run();
    if !supervised || home.result(id, run)?.is_some() {
        return Ok(None);
    }
    Ok(begun(task, journal.into_iter().filter(|line| line.run == run)))
}

/// Takes a task through the journal of its run; nothing unless it runs then.
fn begun(mut task: Task, journal: impl Iterator<Item = JournalLine>) -> Option<Task> {
    let mut apply = |event: &Event| next_state(&task.state, event).map(|state| task.set_state(state)).ok();
    apply(&Event::Reserved { since: Timestamp::default() })?;
    for line in journal {
        match line.entry {
            JournalEntry::Started { process, started_at } => apply(&Event::Started { process, started_at })?,
            JournalEntry::KillRequested { by, signal, .. } => apply(&Event::KillRequested { by, signal })?,
            // A second one is no news.
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

/// Reads a task as it was before its present run began, and its journal.
fn not_begun(home: &Home, spec: &TaskSpec) -> Result<(Task, Vec<JournalLine>)> {
    let journal = home.journal(&spec.id)?;
    let shelved = home.last_shelved(&spec.id)?;
    let run = journal.iter().map(|line| line.run).max().unwrap_or(1).max(shelved + 1);
    let origin = match run {
        1 => RunOrigin::First,
        run if spec.agent.is_some() && home.follow_up(&spec.id, run)?.is_some() => RunOrigin::Resume,
        _ => RunOrigin::Restart,
    };
    let mut task = new_task(spec, TaskState::Pending { run, origin }, &home.log(&spec.id));
    if spec.agent.is_some() {
        task.resume_count = home.follow_ups(&spec.id, run)?;
    }
    Ok((task, journal))
}

/// All that a task's directory says about it, read before any of it is written elsewhere.
struct OnDisk {
    spec: TaskSpec,
    /// As it was before its present run began.
    task: Task,
    journal: Vec<JournalLine>,
    begun: bool,
    /// The last run whose end the owner was told of.
    told: Option<u32>,
    told_news: Vec<ToldNews>,
    /// The records of the runs before the present one, as far as there are any.
    earlier: Vec<ExitRecord>,
}

impl OnDisk {
    fn read(home: &Home, spec: TaskSpec) -> Result<Self> {
        let (task, journal) = not_begun(home, &spec)?;
        let run = task.state.run();
        let mut earlier = Vec::new();
        for run in 1..run {
            // Whoever was moving its files may have been killed.
            let record = home.earlier_result(&spec.id, run)?;
            earlier.extend(if record.is_some() { record } else { home.result(&spec.id, run)? });
        }
        Ok(Self {
            begun: journal.iter().any(|line| line.run == run) || home.result(&spec.id, run)?.is_some(),
            told: home.told(&spec.id)?,
            told_news: home.told_news(&spec.id)?,
            spec,
            task,
            journal,
            earlier,
        })
    }

    /// Adds the task; one that was begun gets the state from which reconciling goes on.
    fn insert(&self, home: &Home, transaction: &Transaction<'_>) -> Result<Task> {
        let spec = &self.spec;
        let mut task = self.task.clone();
        task.number = transaction.take_number(&spec.session, spec.number)?;
        if self.begun {
            transaction.insert_reserved(&mut task, spec.created_at)?;
        } else {
            transaction.insert(&task)?;
            // Without room for that it waits for the next command.
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

    /// Enters the spans of the runs before the present one. Where a run's record is gone, nobody knows its end.
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
            for span in spans::of_earlier_run(task, trace, &facts) {
                transaction.enter_span(&span, trace)?;
            }
        }
        Ok(())
    }
}
