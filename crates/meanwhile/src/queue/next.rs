//! Who runs next. Slots are taken in the transaction that decides; see `slots` for what they are.

use std::time::Duration;

use mw_model::{Cause, Event, QueueLimits, Status, TaskId, TaskSpec, TimeLimit, Timestamp};

use super::slots::{Pool, Slots};
use crate::disk::home::{Home, StartHold};
use crate::disk::store::{Change, Transaction};
use crate::error::{Error, Result, is_lack, is_lack_of_room};
use crate::runtime::Runtime;
use crate::session::lease::Held;
use crate::session::vacancy::{self, Fate, end_of_session};
use crate::settle::ending::end_unsupervised;
use crate::task::Task;

/// How many waiting tasks are looked at in one go.
const BATCH: u32 = 32;

/// What the queue decided inside a transaction; to be acted on after the commit.
#[derive(Default)]
pub(crate) struct Picked {
    /// Tasks that must be launched now.
    pub(crate) to_launch: Vec<Granted>,
    /// Whether tasks ended without having run.
    pub(crate) any_ended: bool,
    /// Whether slots were left alone, because a task may live on in one whose supervisors were killed.
    pub(crate) any_untended: bool,
}

/// A task and the slots it was given.
pub(crate) struct Granted {
    pub(crate) task: Task,
    pub(crate) slots: Slots,
    /// Taken before others can see that it has its slots, so that nobody takes it for abandoned. Its own
    /// starter has one already.
    pub(crate) hold: Option<StartHold>,
}

impl Runtime {
    /// Takes the slots for one more task of a session.
    pub(crate) fn take_slots(&self, session: &str, pool: Pool, limits: QueueLimits) -> Result<Option<Slots>> {
        self.home.session(session).take_slots(&self.home.common_slots(), limits, pool)
    }

