//! Decides which queued task runs next. Slots are taken in the same transaction; see `slots`.

use mw_model::{Cause, Dependency, Event, QueueLimits, Status, TaskId, TimeLimit, Timestamp, is_due};

use super::session_end::{SessionEndAction, end_of_session};
use crate::database::ending::end_unsupervised;
use crate::disk::session_dir::holder_loss;
use crate::disk::session_dir::lease::Held;
use crate::disk::slots::{Pool, Slots};
use crate::disk::store::{Change, Transaction};
use crate::disk::task_dir::StartHold;
use crate::error::{Result, is_disk_full, is_shortage};
use crate::fail_point::fail_point;
use crate::queue::Queue;
use crate::task::Task;

/// How many queued tasks are read at first: usually the first one may start.
const FEW: u32 = 2;
/// How many are read at once after those.
const BATCH: u32 = 32;

/// What the queue decided inside a transaction, to be carried out after the commit.
#[derive(Default)]
pub(crate) struct Picked {
    /// Tasks that must be launched now.
    pub(crate) to_launch: Vec<Granted>,
    /// Whether tasks ended without having run.
    pub(crate) any_ended: bool,
    /// Whether slots were skipped, because a task whose supervisors were killed may still run in one.
    pub(crate) any_untended: bool,
    /// Tasks that are due while processes of their last run are still alive. Those must end first.
    pub(crate) to_clear: Vec<TaskId>,
}

/// A task and the slots it was given.
pub(crate) struct Granted {
    pub(crate) task: Task,
    pub(crate) slots: Slots,
    /// The lock on its start, taken before others can see that it has its slots, so that no other process treats it as abandoned. Its
    /// own starter has one already.
    pub(crate) hold: Option<StartHold>,
}

