//! Telling owners: every ending and every stall, once each, whatever dies in between.
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
//! A notice is handed over again until it is acknowledged. [`Delivery::store`] acknowledges in the transaction
//! that stores the message which carried it: neither can be without the other. A host that keeps its messages
//! elsewhere acknowledges when it has them, and tells a repetition by its number.

use std::fs;
use std::sync::Arc;

use mw_model::Lifetime;
use mw_model::wire::LOG_FILE;
use mw_model::{AGENT_WAITS, News, Notice, TaskId, TaskKind, Timestamp, Turn};

use super::delivery::{Delivery, mark_told};
use crate::disk::store::{NoticeRow, Transaction};
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::live::kill::{KillRequest, Kills};
use crate::notify::summary::summarize;
use crate::read::output::{From, ReadReply, ReadRequest, clean_text};
use crate::runtime::Runtime;
use crate::session::lease;
use crate::session::lease::Lease;
use crate::task::{Scope, Task};

/// How many notices one delivery holds; the rest waits for the next.
const MOST: usize = 100;
/// How much of an agent's answer a notice holds.
const RESULT_BYTES: u64 = 4 << 10;
/// What a task may leave in its directory for whoever reads of its end.
const REPORT_FILE: &str = "report.md";
/// How much of a log is looked at for the outcome.
const OUTCOME_BYTES: u64 = 64 << 10;

/// When a host wants its notices.
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

/// Where in its work a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A run is about to start.
    RunStart,
    /// Tool calls have been answered, the model has not been asked again.
    BetweenBatches,
    /// Nothing is going on.
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

/// Who holds a session's news; see [`TaskRequest::teller`](crate::TaskRequest::teller).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Teller(pub(crate) String);

/// A host at work on a session. As long as it lives, what it was handed is not handed to others.
pub struct Host<'runtime> {
    pub(crate) runtime: &'runtime Runtime,
    pub(crate) session: String,
    pub(crate) lease: Arc<Lease>,
    policy: DeliveryPolicy,
    /// Whose starts it tells of while those who made them live; absent = everybody's.
    pub(crate) starters: Option<Vec<String>>,
}

