//! Who runs next. Slots are reserved in the transaction that decides, so no two starts can pass the
//! limit together.

use mw_model::{Cause, Event, Status, TimeLimit, Timestamp};

use crate::ending::end_unsupervised;
use crate::error::Result;
use crate::home::Home;
use crate::settings::QueueSettings;
use crate::store::{Change, Transaction};
use crate::task::Task;

/// How many waiting tasks are looked at in one go.
const BATCH: u32 = 32;

/// What the queue decided inside a transaction; to be acted on after the commit.
#[derive(Default)]
pub(crate) struct Picked {
    /// Tasks that hold a slot now and must be launched.
    pub(crate) to_launch: Vec<Task>,
    /// Whether tasks ended without having run.
    pub(crate) any_ended: bool,
}

/// Tells whether a session may start one more.
pub(crate) fn has_room(transaction: &Transaction<'_>, session: &str, limits: QueueSettings) -> Result<bool> {
    let in_session = transaction.slots_of(session)? < limits.max_running;
    let in_all = limits.max_running_total == 0 || transaction.slots_in_all()? < limits.max_running_total;
    Ok(in_session && in_all)
}

/// Reserves slots for a session's waiting tasks, by priority, then in order.
pub(crate) fn pick(
    home: &Home,
    transaction: &Transaction<'_>,
    session: &str,
    limits: QueueSettings,
    now: Timestamp,
) -> Result<Picked> {
    let mut picked = Picked::default();
    let mut skipped = 0;
    loop {
        let waiting = transaction.waiting_in(session, skipped, BATCH)?;
        let last = waiting.len() < BATCH as usize;
        for mut task in waiting {
            match verdict(transaction, &task, now)? {
                Verdict::Wait => skipped += 1,
                Verdict::End(cause) => {
                    end_unsupervised(home, transaction, &mut task, cause, now)?;
                    picked.any_ended = true;
                }
                Verdict::Run if has_room(transaction, session, limits)? => {
                    transaction.apply(&mut task, &Event::Reserved { since: now }, now, Change::default())?;
                    picked.to_launch.push(task);
                }
                Verdict::Run => return Ok(picked),
            }
        }
        if last {
            return Ok(picked);
        }
    }
}

/// Reserves slots for every session that has tasks waiting.
pub(crate) fn pick_everywhere(
    home: &Home,
    transaction: &Transaction<'_>,
    limits: QueueSettings,
    now: Timestamp,
) -> Result<Picked> {
    let mut all = Picked::default();
    for waiting in transaction.sessions_waiting()? {
        let picked = pick(home, transaction, &waiting.session, limits, now)?;
        all.to_launch.extend(picked.to_launch);
        all.any_ended |= picked.any_ended;
    }
    Ok(all)
}

enum Verdict {
    Run,
    Wait,
    End(Cause),
}

fn verdict(transaction: &Transaction<'_>, task: &Task, now: Timestamp) -> Result<Verdict> {
    if task.deadline.is_some_and(|deadline| deadline <= now) {
        return Ok(Verdict::End(Cause::TimedOut { limit: TimeLimit::Deadline, exit: None }));
    }
    for id in &task.after {
        match transaction.task(id)? {
            Some(before) if before.status == Status::Completed => {}
            Some(before) if before.status.is_terminal() => {
                let how = before.cause.unwrap_or_else(|| before.status.word().to_owned());
                return Ok(Verdict::End(Cause::Skipped { reason: format!("{id} did not complete ({how})") }));
            }
            Some(_) => return Ok(Verdict::Wait),
            None => {
                return Ok(Verdict::End(Cause::Skipped { reason: format!("{id} was removed") }));
            }
        }
    }
    Ok(Verdict::Run)
}
