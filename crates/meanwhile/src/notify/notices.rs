//! Notifies owners of every end and every stall exactly once, even if processes are killed in between.
//!
//! ```text
//!            event                 drain               acknowledge
//!  nothing ────────▶ waiting ────────────▶ handed over ────────────▶ closed
//!     │                 ▲ │                    │
//!     │ latch           │ │ latch              │ host dies, or drops the delivery
//!     ▼                 │ ▼                    ▼
//!   known (never told)  └─────────────────── waiting
//! ```
//!
//! A notification is handed over again until it is acknowledged. [`Delivery::store`] acknowledges it in the transaction that
//! stores the message with its text, so both happen or neither does. A host that keeps its messages elsewhere acknowledges
//! after it has stored them, and recognises a repetition by its number.

use std::fs;
use std::sync::Arc;

use mw_model::Lifetime;
use mw_model::wire::LOG_FILE;
use mw_model::{AGENT_WAITS, News, Notice, TaskId, TaskKind, Timestamp, Turn, first_bytes};

use super::delivery::{Delivery, mark_told};
use crate::base::Base;
use crate::disk::lease;
use crate::disk::lease::Lease;
use crate::disk::store::{NoticeRow, Transaction};
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::live::kill::{KillRequest, Kills};
use crate::live::{Agents, Live};
use crate::notify::Notifications;
use crate::notify::summary::summarize;
use crate::read::Reader;
use crate::read::output::{From, ReadReply, ReadRequest, clean_text};
use crate::record::Lookup;
use crate::redact::Redaction;
use crate::request::check_session_name;
use crate::session::Sessions;
use crate::settle::Settler;
use crate::task::{Scope, Task};

/// How many notifications one delivery holds; the rest comes with the next.
const MOST: usize = 100;
/// How much of an agent's answer a notification holds.
const RESULT_BYTES: u64 = 4 << 10;
/// The file that a task may leave in its directory; the notification of its end names it.
const REPORT_FILE: &str = "report.md";
/// How much of a log is searched for the outcome.
const OUTCOME_BYTES: u64 = 64 << 10;

/// When a host wants its notifications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeliveryPolicy {
    /// At the start of a run.
    #[default]
    NextRun,
    /// Between two batches of tool calls, too.
    BetweenBatches,
    /// Whenever it asks.
    Immediate,
}

/// What a host is doing when it asks for notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A run is about to start.
    RunStart,
    /// Tool calls have been answered, the model has not been asked again.
    BetweenBatches,
    /// The host is idle.
    Idle,
}

impl DeliveryPolicy {
    const fn allows(self, moment: Moment) -> bool {
        match (self, moment) {
            (_, Moment::RunStart) | (Self::BetweenBatches, Moment::BetweenBatches) | (Self::Immediate, _) => {
                true
            }
            (Self::NextRun, Moment::BetweenBatches | Moment::Idle) | (Self::BetweenBatches, Moment::Idle) => {
                false
            }
        }
    }
}

/// Which process delivers a session's notifications; see [`TaskRequest::teller`](crate::engine::TaskRequest::teller).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Teller(pub(crate) String);

/// A host of a session. While it lives, notifications that were handed to it are not handed to others.
pub struct Host<'base> {
    pub(crate) base: &'base Base,
    pub(crate) session: String,
    pub(crate) lease: Arc<Lease>,
    policy: DeliveryPolicy,
    /// Only tasks of these starters are reported while the starters live; absent = all tasks.
    pub(crate) starters: Option<Vec<String>>,
}