impl Queue<'_> {
    /// Changes the queue in one transaction, and sets the flag for queued tasks to match what is committed.
    pub(crate) fn change<T>(&self, operation: impl FnOnce(&Transaction<'_>) -> Result<T>) -> Result<T> {
        let since = self.base.clock.now();
        let (done, any_waiting, due) = self.base.database.transact(|transaction| {
            let done = operation(transaction)?;
            Ok((done, transaction.any_waiting()?, transaction.next_due(Timestamp::default())?))
        })?;
        fail_point("queue-committed");
        self.base.database.set_alarm(due, since);
        if !any_waiting {
            // After the commit: a kill leaves a flag without a queued task, never a queued task without a flag. Inside a
            // transaction, so that no task can be queued between the check and the removal. A flag that stays is removed by
            // the next change.
            let _ = self.base.database.transact(|transaction| {
                if !transaction.any_waiting()? {
                    self.base.home.clear_waiting();
                }
                Ok(())
            });
        }
        Ok(done)
    }

    /// Gives slots to a session's queued tasks, by priority, then in order.
    pub(crate) fn pick(&self, transaction: &Transaction<'_>, session: &str) -> Result<Picked> {
        let mut picked = Picked::default();
        self.end_with_session(transaction, session, &mut picked)?;
        for pool in Pool::ALL {
            self.pick_from(pool, transaction, session, &mut picked)?;
        }
        Ok(picked)
    }

    /// Ends the queued tasks of an abandoned session: together with its running tasks, and before other tasks are started in
    /// their slots.
    fn end_with_session(
        &self,
        transaction: &Transaction<'_>,
        session: &str,
        picked: &mut Picked,
    ) -> Result<()> {
        if !holder_loss::is_noted(self.base.home.session(session).path()) {
            return Ok(());
        }
        let (now, held) = (self.base.clock.now(), self.held(session));
        for pool in Pool::ALL {
            let mut passed = 0;
            loop {
                let waiting = transaction.waiting_in((session, pool), &[], passed, BATCH)?;
                let last = waiting.len() < BATCH as usize;
                for mut task in waiting {
                    let ends = self.fate(&task, held)? == SessionEndAction::Ends;
                    if ends && !self.awaits_last_run(&task)? {
                        end_unsupervised(&self.base.database, transaction, &mut task, end_of_session(), now)?;
                        picked.any_ended = true;
                    } else {
                        passed += 1;
                    }
                }
                if last {
                    break;
                }
            }
        }
        Ok(())
    }

    fn pick_from(
        &self,
        pool: Pool,
        transaction: &Transaction<'_>,
        session: &str,
        picked: &mut Picked,
    ) -> Result<()> {
        let now = self.base.clock.now();
        let mut search = Search { held: self.held(session), full: Vec::new(), passed: 0, is_over: false };
        if !transaction.any_waiting_in(session, pool)? {
            return Ok(());
        }
        let mut endings_known = false;
        loop {
            let next = self.next_to_run(transaction, (session, pool), &mut search, picked)?;
            let slots = match &next {
                Some(task) => {
                    let slots = self.take_slots(session, pool, &self.limits_of_waiting(task)?)?;
                    if slots.is_none() {
                        // A task with another limit may start before it.
                        search.is_over = search.full.is_empty()
                            && !transaction.has_other_limits((session, pool), &task.queue)?;
                        search.full.push(task.queue.clone());
                        search.passed = 0;
                        continue;
                    }
                    slots
                }
                None => None,
            };
            if slots.as_ref().is_some_and(|slots| !slots.were_given_back())
                && self.any_untended(transaction)?
            {
                picked.any_untended = true;
                return Ok(());
            }
            // The task that had these slots has ended. Its end must come first in the stream of events, and other tasks may have
            // waited for it.
            let others_wait = search.passed > 0 && !endings_known;
            if (slots.is_some() || others_wait) && self.base.database.record_endings(transaction)? {
                (search.passed, endings_known) = (0, false);
                continue;
            }
            endings_known = true;
            let (Some(mut task), Some(slots)) = (next, slots) else { return Ok(()) };
            let event = Event::Reserved { since: now };
            self.base.database.record_event(transaction, &mut task, &event, now, Change::default())?;
            let hold = self.base.home.task(&task.id).try_hold_start()?;
            picked.to_launch.push(Granted { task, slots, hold });
        }
    }

    /// Returns whether a task whose supervisors were killed is, or may be, still running.
    fn any_untended(&self, transaction: &Transaction<'_>) -> Result<bool> {
        for task in transaction.unsettled()? {
            if task.state.holds_slot() && self.base.database.look_at(&task)?.is_untended(task.state.run()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the first queued task that may run, and ends queued tasks that never can.
    fn next_to_run(
        &self,
        transaction: &Transaction<'_>,
        queue: (&str, Pool),
        search: &mut Search,
        picked: &mut Picked,
    ) -> Result<Option<Task>> {
        if search.is_over {
            return Ok(None);
        }
        let now = self.base.clock.now();
        loop {
            let most = if search.passed == 0 { FEW } else { BATCH };
            let waiting = transaction.waiting_in(queue, &search.full, search.passed, most)?;
            let last = waiting.len() < most as usize;
            for mut task in waiting {
                match self.decide(transaction, &task, search.held, now)? {
                    QueueDecision::Run => return Ok(Some(task)),
                    QueueDecision::Wait => search.passed += 1,
                    QueueDecision::AwaitLastRun => {
                        search.passed += 1;
                        picked.to_clear.push(task.id);
                    }
                    QueueDecision::End(cause) => {
                        end_unsupervised(&self.base.database, transaction, &mut task, cause, now)?;
                        picked.any_ended = true;
                    }
                }
            }
            if last {
                return Ok(None);
            }
        }
    }

    /// Decides about a queued task. The files of its previous run are moved first.
    fn decide(
        &self,
        transaction: &Transaction<'_>,
        task: &Task,
        held: Held,
        now: Timestamp,
    ) -> Result<QueueDecision> {
        if self.awaits_last_run(task)? {
            let is_due = is_due(task.schedule.as_deref(), &task.state, now);
            return Ok(if is_due { QueueDecision::AwaitLastRun } else { QueueDecision::Wait });
        }
        let decision = match self.fate(task, held)? {
            SessionEndAction::Continue => decide(transaction, task, now)?,
            SessionEndAction::Waits => QueueDecision::Wait,
            SessionEndAction::Ends => QueueDecision::End(end_of_session()),
        };
        Ok(match (&decision, self.base.home.task(&task.id).archive_before(task)) {
            (QueueDecision::Run, Err(error)) if is_shortage(&error) || is_disk_full(&error) => {
                QueueDecision::Wait
            }
            (QueueDecision::Run, Err(error)) => {
                let message = format!("cannot move the files of the previous run: {error}");
                QueueDecision::End(Cause::SpawnFailed { message })
            }
            (
                QueueDecision::Run
                | QueueDecision::Wait
                | QueueDecision::AwaitLastRun
                | QueueDecision::End(_),
                _,
            ) => decision,
        })
    }

    /// Returns whether a queued task has a supervisor: processes of its last run are still alive, or it is just about to exit.
    /// Until then the files in the task's directory belong to that run.
    pub(crate) fn awaits_last_run(&self, task: &Task) -> Result<bool> {
        Ok(task.state.run() > 1 && self.base.home.task(&task.id).is_supervised()?)
    }

    /// Gives slots to every session that has queued tasks.
    pub(crate) fn pick_everywhere(&self, transaction: &Transaction<'_>) -> Result<Picked> {
        let mut all = Picked::default();
        for session in transaction.sessions_waiting()? {
            let picked = self.pick(transaction, &session)?;
            all.to_launch.extend(picked.to_launch);
            all.any_ended |= picked.any_ended;
            all.any_untended |= picked.any_untended;
            all.to_clear.extend(picked.to_clear);
        }
        Ok(all)
    }
}

/// The state of the search for the next task.
struct Search {
    /// The processes that hold the session.
    held: Held,
    /// Limits under which no slot is free.
    full: Vec<Option<QueueLimits>>,
    /// How many tasks with other limits stay queued.
    passed: u32,
    /// Whether no queued task has other limits.
    is_over: bool,
}

enum QueueDecision {
    Run,
    Wait,
    /// It is due, and processes of its last run are still alive.
    AwaitLastRun,
    End(Cause),
}

fn decide(transaction: &Transaction<'_>, task: &Task, now: Timestamp) -> Result<QueueDecision> {
    if task.deadline.is_some_and(|deadline| deadline <= now) {
        return Ok(QueueDecision::End(Cause::TimedOut { limit: TimeLimit::Deadline, exit: None }));
    }
    if !is_due(task.schedule.as_deref(), &task.state, now) {
        return Ok(QueueDecision::Wait);
    }
    for Dependency { id, end } in &task.after {
        match transaction.task(id)? {
            Some(before) if before.status.is_terminal() && end.is_met_by(before.status) => {}
            Some(before) if before.status.is_terminal() => {
                let which = before.name.map_or_else(|| id.to_string(), |name| format!("{name} ({id})"));
                let reason = match before.status {
                    Status::Completed => format!("{which} completed"),
                    other => {
                        let how = before.cause.unwrap_or_else(|| other.word().to_owned());
                        format!("{which} did not complete ({how})")
                    }
                };
                return Ok(QueueDecision::End(Cause::Skipped { reason }));
            }
            Some(_) => return Ok(QueueDecision::Wait),
            // Another run cannot wait for a task that was removed.
            None if task.state.run() > 1 => {}
            None => {
                return Ok(QueueDecision::End(Cause::Skipped { reason: format!("{id} was removed") }));
            }
        }
    }
    Ok(QueueDecision::Run)
}