impl Runtime {
    /// Opens a session for its host. The session's tasks end some time after its last host died.
    ///
    /// # Errors
    /// When the session's directory cannot be written.
    pub fn host(&self, session: &str, policy: DeliveryPolicy) -> Result<Host<'_>> {
        let lease = Lease::host(self.home.session(session).path());
        let lease = lease.map_err(Error::io("cannot hold the session"))?;
        self.announce_holders(session)?;
        Ok(self.opened(session, lease, policy))
    }

    /// Opens a session for a server of its tools, which passes the news on. Tasks that end with their client end some time
    /// after the last server and host have gone; for others nothing changes.
    ///
    /// # Errors
    /// When the session's directory cannot be written.
    pub fn server(&self, session: &str) -> Result<Host<'_>> {
        let lease = Lease::server(self.home.session(session).path());
        let lease = lease.map_err(Error::io("cannot hold the session"))?;
        Ok(self.opened(session, lease, DeliveryPolicy::Immediate))
    }

    /// The same with a hold that is there already.
    pub(crate) fn host_with(&self, session: &str, lease: &Arc<Lease>, policy: DeliveryPolicy) -> Host<'_> {
        let lease = Arc::clone(lease);
        Host { runtime: self, session: session.to_owned(), lease, policy, starters: None }
    }

    /// Opens a session for somebody who only passes the news on; for its tasks nothing changes.
    ///
    /// # Errors
    /// When the session's directory cannot be written.
    pub fn teller(&self, session: &str) -> Result<Host<'_>> {
        let lease = Lease::teller(self.home.session(session).path());
        let lease = lease.map_err(Error::io("cannot hold the session"))?;
        Ok(self.opened(session, lease, DeliveryPolicy::Immediate))
    }

    fn opened(&self, session: &str, lease: Lease, policy: DeliveryPolicy) -> Host<'_> {
        // Tasks that waited for a holder of the session may start now.
        if lease.ended_vacancy() && self.home.waiting_flag().is_set() {
            self.pump_queue();
        }
        self.host_with(session, &Arc::new(lease), policy)
    }

    /// Ends tasks because their owner says so. The owner has the receipts, so it is not told again; of those that could not
    /// be ended it is, and so it is after a signal that does not ask for an end.
    ///
    /// # Errors
    /// When a task is unknown, or the database fails.
    pub fn kill_as_owner(&self, handles: &[&str], session: &str, request: &KillRequest) -> Result<Kills> {
        let scope = Scope::Session(session.to_owned());
        let ids =
            handles.iter().map(|handle| self.resolve_exact(handle, &scope)).collect::<Result<Vec<_>>>()?;
        if !request.ends() {
            return Ok(self.kill_all(&ids, request));
        }
        // Before the kill: an end that comes from it must find the latch.
        for id in &ids {
            self.note_told(id)?;
        }
        let kills = self.kill_all(&ids, request);
        for failure in &kills.failures {
            self.change_latch(&failure.id, |transaction, task, _| Ok(transaction.unlatch(task)?))?;
        }
        Ok(kills)
    }

    /// Notes that a task's owner knows how its present run has ended, or will end.
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

    /// Notes in its directory, too, that the end of a task was told: the database may be removed.
    fn mark_told(&self, task: &Task) {
        if task.status.is_terminal() {
            self.home.mark_told(&task.id, task.state.run());
        }
    }

    /// Notes that a holder has told how a task ended, as [`TaskRequest::teller`] promised; false when nothing
    /// was promised, or no longer.
    ///
    /// # Errors
    /// When the database fails; it is told once more then.
    ///
    /// [`TaskRequest::teller`]: crate::TaskRequest::teller
    pub fn keep_promise(&self, id: &TaskId, teller: &Teller) -> Result<bool> {
        let mut kept = false;
        self.change_latch(id, |transaction, task, _| {
            kept = transaction.end_promise(id, &teller.0, true)?;
            self.mark_told(task);
            Ok(())
        })?;
        Ok(kept)
    }

    /// Leaves the telling of a task's end to whoever tells its session next.
    ///
    /// # Errors
    /// When the database fails; it is left when the holder dies then.
    pub fn leave_promise(&self, id: &TaskId, teller: &Teller) -> Result<()> {
        self.change_latch(id, |transaction, _, _| {
            Ok(transaction.end_promise(id, &teller.0, false).map(drop)?)
        })
    }

    /// Reads output for a task's owner. Read to the end of an ended task, it is news no more.
    ///
    /// # Errors
    /// As [`Runtime::read`].
    pub fn read_as_owner(&self, handle: &str, session: &str, request: &ReadRequest) -> Result<ReadReply> {
        let scope = Scope::Session(session.to_owned());
        let id = self.resolve_exact(handle, &scope)?;
        let ended = self.current(&id)?.status.is_terminal();
        let reply = self.read(id.as_str(), &scope, request)?;
        if ended && reply.eof {
            self.note_told(&id)?;
        }
        Ok(reply)
    }

    /// Changes what an owner knows. A full disk keeps nobody from reading or ending a task for that; the owner is
    /// told once more then.
    fn change_latch(
        &self,
        id: &TaskId,
        change: impl FnOnce(&Transaction<'_>, &Task, Timestamp) -> Result<()>,
    ) -> Result<()> {
        let changed = self.transact(|transaction| match transaction.task(id)? {
            Some(task) => change(transaction, &task, self.clock.now()),
            None => Ok(()),
        });
        match changed {
            Err(Error::Store(error)) if error.is_lack_of_room() => Ok(()),
            other => other,
        }
    }

    fn notice(&self, row: NoticeRow) -> Result<Notice> {
        let task = self.stored(&row.task)?;
        let current = task.state.run() == row.run;
        let earlier = || self.home.earlier_run(&row.task, row.run).join(LOG_FILE);
        let log = if current { self.log_of(&task) } else { earlier() };
        let is_batch = matches!(row.news, News::Batch { .. });
        let outcome = if current && !is_batch { self.outcome(&task) } else { None };
        let is_ending = matches!(row.news, News::Ended { .. });
        let result = match (task.kind == TaskKind::Agent && is_ending).then(|| self.agent_record(&row.task)) {
            Some(record) if !record.turns.is_empty() => record.result_of(row.run).map(first_part),
            Some(_) if current => self.result(&task),
            Some(_) | None => None,
        };
        // By the name of the task's directory that its log goes by, where that is one.
        let directory = match log.parent() {
            Some(directory) if log.ends_with(LOG_FILE) => directory.to_owned(),
            _ => self.home.task(&row.task),
        };
        let report = directory.join(REPORT_FILE);
        // A link may lead to what is not the task's.
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
        self.redactor(&notice.task).notice(&mut notice);
        Ok(notice)
    }

    /// What an agent answered, as far as a notice may hold it.
    fn result(&self, task: &Task) -> Option<String> {
        let request = ReadRequest { max_bytes: RESULT_BYTES, ..ReadRequest::default() };
        let reply = self.read_task_shown(task, &request).ok()?;
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
        summarize(&self.read_task_shown(task, &request).ok()?.bytes())
    }
}

