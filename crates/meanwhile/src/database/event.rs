//! Applies an event to a task and enters what follows from it, in one transaction: spans and notifications.

use mw_model::wire::ExitRecord;
use mw_model::{DEFAULT_SESSION, Event, NoticeKind, RunOrigin, TaskState, Timestamp};

use super::stores::Database;
use crate::disk::session_dir::agent_sessions::kept_agent;
use crate::disk::store::{BatchCounts, Change, StoreError, Transaction};
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
        if let Some(trace) = &task.trace
            && let Some(span) = span::ended_by(task, trace, event)
        {
            transaction.enter_span(&span, trace)?;
        }
        let ends_batch = self.settings.batch_notices && matches!(event, Event::Ended { .. });
        let batch = task.batch_id.as_deref().filter(|_| ends_batch);
        let count = |batch| Ok::<_, StoreError>((batch, transaction.batch_counts(&task.session, batch)?));
        due(&task.session, event, batch.map(count).transpose()?)
            .try_for_each(|news| transaction.enter_notice(task, &news, at))
    }
}

/// Enters the end of an earlier run, for a rebuilt database.
pub(super) fn enter_earlier_end(
    transaction: &Transaction<'_>,
    task: &Task,
    record: &ExitRecord,
) -> Result<(), StoreError> {
    if !has_owner_to_tell(&task.session) {
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
