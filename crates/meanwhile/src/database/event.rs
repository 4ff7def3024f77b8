//! Applies an event to a task and enters what follows from it, in one transaction: spans, notifications, and another run.

use mw_model::wire::ExitRecord;
use mw_model::{
    AfterRun, DEFAULT_SESSION, EndedRun, Event, NoticeKind, RunOrigin, Schedule, Status, TaskState, Timestamp,
};

use super::stores::Database;
use crate::disk::session_dir::agent_sessions::kept_agent;
use crate::disk::store::{BatchCounts, Change, StoreError, Transaction};
use crate::due::next_due;
use crate::fail_point::fail_point;
use crate::span;
use crate::task::Task;

impl Database {
    /// Appends an event, updates the task, stores the span that ended, and notifies the owner. This is the only caller of
    /// [`Transaction::apply_event`] outside the store; `cargo xtask tidy` checks that.
    ///
    /// Refuses an event that cannot follow. The caller decides whether that is an error or the event is outdated.
    pub(crate) fn record_event(
        &self,
        transaction: &Transaction<'_>,
        task: &mut Task,
        event: &Event,
        at: Timestamp,
        change: Change,
    ) -> Result<(), StoreError> {
        transaction.apply_event(task, event, at, change)?;
        let after = self.after_run(task);
        if let Some(trace) = &task.trace
            && let Some(span) = span::ended_by(task, trace, event)
        {
            transaction.enter_span(&span, trace)?;
        }
        let is_over = matches!(event, Event::Ended { .. }) && after == AfterRun::Over;
        let batch = task.batch_id.as_deref().filter(|_| is_over && self.settings.batch_notices);
        let count = |batch| Ok::<_, StoreError>((batch, transaction.batch_counts(&task.session, batch)?));
        if !matches!(event, Event::Ended { .. }) || is_told(task, task.status, after) {
            due(&task.session, event, batch.map(count).transpose()?)
                .try_for_each(|news| transaction.enter_notice(task, &news, at))?;
        }
        match (event, after) {
            (Event::Ended { .. }, AfterRun::Again { origin, not_before }) => {
                let again = Event::Requeued { origin, not_before: Some(not_before) };
                transaction.apply_event(task, &again, at, Change::default())?;
                fail_point("again-decided");
                // If the disk is full, the next command does it.
                let _ = self.home.note_waiting();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Decides what follows the end of a task's run.
    fn after_run(&self, task: &Task) -> AfterRun {
        match (&task.state, &task.schedule) {
            (TaskState::Ended { origin, started_at, ended_at, cause, .. }, Some(schedule)) => {
                let run = EndedRun { origin: *origin, started_at: *started_at, ended_at: *ended_at, cause };
                decide_after(schedule, task.created_at, &run)
            }
            _ => AfterRun::Over,
        }
    }
}

/// Decides what follows a run of a task that was requested at `created_at`.
pub(super) fn decide_after(schedule: &Schedule, created_at: Timestamp, run: &EndedRun<'_>) -> AfterRun {
    let begin = schedule.not_before.unwrap_or(created_at);
    schedule.after_run(run, |due, after| next_due(due, begin, after))
}

/// Returns whether the owner of a task is notified of the end of a run. A run that is retried is not the end of anything. Of
/// the ends of a repeated task, the owner gets those that failed, or all on request.
fn is_told(task: &Task, status: Status, after: AfterRun) -> bool {
    match after {
        AfterRun::Over => true,
        AfterRun::Again { origin: RunOrigin::Repetition, .. } => {
            status.is_error() || task.repeat.as_ref().is_some_and(|repeat| repeat.notify_each)
        }
        AfterRun::Again { .. } => false,
    }
}

/// Enters the end of an earlier run, for a rebuilt database.
pub(super) fn enter_earlier_end(
    transaction: &Transaction<'_>,
    task: &Task,
    record: &ExitRecord,
    after: AfterRun,
) -> Result<(), StoreError> {
    if !has_owner_to_tell(&task.session) || !is_told(task, record.cause().status(), after) {
        return Ok(());
    }
    let mut earlier = task.clone();
    earlier.set_state(TaskState::Ended {
        run: record.run,
        started_at: record.started_at,
        ended_at: record.completed_at,
        cause: record.cause(),
        origin: RunOrigin::default(),
        ready: None,
        output_lost: record.output_lost,
    });
    earlier.duration_ms = Some(record.duration_ms());
    transaction.enter_notice(&earlier, &NoticeKind::Ended { cause: record.cause() }, record.completed_at)
}

/// Returns the notifications for the owner of a task of this session after an event. The batch is the task's, counted
/// after the event, if the event ends the task and owners are notified of batches.
fn due(session: &str, event: &Event, batch: Option<(&str, BatchCounts)>) -> impl Iterator<Item = NoticeKind> {
    // A batch of one task has no separate notification.
    let ended = batch.filter(|(_, counts)| counts.live == 0 && counts.all > 1);
    let of_batch = ended.map(|(batch, BatchCounts { completed, all, .. })| NoticeKind::Batch {
        batch: batch.to_owned(),
        completed,
        others: all - completed,
    });
    NoticeKind::of(event).into_iter().chain(of_batch).filter(|_| has_owner_to_tell(session))
}

/// Returns whether the tasks of a session have an owner to notify. Tasks outside any session belong to a person, who
/// checks them. Tasks that keep an agent alive have no owner.
fn has_owner_to_tell(session: &str) -> bool {
    session != DEFAULT_SESSION && kept_agent(session).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_notified_of_an_end_and_of_a_batch_of_several_tasks_once_all_have_ended() {
        let stalled = Event::Stalled { prompt: String::new() };
        let kinds = |session: &str, event: &Event, counted: Option<(u64, u64)>| {
            let batch = counted.map(|(live, all)| ("b", BatchCounts { live, completed: 1, all }));
            due(session, event, batch).map(|news| news.kind()).collect::<Vec<_>>()
        };
        assert_eq!(kinds("s", &stalled, None), ["stalled"]);
        assert_eq!(kinds("s", &stalled, Some((1, 2))), ["stalled"]);
        assert_eq!(kinds("s", &stalled, Some((0, 1))), ["stalled"]);
        assert_eq!(kinds("s", &stalled, Some((0, 2))), ["stalled", "batch"]);
        assert_eq!(kinds(DEFAULT_SESSION, &stalled, Some((0, 2))), [""; 0]);
        assert_eq!(kinds("s", &Event::TreeEmpty, None), [""; 0]);
    }
}