impl<'base> Notifications<'base> {
    /// Opens a session for its host. The session's tasks end some time after its last host died.
    ///
    /// # Errors
    /// When the session's directory cannot be written.
    pub fn host(&self, session: &str, policy: DeliveryPolicy) -> Result<Host<'base>> {
        check_session_name(session)?;
        let lease = Lease::host(self.base.home.session(session).path());
        let lease = lease.map_err(Error::io("cannot hold the session"))?;
        Sessions::on(self.base).announce_holders(session)?;
        Ok(self.opened(session, lease, policy))
    }

    /// Opens a session for a tool server, which passes notifications on. Tasks that end with their client end some time after
    /// the last server and host have exited; other tasks are not affected.
    ///
    /// # Errors
    /// When the session's directory cannot be written.
    pub fn server(&self, session: &str) -> Result<Host<'base>> {
        check_session_name(session)?;
        let lease = Lease::server(self.base.home.session(session).path());
        let lease = lease.map_err(Error::io("cannot hold the session"))?;
        Ok(self.opened(session, lease, DeliveryPolicy::Immediate))
    }

    /// Like the above, with a lease that is already held.
    pub(crate) fn host_with(&self, session: &str, lease: &Arc<Lease>, policy: DeliveryPolicy) -> Host<'base> {
        let lease = Arc::clone(lease);
        Host { base: self.base, session: session.to_owned(), lease, policy, starters: None }
    }

    /// Opens a session for a process that only passes notifications on; its tasks are not affected.
    ///
    /// # Errors
    /// When the session's directory cannot be written.
    pub fn teller(&self, session: &str) -> Result<Host<'base>> {
        check_session_name(session)?;
        let lease = Lease::teller(self.base.home.session(session).path());
        let lease = lease.map_err(Error::io("cannot hold the session"))?;
        Ok(self.opened(session, lease, DeliveryPolicy::Immediate))
    }

    fn opened(&self, session: &str, lease: Lease, policy: DeliveryPolicy) -> Host<'base> {
        // Tasks that waited for a host of the session may start now.
        if lease.ended_vacancy() && self.base.home.waiting_flag().is_set() {
            Settler::on(self.base).pump_queue();
        }
        self.host_with(session, &Arc::new(lease), policy)
    }

    /// Ends tasks at the request of their owner. The owner gets the receipts, so these ends make no notification. Tasks that
    /// could not be ended, or got a signal that does not ask for an end, are still reported.
    ///
    /// # Errors
    /// When a task is unknown, or the database fails.
    pub fn kill_as_owner(&self, handles: &[&str], session: &str, request: &KillRequest) -> Result<Kills> {
        let scope = Scope::Session(session.to_owned());
        let ids = handles
            .iter()
            .map(|handle| Lookup::on(self.base).resolve_exact(handle, &scope))
            .collect::<Result<Vec<_>>>()?;
        if !request.ends() {
            return Ok(Live::on(self.base).kill_all(&ids, request));
        }
        // Before the kill: an end that comes from it must find the latch.
        for id in &ids {
            self.note_told(id)?;
        }
        let kills = Live::on(self.base).kill_all(&ids, request);
        for failure in &kills.failures {
            self.change_latch(&failure.id, |transaction, task, _| Ok(transaction.unlatch(task)?))?;
        }
        Ok(kills)
    }

    /// Records that the owner already knows the end of the task's current run, or will.
    ///
    /// # Errors
    /// When the database fails.
    pub fn note_told(&self, id: &TaskId) -> Result<()> {
        self.change_latch(id, |transaction, task, now| {
            transaction.latch(task, now)?;
            self.mark_told(task);
            Ok(())
        })
    }

    /// Records the delivered end in the task's directory as well, in case the database is removed.
    fn mark_told(&self, task: &Task) {
        if task.status.is_terminal() {
            self.base.home.mark_told(&task.id, task.state.run());
        }
    }

    /// Records that a process has reported the end of a task, as [`TaskRequest::teller`] promised; false when there is no such
    /// promise any more.
    ///
    /// # Errors
    /// When the database fails; the end is then reported once more.
    ///
    /// [`TaskRequest::teller`]: crate::engine::TaskRequest::teller
    pub fn keep_promise(&self, id: &TaskId, teller: &Teller) -> Result<bool> {
        let mut kept = false;
        self.change_latch(id, |transaction, task, _| {
            kept = transaction.end_promise(id, &teller.0, true)?;
            self.mark_told(task);
            Ok(())
        })?;
        Ok(kept)
    }

    /// Gives up the promise to report a task's end; the next delivery of its session reports it.
    ///
    /// # Errors
    /// When the database fails; the promise then lasts until this process exits.
    pub fn leave_promise(&self, id: &TaskId, teller: &Teller) -> Result<()> {
        self.change_latch(id, |transaction, _, _| {
            Ok(transaction.end_promise(id, &teller.0, false).map(drop)?)
        })
    }

    /// Reads output for a task's owner. An owner that has read the output of an ended task to its end is not notified of it.
    ///
    /// # Errors
    /// As [`Reader::read`](crate::engine::Reader::read).
    pub fn read_as_owner(&self, handle: &str, session: &str, request: &ReadRequest) -> Result<ReadReply> {
        let scope = Scope::Session(session.to_owned());
        let id = Lookup::on(self.base).resolve_exact(handle, &scope)?;
        let ended = Settler::on(self.base).current(&id)?.status.is_terminal();
        let reply = Reader::on(self.base).read(id.as_str(), &scope, request)?;
        if ended && reply.eof {
            self.note_told(&id)?;
        }
        Ok(reply)
    }

    /// Changes what an owner knows. If the disk is full, reading or ending a task still works, and the owner is notified once
    /// more.
    fn change_latch(
        &self,
        id: &TaskId,
        change: impl FnOnce(&Transaction<'_>, &Task, Timestamp) -> Result<()>,
    ) -> Result<()> {
        let changed = self.base.transact(|transaction| match transaction.task(id)? {
            Some(task) => change(transaction, &task, self.base.clock.now()),
            None => Ok(()),
        });
        match changed {
            Err(Error::Store(error)) if error.is_lack_of_room() => Ok(()),
            other => other,
        }
    }

    fn notice(&self, row: NoticeRow) -> Result<Notice> {
        let task = Lookup::on(self.base).stored(&row.task)?;
        let current = task.state.run() == row.run;
        let earlier = || self.base.home.earlier_run(&row.task, row.run).join(LOG_FILE);
        let log = if current { Reader::on(self.base).log_of(&task) } else { earlier() };
        let is_batch = matches!(row.news, News::Batch { .. });
        let outcome = if current && !is_batch { self.outcome(&task) } else { None };
        let is_ending = matches!(row.news, News::Ended { .. });
        let result = match (task.kind == TaskKind::Agent && is_ending)
            .then(|| Agents::on(self.base).agent_record(&row.task))
        {
            Some(record) if !record.turns.is_empty() => record.result_of(row.run).map(first_part),
            Some(_) if current => self.result(&task),
            Some(_) | None => None,
        };
        // The report is next to the log, unless the log has another name.
        let directory = match log.parent() {
            Some(directory) if log.ends_with(LOG_FILE) => directory.to_owned(),
            _ => self.base.home.task(&row.task),
        };
        let report = directory.join(REPORT_FILE);
        // A link may lead to a file that does not belong to the task.
        let is_own = || fs::symlink_metadata(&report).is_ok_and(|found| found.is_file());
        let has_report = current && is_ending && is_own();
        let mut notice = Notice {
            report: has_report.then(|| report.to_string_lossy().into_owned()),
            number: row.number,
            handle: task.handle(),
            name: task.name.filter(|_| task.dialect.is_canonical()),
            dialect: Some(task.dialect),
            survivors: if current && is_ending { task.survivors } else { 0 },
            task: row.task,
            run: row.run,
            at: row.at,
            news: row.news,
            command: task.command,
            output_path: log.to_string_lossy().into_owned(),
            duration_ms: row.duration_ms,
            outcome,
            result,
        };
        Redaction::on(self.base).redactor(&notice.task).notice(&mut notice);
        Ok(notice)
    }

    /// Returns an agent's answer, cut to the size that a notification may hold.
    fn result(&self, task: &Task) -> Option<String> {
        let request = ReadRequest { max_bytes: RESULT_BYTES, ..ReadRequest::default() };
        let reply = Reader::on(self.base).read_task_shown(task, &request).ok()?;
        let mut text = clean_text(&reply.text());
        if reply.left > 0 {
            text.push_str(&format!("\n[… {} more bytes: read the output file]", reply.left));
        }
        Some(text.trim_end().to_owned()).filter(|text| !text.is_empty())
    }

    /// Returns what a task's output says about its outcome, on one line.
    #[must_use]
    pub fn outcome(&self, task: &Task) -> Option<String> {
        let request = ReadRequest {
            from: From::TailBytes(OUTCOME_BYTES),
            max_bytes: OUTCOME_BYTES,
            ..ReadRequest::default()
        };
        summarize(&Reader::on(self.base).read_task_shown(task, &request).ok()?.bytes())
    }
}