    /// The same for a task that runs already: whoever only tries a slot is waited for.
    pub(crate) fn take_slots_patiently(&self, spec: &TaskSpec) -> Result<Option<Slots>> {
        let limits = spec.queue.unwrap_or_else(|| self.settings.queue.limits());
        for _ in 0..20 {
            if let Some(slots) = self.take_slots(&spec.session, Pool::of(spec.kind), limits)? {
                return Ok(Some(slots));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(None)
    }

    /// Returns the limits that a waiting task is held to: those it was started with, whichever process looks now.
    fn limits_of_waiting(&self, task: &Task) -> Result<QueueLimits> {
        if let Some(limits) = task.queue {
            return Ok(limits);
        }
        match self.home.spec(&task.id) {
            Ok(spec) => Ok(spec.queue.unwrap_or_else(|| self.settings.queue.limits())),
            // What is wrong with it is told by its launch.
            Err(Error::Damaged { .. } | Error::NotFound(_)) => Ok(self.settings.queue.limits()),
            Err(error) => Err(error),
        }
    }

    /// Gives slots to a session's waiting tasks, by priority, then in order.
    pub(crate) fn pick(&self, transaction: &Transaction<'_>, session: &str) -> Result<Picked> {
        let mut picked = Picked::default();
        self.end_with_session(transaction, session, &mut picked)?;
        for pool in Pool::ALL {
            self.pick_from(pool, transaction, session, &mut picked)?;
        }
        Ok(picked)
    }

    /// Ends the waiting tasks of a session that nobody has come back to: together with those that ran, and before anything
    /// is started in their slots.
    fn end_with_session(
        &self,
        transaction: &Transaction<'_>,
        session: &str,
        picked: &mut Picked,
    ) -> Result<()> {
        if !vacancy::is_noted(self.home.session(session).path()) {
            return Ok(());
        }
        let (now, held) = (self.clock.now(), self.held(session));
        for pool in Pool::ALL {
            let mut passed = 0;
            loop {
                let waiting = transaction.waiting_in((session, pool), &[], passed, BATCH)?;
                let last = waiting.len() < BATCH as usize;
                for mut task in waiting {
                    if self.fate(&task, held, now)? == Fate::Ends {
                        end_unsupervised(&self.home, transaction, &mut task, end_of_session(), now)?;
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
        let now = self.clock.now();
        let mut search = Search { held: self.held(session), full: Vec::new(), passed: 0 };
        if !transaction.any_waiting_in(session, pool)? {
            return Ok(());
        }
        let mut endings_known = false;
        loop {
            let next = self.next_to_run(transaction, (session, pool), &mut search, picked)?;
            let slots = match &next {
                Some(task) => {
                    let slots = self.take_slots(session, pool, self.limits_of_waiting(task)?)?;
                    if slots.is_none() {
                        // One with another limit may start before it.
                        search.full.push(task.queue);
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
            // The task that had them has ended. That comes first in the stream of events, and others may have
            // waited for it.
            let others_wait = search.passed > 0 && !endings_known;
            if (slots.is_some() || others_wait) && self.record_endings(transaction)? {
                (search.passed, endings_known) = (0, false);
                continue;
            }
            endings_known = true;
            let (Some(mut task), Some(slots)) = (next, slots) else { return Ok(()) };
            transaction.apply(&mut task, &Event::Reserved { since: now }, now, Change::default())?;
            let hold = self.home.try_hold_start(&task.id)?;
            picked.to_launch.push(Granted { task, slots, hold });
        }
    }

    /// Tells whether a task lives on, or may, whose supervisors were killed.
    fn any_untended(&self, transaction: &Transaction<'_>) -> Result<bool> {
        for task in transaction.unsettled()? {
            if task.state.holds_slot() && self.look_at(&task)?.is_untended(task.state.run()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the first waiting task that may run, ending those on the way that never will.
    fn next_to_run(
        &self,
        transaction: &Transaction<'_>,
        queue: (&str, Pool),
        search: &mut Search,
        picked: &mut Picked,
    ) -> Result<Option<Task>> {
        let now = self.clock.now();
        loop {
            let waiting = transaction.waiting_in(queue, &search.full, search.passed, BATCH)?;
            let last = waiting.len() < BATCH as usize;
            for mut task in waiting {
                match self.verdict(transaction, &task, search.held, now)? {
                    Verdict::Run => return Ok(Some(task)),
                    Verdict::Wait => search.passed += 1,
                    Verdict::End(cause) => {
                        end_unsupervised(&self.home, transaction, &mut task, cause, now)?;
                        picked.any_ended = true;
                    }
                }
            }
            if last {
                return Ok(None);
            }
        }
    }

    /// Decides about a waiting task. One that ran before makes room for its next run first.
    fn verdict(
        &self,
        transaction: &Transaction<'_>,
        task: &Task,
        held: Held,
        now: Timestamp,
    ) -> Result<Verdict> {
        let verdict = match self.fate(task, held, now)? {
            Fate::GoesOn => verdict(transaction, task, now)?,
            Fate::Waits => Verdict::Wait,
            Fate::Ends => Verdict::End(end_of_session()),
        };
        Ok(match (&verdict, self.home.shelve_before(task)) {
            (Verdict::Run, Err(error)) if is_lack(&error) || is_lack_of_room(&error) => Verdict::Wait,
            (Verdict::Run, Err(error)) => {
                let message = format!("cannot move the files of its earlier run: {error}");
                Verdict::End(Cause::SpawnFailed { message })
            }
            (Verdict::Run | Verdict::Wait | Verdict::End(_), _) => verdict,
        })
    }

    /// Gives slots to every session that has tasks waiting.
    pub(crate) fn pick_everywhere(&self, transaction: &Transaction<'_>) -> Result<Picked> {
        let mut all = Picked::default();
        for waiting in transaction.sessions_waiting()? {
            let picked = self.pick(transaction, &waiting.session)?;
            all.to_launch.extend(picked.to_launch);
            all.any_ended |= picked.any_ended;
            all.any_untended |= picked.any_untended;
        }
        Ok(all)
    }
}

/// Lets those that wait go on without a task that is being removed, if it has completed: they follow it no more. The
/// specs first, because a database that is lost is rebuilt from them.
pub(crate) fn release_followers(home: &Home, transaction: &Transaction<'_>, id: &TaskId) -> Result<()> {
    let Some(before) = transaction.task(id)? else { return Ok(()) };
    let record = home.result(id, before.state.run())?;
    let on_record = record.is_some_and(|it| it.cause().status() == Status::Completed);
    if before.status != Status::Completed && !on_record {
        return Ok(());
    }
    for mut follower in transaction.waiting_after(id)? {
        follower.after.retain(|other| other != id);
        // A spec that cannot be written matters to a rebuilt database alone.
        let _ = home.change_after(&follower.id, &follower.after);
        transaction.set_after(&follower.id, &follower.after)?;
    }
    Ok(())
}

/// Commits, and keeps the flag that says whether tasks wait true to what is committed.
pub(crate) fn commit(home: &Home, transaction: Transaction<'_>) -> Result<()> {
    let flag = home.waiting_flag();
    if transaction.any_waiting()? {
        transaction.commit()?;
        return Ok(());
    }
    // Inside the transaction: nobody can begin to wait between the look and this.
    flag.clear();
    if let Err(error) = transaction.commit() {
        let _ = flag.set();
        return Err(error.into());
    }
    Ok(())
}

/// How far the search for the next task has come.
struct Search {
    /// Who holds the session.
    held: Held,
    /// Limits under which no slot is free.
    full: Vec<Option<QueueLimits>>,
    /// How many of those that have other limits go on waiting.
    passed: u32,
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
                let which = before.name.map_or_else(|| id.to_string(), |name| format!("{name} ({id})"));
                return Ok(Verdict::End(Cause::Skipped {
                    reason: format!("{which} did not complete ({how})"),
                }));
            }
            Some(_) => return Ok(Verdict::Wait),
            // Whoever wants a further run cannot wait for what is gone.
            None if task.state.run() > 1 => {}
            None => {
                return Ok(Verdict::End(Cause::Skipped { reason: format!("{id} was removed") }));
            }
        }
    }
    Ok(Verdict::Run)
}
