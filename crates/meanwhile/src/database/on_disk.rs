//! A task as its directory describes it.

use mw_model::wire::{ExitRecord, JournalEntry, JournalLine};
use mw_model::{
    AfterRun, EndedRun, Event, RunOrigin, TaskId, TaskSpec, TaskState, TaskTrace, Timestamp, next_state,
};

use super::event::{decide_after, enter_earlier_end};
use crate::disk::home::Home;
use crate::disk::store::Transaction;
use crate::disk::task_dir::DeliveredNotice;
use crate::error::Result;
use crate::span;
use crate::span::RunFacts;
use crate::task::Task;

/// Why a run begins, and when it may.
type Beginning = (RunOrigin, Option<Timestamp>);

/// Reads a task that runs under a supervisor; `None` if it does not, or if that is uncertain.
pub(crate) fn running_task(home: &Home, id: &TaskId) -> Result<Option<Task>> {
    running(home, id, |_| true, scheduled_beginning)
}

/// Like [`running_task`], but also `None` for a task that may run again by itself. The small executable uses it, which does
/// without the calendar.
pub(crate) fn running_task_of_one_run(home: &Home, id: &TaskId) -> Result<Option<Task>> {
    let runs_once = |spec: &TaskSpec| !may_run_again(spec);
    running(home, id, runs_once, |_, _, _| Ok((RunOrigin::Restart, None)))
}

fn running(
    home: &Home,
    id: &TaskId,
    is_wanted: impl FnOnce(&TaskSpec) -> bool,
    scheduled: impl FnOnce(&Home, &TaskSpec, u32) -> Result<Beginning>,
) -> Result<Option<Task>> {
    let directory = home.task(id);
    let supervised = directory.is_supervised()?;
    let Some(spec) = directory.spec().ok().filter(is_wanted) else { return Ok(None) };
    let (task, journal) = not_begun(home, &spec, scheduled)?;
    let run = task.state.run();
    if !supervised || directory.result(run)?.is_some() {
        return Ok(None);
    }
    Ok(begun(task, JournalLine::of_run(&journal, run)))
}

fn may_run_again(spec: &TaskSpec) -> bool {
    spec.schedule.as_ref().is_some_and(|schedule| schedule.may_run_again())
}

/// Applies the journal of a run to its task; `None` unless the task is running afterwards.
fn begun<'a>(mut task: Task, journal: impl Iterator<Item = &'a JournalLine>) -> Option<Task> {
    let mut apply = |event: &Event| next_state(&task.state, event).map(|state| task.set_state(state)).ok();
    apply(&Event::Reserved { since: Timestamp::default() })?;
    for line in journal {
        match line.entry.event(line.at) {
            // A repeated entry changes nothing.
            Some(event @ Event::Ready { .. }) => _ = apply(&event),
            Some(event @ (Event::Started { .. } | Event::KillRequested { .. })) => apply(&event)?,
            Some(_) | None => {}
        }
    }
    task.state.process().is_some().then_some(task)
}

/// Reads a task as it was before its current run, and its journal. `scheduled` returns why a later run of a task begins that may
/// run again by itself.
fn not_begun(
    home: &Home,
    spec: &TaskSpec,
    scheduled: impl FnOnce(&Home, &TaskSpec, u32) -> Result<Beginning>,
) -> Result<(Task, Vec<JournalLine>)> {
    let directory = home.task(&spec.id);
    let journal = directory.journal()?;
    let archived = directory.last_archived()?;
    let run = journal.iter().map(|line| line.run).max().unwrap_or(1).max(archived + 1);
    let (origin, not_before) = match run {
        1 => (RunOrigin::First, spec.schedule.as_ref().and_then(|schedule| schedule.not_before)),
        run if spec.agent.is_some() && directory.follow_up(run)?.is_some() => (RunOrigin::Resume, None),
        run if may_run_again(spec) => scheduled(home, spec, run)?,
        _ => (RunOrigin::Restart, None),
    };
    let mut task = Task::new(spec, TaskState::Pending { run, origin, not_before }, &directory.log());
    if spec.agent.is_some() {
        task.resume_count = directory.follow_ups(run)?;
    }
    Ok((task, journal))
}

