//! Notifications in delivery: closed once they have arrived, handed out again otherwise.

use mw_model::{MessageTurn, Notice, NoticeKind, TaskId, Timestamp};

use super::session_holder::SessionHolder;
use crate::base::Base;
use crate::disk::store::ordinal;
use crate::disk::task_dir::DeliveredNotice;
use crate::error::Result;
use crate::fail_point::fail_point;

/// Notifications on their way to a model. If this is dropped, the next drain hands them out again.
pub struct Delivery<'host> {
    host: &'host SessionHolder<'host>,
    notices: Vec<Notice>,
    is_open: bool,
}

impl<'host> Delivery<'host> {
    pub(crate) const fn new(host: &'host SessionHolder<'host>, notices: Vec<Notice>) -> Self {
        Self { host, notices, is_open: true }
    }
}

impl Delivery<'_> {
    /// Returns the notifications.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Keeps the first `most` notifications and leaves the others to the next drain, for a reply with limited room.
    ///
    /// # Errors
    /// When the database fails. All of them are then handed out again.
    pub fn keep(&mut self, most: usize) -> Result<()> {
        let numbers: Vec<_> = self.notices.iter().skip(most).map(|notice| notice.number).collect();
        if !numbers.is_empty() {
            self.host.take_back(&numbers)?;
            self.notices.truncate(most);
        }
        Ok(())
    }

    /// Leaves these notifications to the next drain, because another process delivers them.
    ///
    /// # Errors
    /// When the database fails. They are then handed out again after this host has exited.
    pub fn leave(&mut self, numbers: &[i64]) -> Result<()> {
        self.notices.retain(|notice| !numbers.contains(&notice.number));
        self.host.take_back(numbers)
    }

    /// Closes the notifications: their recipient has them.
    ///
    /// # Errors
    /// When the database fails. They are then handed out again.
    pub fn acknowledge(mut self) -> Result<()> {
        self.close(None)
    }

    /// Does the same as [`Delivery::acknowledge`]. After an error it can be called again: as long as this value lives, nobody
    /// else is given the notifications.
    ///
    /// # Errors
    /// When the database fails.
    pub fn try_acknowledge(&mut self) -> Result<()> {
        self.close(None)
    }

    /// Stores the message that carries the notifications, and closes them in the same transaction.
    ///
    /// # Errors
    /// When the database fails. Then neither has happened.
    pub fn store(mut self, text: &str) -> Result<MessageTurn> {
        let turn = MessageTurn::with_notices(&self.notices, text);
        self.close(Some(&turn))?;
        Ok(turn)
    }

    /// Returns the notifications one by one; each is closed or given back separately.
    pub(crate) fn into_notices(mut self) -> Vec<Notice> {
        self.is_open = false;
        std::mem::take(&mut self.notices)
    }

    fn numbers(&self) -> Vec<i64> {
        self.notices.iter().map(|notice| notice.number).collect()
    }

    fn close(&mut self, turn: Option<&MessageTurn>) -> Result<()> {
        if self.notices.is_empty() && turn.is_none() {
            return Ok(());
        }
        let base = self.host.base;
        fail_point("notices-told");
        base.database.transact(|transaction| {
            transaction.acknowledge(&self.numbers(), &self.host.lease.token)?;
            if let Some(turn) = turn {
                transaction.add_turn(&self.host.session, turn)?;
            }
            Ok(())
        })?;
        self.is_open = false;
        fail_point("notices-acknowledged");
        for Notice { task, run, kind, at, .. } in &self.notices {
            mark_delivered(base, task, *run, kind, *at);
        }
        Ok(())
    }
}

/// Records in the task's directory that its owner was notified, for a rebuilt database.
pub(super) fn mark_delivered(base: &Base, task: &TaskId, run: u32, kind: &NoticeKind, at: Timestamp) {
    match kind {
        NoticeKind::Ended { .. } => base.home.task(task).mark_delivered(run),
        NoticeKind::Stalled { .. } | NoticeKind::Ready { .. } | NoticeKind::Batch { .. } => {
            let (kind, ordinal) = (kind.kind().to_owned(), ordinal(kind, at));
            base.home.task(task).mark_news_delivered(&DeliveredNotice { kind, run, ordinal });
        }
    }
}

impl Drop for Delivery<'_> {
    fn drop(&mut self) {
        if !self.is_open || self.notices.is_empty() {
            return;
        }
        // If this fails, the notifications become available again when this host has exited.
        let _ = self.host.take_back(&self.numbers());
    }
}
