//! Notifies owners of every end, stall, readiness and batch exactly once, even if processes are killed in between.
//!
//! ```text
//!            event                 drain               acknowledge
//!  nothing ────────▶ waiting ────────────▶ handed over ────────────▶ closed
//!     │                 ▲ │                    │
//!     │ mark known      │ │ mark known         │ host dies, or drops the delivery
//!     ▼                 │ ▼                    ▼
//!   known (never sent)  └─────────────────── waiting
//! ```
//!
//! A process that reports an end in its own reply reserves it first: from nothing or waiting to *reserved*, then to closed
//! when it has replied, or back to waiting when it gives up or dies.
//!
//! A notification is handed over again until it is acknowledged. [`Delivery::store`] acknowledges it in the transaction that
//! stores the message with its text, so both happen or neither does. A host that keeps its messages elsewhere acknowledges
//! after it has stored them, and recognises a repetition by its number.

use mw_model::{AGENT_WAITS, NoticeKind, TaskId};

use super::delivery::{Delivery, mark_delivered};
use super::session_holder::{Moment, SessionHolder};
use crate::disk::session_dir::lease;
use crate::disk::store::{NoticeRow, Transaction, ordinal};
use crate::disk::task_dir::DeliveredNotice;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::notify::Notifications;
use crate::reconcile::Reconciler;
use crate::task::Task;

/// How many notifications one delivery holds; the rest comes with the next.
pub(crate) const MAX: usize = 100;

impl SessionHolder<'_> {
    /// Reserves the ends of these tasks for this host's own reply, unless another process has done so: no other holder
    /// is handed these notifications. The reservation lasts until [`Notifications::complete_reservation`] or
    /// [`Notifications::release_reservation`], or until this host exits.
    ///
    /// # Errors
    /// When the database fails.
    pub fn reserve_ends(&self, tasks: &[TaskId]) -> Result<()> {
        self.base.database.transact(|transaction| {
            for id in tasks {
                if let Some(task) = transaction.task(id)?.filter(|task| task.session == self.session) {
                    transaction.reserve_undelivered_end(&task, &self.lease.token, self.base.clock.now())?;
                }
            }
            Ok(())
        })
    }

    /// Takes the pending notifications, oldest first; none at a moment that the policy excludes.
    ///
    /// # Errors
    /// When the database fails.
    pub fn drain(&self, moment: Moment) -> Result<Delivery<'_>> {
        self.drain_but(moment, |_| false)
    }

    /// Like [`SessionHolder::drain`], without ends that another reply reports.
    ///
    /// # Errors
    /// When the database fails.
    pub fn drain_but(&self, moment: Moment, is_delivered: impl Fn(&TaskId) -> bool) -> Result<Delivery<'_>> {
        if self.policy.allows(moment) {
            self.drain_some(MAX, is_delivered)
        } else {
            Ok(Delivery::new(self, Vec::new()))
        }
    }

    /// Takes at most this many of the pending notifications, oldest first.
    pub(crate) fn drain_some(
        &self,
        most: usize,
        is_delivered: impl Fn(&TaskId) -> bool,
    ) -> Result<Delivery<'_>> {
        let rows = self.take(most, is_delivered)?;
        fail_point("notices-handed-over");
        let numbers: Vec<_> = rows.iter().map(|row| row.number).collect();
        let notices = rows.into_iter().map(|row| Notifications::on(self.base).notice(row));
        // No one expects a notification of a task that was just cleared.
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
        self.base.database.transact(|transaction| Ok(transaction.take_back(numbers, &self.lease.token)?))
    }

    fn take(&self, most: usize, is_delivered: impl Fn(&TaskId) -> bool) -> Result<Vec<NoticeRow>> {
        // Ends that only the task directories show become notifications here at the latest.
        Reconciler::on(self.base).reconcile()?;
        if !self.base.database.store()?.any_notices(&self.session)? {
            return Ok(Vec::new());
        }
        let directory = self.base.home.session(&self.session);
        let taken = self.base.database.transact(|transaction| {
            // Filter before the limit, because notifications for other hosts must not take up places.
            let mut living = transaction.notice_holders(&self.session)?;
            living.retain(|holder| lease::is_held(directory.path(), holder));
            let is_wanted = |row: &NoticeRow| {
                !(matches!(row.kind, NoticeKind::Ended { .. }) && is_delivered(&row.task))
                    && self.delivers(&row.task)
            };
            let rows = transaction.open_notices(&self.session, &living, is_wanted, most)?;
            let numbers: Vec<_> = rows.iter().map(|row| row.number).collect();
            transaction.hand_over(&numbers, &self.lease.token)?;
            let (mut current, mut overtaken) = (Vec::new(), Vec::new());
            for row in rows {
                let is_past = is_overtaken(&row, transaction)? || self.was_delivered(&row)?;
                let to = if is_past { &mut overtaken } else { &mut current };
                to.push(row);
            }
            let numbers: Vec<_> = overtaken.iter().map(|row| row.number).collect();
            transaction.acknowledge(&numbers, &self.lease.token)?;
            Ok((current, overtaken))
        });
        let taken = taken.map(|(current, overtaken)| {
            overtaken.iter().for_each(|row| mark_delivered(self.base, &row.task, row.run, &row.kind, row.at));
            current
        });
        match taken {
            // If the disk is too full to record the delivery, deliver later: once, not twice.
            Err(Error::Store(error)) if error.is_disk_full() => Ok(Vec::new()),
            other => other,
        }
    }

    /// Returns whether the owner has a notification according to the task's directory. The database may be older: its
    /// last changes are lost if another program removes its write-ahead log.
    fn was_delivered(&self, row: &NoticeRow) -> Result<bool> {
        let directory = self.base.home.task(&row.task);
        match &row.kind {
            NoticeKind::Ended { .. } => Ok(directory.delivered_run()?.is_some_and(|run| run >= row.run)),
            NoticeKind::Stalled { .. } | NoticeKind::Ready { .. } | NoticeKind::Batch { .. } => {
                let kind = row.kind.kind();
                let is_this = |delivered: &DeliveredNotice| {
                    delivered.kind == kind
                        && delivered.run == row.run
                        && delivered.ordinal == ordinal(&row.kind, row.at)
                };
                Ok(directory.delivered_news()?.iter().any(is_this))
            }
        }
    }
}

/// Returns whether a notification is obsolete: an agent no longer waits for an answer once its run has ended, and the
/// end has a separate notification.
fn is_overtaken(row: &NoticeRow, transaction: &Transaction<'_>) -> Result<bool> {
    let waits = matches!(&row.kind, NoticeKind::Stalled { prompt } if prompt.starts_with(AGENT_WAITS));
    let is_over = |task: Task| task.status.is_terminal() || task.state.run() != row.run;
    Ok(waits && transaction.task(&row.task)?.is_some_and(is_over))
}
