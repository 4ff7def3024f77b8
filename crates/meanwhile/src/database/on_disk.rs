//! A task as its directory describes it.

use mw_model::wire::{ExitRecord, JournalEntry, JournalLine};
use mw_model::{Event, RunOrigin, TaskId, TaskSpec, TaskState, TaskTrace, Timestamp, next_state};

use super::event::enter_earlier_end;
use crate::disk::home::Home;
use crate::disk::store::Transaction;
use crate::disk::task_dir::DeliveredNotice;
use crate::error::Result;
use crate::span;
use crate::span::RunFacts;
use crate::task::Task;

/// Reads a task that runs under a supervisor; `None` if it does not, or if that is uncertain.
pub(crate) fn running_task(home: &Home, id: &TaskId) -> Result<Option<Task>> {
    let directory = home.task(id);
    let supervised = directory.is_supervised()?;
    let Ok(spec) = directory.spec() else { return Ok(None) };
    let (task, journal) = not_begun(home, &spec)?;
    let run = task.state.run();
    if !supervised || directory.result(run)?.is_some() {
        return Ok(None);
    }
    Ok(begun(task, JournalLine::of_run(&journal, run)))
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

/// Reads a task as it was before its current run, and its journal.
fn not_begun(home: &Home, spec: &TaskSpec) -> Result<(Task, Vec<JournalLine>)> {
    let directory = home.task(&spec.id);
    let journal = directory.journal()?;
    let archived = directory.last_archived()?;
    let run = journal.iter().map(|line| line.run).max().unwrap_or(1).max(archived + 1);
    let origin = match run {
        1 => RunOrigin::First,
        run if spec.agent.is_some() && directory.follow_up(run)?.is_some() => RunOrigin::Resume,
        _ => RunOrigin::Restart,
    };
    let mut task = Task::new(spec, TaskState::Pending { run, origin }, &directory.log());
    if spec.agent.is_some() {
        task.resume_count = directory.follow_ups(run)?;
    }
    Ok((task, journal))
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
        let (task, journal) = not_begun(home, &spec)?;
        let run = task.state.run();
        let directory = home.task(&task.id);
        let mut earlier = Vec::new();
        for run in 1..run {
            // The process that was moving its files may have been killed.
            let record = directory.earlier_result(run)?;
            earlier.extend(if record.is_some() { record } else { directory.result(run)? });
        }
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
        for record in
            self.earlier.iter().filter(|record| self.delivered_run.is_none_or(|run| run < record.run))
        {
            enter_earlier_end(transaction, &task, record)?;
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