/// Returns what was decided at the end of the run before.
fn scheduled_beginning(home: &Home, spec: &TaskSpec, run: u32) -> Result<Beginning> {
    Ok(match what_followed(spec, &earlier_records(home, &spec.id, run)?).pop() {
        Some((last, AfterRun::Again { origin, not_before })) if last + 1 == run => (origin, Some(not_before)),
        Some(_) | None => (RunOrigin::Restart, None),
    })
}

/// Reads the exit records of the runs before this one, as far as they exist.
fn earlier_records(home: &Home, id: &TaskId, run: u32) -> Result<Vec<ExitRecord>> {
    let directory = home.task(id);
    let mut earlier = Vec::new();
    for run in 1..run {
        // The process that was moving its files may have been killed.
        let record = directory.earlier_result(run)?;
        earlier.extend(if record.is_some() { record } else { directory.result(run)? });
    }
    Ok(earlier)
}

/// Returns what was decided at the ends of these runs, with their numbers.
fn what_followed(spec: &TaskSpec, earlier: &[ExitRecord]) -> Vec<(u32, AfterRun)> {
    let schedule = spec.schedule.as_deref().cloned().unwrap_or_default();
    let (mut origin, mut next) = (RunOrigin::First, 1);
    let decide = |record: &ExitRecord| {
        let run = record.run;
        if run != next {
            origin = RunOrigin::Restart;
        }
        let cause = record.cause();
        let (started_at, ended_at) = (record.started_at, record.completed_at);
        let ended = EndedRun { origin, started_at, ended_at, cause: &cause };
        let after = decide_after(&schedule, spec.created_at, &ended);
        (origin, next) = match after {
            AfterRun::Again { origin, .. } => (origin, run + 1),
            AfterRun::Over => (RunOrigin::Restart, run + 1),
        };
        (run, after)
    };
    earlier.iter().map(decide).collect()
}

/// The contents of a task's directory, all read before any of it is written elsewhere.
pub(super) struct TaskOnDisk {
    pub(super) spec: TaskSpec,
    /// The task before its current run.
    pub(super) task: Task,
    journal: Vec<JournalLine>,
    begun: bool,
    /// The last run whose end was delivered to the owner.
    delivered_run: Option<u32>,
    delivered_news: Vec<DeliveredNotice>,
    /// The exit records of earlier runs, as far as they exist.
    earlier: Vec<ExitRecord>,
}

impl TaskOnDisk {
    pub(super) fn read(home: &Home, spec: TaskSpec) -> Result<Self> {
        let (task, journal) = not_begun(home, &spec, scheduled_beginning)?;
        let run = task.state.run();
        let directory = home.task(&task.id);
        let earlier = earlier_records(home, &task.id, run)?;
        let begun = JournalLine::of_run(&journal, run).next().is_some() || directory.result(run)?.is_some();
        let (delivered_run, delivered_news) = (directory.delivered_run()?, directory.delivered_news()?);
        Ok(Self { spec, task, journal, begun, delivered_run, delivered_news, earlier })
    }

    /// Adds the task. A task that was being started gets the state from which reconciling continues.
    pub(super) fn insert(&self, home: &Home, transaction: &Transaction<'_>) -> Result<Task> {
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
        for (record, (_, after)) in self.earlier.iter().zip(what_followed(spec, &self.earlier)) {
            if self.delivered_run.is_none_or(|run| run < record.run) {
                enter_earlier_end(transaction, &task, record, after)?;
            }
        }
        if self.delivered_run == Some(task.state.run()) {
            transaction.mark_known(&task, spec.created_at)?;
        } else if let Some(holder) = spec.reporter.as_ref().filter(|_| task.state.run() == 1) {
            transaction.reserve_end(&task, holder)?;
        }
        for news in &self.delivered_news {
            transaction.mark_notice_known(&task, news, spec.created_at)?;
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
            let started = JournalLine::find(&self.journal, run, |entry| match entry {
                JournalEntry::Started { process, started_at, .. } => Some((process.pid, *started_at)),
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