/// As much of an answer as a notice may hold.
fn first_part(mut text: String) -> String {
    let most = RESULT_BYTES as usize;
    if text.len() > most {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let left = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("\n[… {left} more bytes: read the task's output]"));
    }
    text
}

impl Host<'_> {
    /// Gives the session back while this process goes on; its tasks hear of that.
    ///
    /// # Errors
    /// When the database fails.
    pub fn leave(self) -> Result<()> {
        let (runtime, session) = (self.runtime, self.session.clone());
        drop(self);
        runtime.announce_holders(&session)
    }

    /// Ends the session's tasks because its host is about to leave. What was promised to go on does; see
    /// [`Lifetime::Kept`](mw_model::Lifetime::Kept).
    ///
    /// # Errors
    /// As [`Runtime::end_session`].
    pub fn end_tasks(&self, by: &str) -> Result<Kills> {
        self.runtime.end_tasks_of(&self.session, by, &[Lifetime::Session, Lifetime::Client])
    }

    /// Returns the session.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Returns by what name it holds the session's news.
    #[must_use]
    pub fn teller(&self) -> Teller {
        Teller(self.lease.token().to_owned())
    }

    /// Takes what there is to tell, oldest first; nothing at a moment that the policy leaves out.
    ///
    /// # Errors
    /// When the database fails.
    pub fn drain(&self, moment: Moment) -> Result<Delivery<'_>> {
        self.drain_but(moment, |_| false)
    }

    /// The same without the ends of tasks that are being told another way.
    ///
    /// # Errors
    /// When the database fails.
    pub fn drain_but(&self, moment: Moment, is_told: impl Fn(&TaskId) -> bool) -> Result<Delivery<'_>> {
        let rows = if self.policy.allows(moment) { self.take(is_told)? } else { Vec::new() };
        fail_point("notices-handed-over");
        let numbers: Vec<_> = rows.iter().map(|row| row.number).collect();
        let notices = rows.into_iter().map(|row| self.runtime.notice(row));
        // A task that was just cleared has no owner who misses it.
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
        self.runtime.transact(|transaction| Ok(transaction.take_back(numbers, self.lease.token())?))
    }

    fn take(&self, is_told: impl Fn(&TaskId) -> bool) -> Result<Vec<NoticeRow>> {
        // What happened is in the directories; it becomes news here at the latest.
        self.runtime.reconcile()?;
        if !self.runtime.store()?.any_notices(&self.session)? {
            return Ok(Vec::new());
        }
        let directory = self.runtime.home.session(&self.session);
        let taken = self.runtime.transact(|transaction| {
            // What is not for this one is left out first: it must not take the place of the rest.
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
            overtaken.iter().for_each(|row| mark_told(self.runtime, &row.task, row.run, &row.news, row.at));
            current
        });
        match taken {
            // Without room to note that they were told, they are told later: once, not twice.
            Err(Error::Store(error)) if error.is_lack_of_room() => Ok(Vec::new()),
            other => other,
        }
    }

    /// Returns the messages that were stored in this session, oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn turns(&self) -> Result<Vec<Turn>> {
        Ok(self.runtime.store()?.turns(&self.session)?)
    }
}

/// Tells whether nobody needs to hear a piece of news any more: an agent that waited for an answer waits no longer once its
/// run has ended, and the end is told.
fn is_overtaken(row: &NoticeRow, transaction: &Transaction<'_>) -> Result<bool> {
    let waits = matches!(&row.news, News::Stalled { prompt } if prompt.starts_with(AGENT_WAITS));
    let is_over = |task: Task| task.status.is_terminal() || task.state.run() != row.run;
    Ok(waits && transaction.task(&row.task)?.is_some_and(is_over))
}