/// Cuts an answer to the size that a notification may hold.
fn first_part(text: String) -> String {
    match first_bytes(&text, RESULT_BYTES as usize) {
        (_, 0) => text,
        (head, left) => format!("{head}\n[… {left} more bytes: read the task's output]"),
    }
}

impl Host<'_> {
    /// Releases the session while this process keeps running; its tasks are notified.
    ///
    /// # Errors
    /// When the database fails.
    pub fn leave(self) -> Result<()> {
        let (base, session) = (self.base, self.session.clone());
        drop(self);
        Sessions::on(base).announce_holders(&session)
    }

    /// Ends the session's tasks because its host is about to exit. Tasks with [`Lifetime::Kept`] keep running.
    ///
    /// # Errors
    /// As [`Sessions::end_session`](crate::engine::Sessions::end_session).
    pub fn end_tasks(&self, by: &str) -> Result<Kills> {
        Sessions::on(self.base).end_tasks_of(&self.session, by, &[Lifetime::Session, Lifetime::Client])
    }

    /// Returns the session.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns the name under which it receives the session's notifications.
    #[must_use]
    pub fn teller(&self) -> Teller {
        Teller(self.lease.token().to_owned())
    }

    /// Promises to tell how these tasks end, as far as nobody else does: no other holder is handed that. Ended by
    /// [`Notifications::keep_promise`] or [`Notifications::leave_promise`], or with this host.
    ///
    /// # Errors
    /// When the database fails.
    pub fn claim_ends(&self, tasks: &[TaskId]) -> Result<()> {
        self.base.transact(|transaction| {
            for id in tasks {
                if let Some(task) = transaction.task(id)?.filter(|task| task.session == self.session) {
                    transaction.claim_end(&task, self.lease.token(), self.base.clock.now())?;
                }
            }
            Ok(())
        })
    }

    /// Takes the pending notifications, oldest first; none at a moment that the policy leaves out.
    ///
    /// # Errors
    /// When the database fails.
    pub fn drain(&self, moment: Moment) -> Result<Delivery<'_>> {
        self.drain_but(moment, |_| false)
    }

    /// Like the above, without ends that another reply reports.
    ///
    /// # Errors
    /// When the database fails.
    pub fn drain_but(&self, moment: Moment, is_told: impl Fn(&TaskId) -> bool) -> Result<Delivery<'_>> {
        let rows = if self.policy.allows(moment) { self.take(is_told)? } else { Vec::new() };
        fail_point("notices-handed-over");
        let numbers: Vec<_> = rows.iter().map(|row| row.number).collect();
        let notices = rows.into_iter().map(|row| Notifications::on(self.base).notice(row));
        // Nobody expects a notification of a task that was just cleared.
        let notices = notices.filter(|notice| !matches!(notice, Err(Error::NotFound(_)))).collect();
        match notices {
            Ok(notices) => Ok(Delivery::new(self, notices)),
            Err(error) => {
                let _ = self.take_back(&numbers);
                Err(error)
            }
        }
    }

    pub(super) fn take_back(&self, numbers: &[i64]) -> Result<()> {
        self.base.transact(|transaction| Ok(transaction.take_back(numbers, self.lease.token())?))
    }

    fn take(&self, is_told: impl Fn(&TaskId) -> bool) -> Result<Vec<NoticeRow>> {
        // Ends that only the task directories show become notifications here at the latest.
        Settler::on(self.base).reconcile()?;
        if !self.base.store()?.any_notices(&self.session)? {
            return Ok(Vec::new());
        }
        let directory = self.base.home.session(&self.session);
        let taken = self.base.transact(|transaction| {
            // Filter before the limit, so that notifications for others do not take up places.
            let mut living = transaction.notice_holders(&self.session)?;
            living.retain(|holder| lease::is_held(directory.path(), holder));
            let is_wanted = |row: &NoticeRow| {
                !(matches!(row.news, News::Ended { .. }) && is_told(&row.task)) && self.tells_of(&row.task)
            };
            let rows = transaction.open_notices(&self.session, &living, is_wanted, MOST)?;
            let numbers: Vec<_> = rows.iter().map(|row| row.number).collect();
            transaction.hand_over(&numbers, self.lease.token())?;
            let (mut current, mut overtaken) = (Vec::new(), Vec::new());
            for row in rows {
                let to = if is_overtaken(&row, transaction)? { &mut overtaken } else { &mut current };
                to.push(row);
            }
            let numbers: Vec<_> = overtaken.iter().map(|row| row.number).collect();
            transaction.acknowledge(&numbers, self.lease.token())?;
            Ok((current, overtaken))
        });
        let taken = taken.map(|(current, overtaken)| {
            overtaken.iter().for_each(|row| mark_told(self.base, &row.task, row.run, &row.news, row.at));
            current
        });
        match taken {
            // If the disk is too full to record the delivery, deliver later: once, not twice.
            Err(Error::Store(error)) if error.is_lack_of_room() => Ok(Vec::new()),
            other => other,
        }
    }

    /// Returns the messages that were stored in this session, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn turns(&self) -> Result<Vec<Turn>> {
        Ok(self.base.store()?.turns(&self.session)?)
    }
}

/// Tells whether a notification is obsolete: an agent no longer waits for an answer once its run has ended, and the end is
/// reported.
fn is_overtaken(row: &NoticeRow, transaction: &Transaction<'_>) -> Result<bool> {
    let waits = matches!(&row.news, News::Stalled { prompt } if prompt.starts_with(AGENT_WAITS));
    let is_over = |task: Task| task.status.is_terminal() || task.state.run() != row.run;
    Ok(waits && transaction.task(&row.task)?.is_some_and(is_over))
}
