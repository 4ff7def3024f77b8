//! Ends that need no notification, and ends that a process has reserved for its own reply.

use mw_model::{TaskId, Timestamp};
use rusqlite::params;

use super::error::StoreError;
use super::notices::{IS_OPEN, Stage};
use super::write::Transaction;
use crate::disk::task_dir::DeliveredNotice;
use crate::task::Task;

impl Transaction<'_> {
    /// Records that the owner knows how a run ends, or will know from its own request. Returns false if the
    /// notification was already delivered.
    pub(crate) fn mark_known(&self, task: &Task, at: Timestamp) -> Result<bool, StoreError> {
        let sql = "INSERT INTO notices (session, task, run, kind, ordinal, at, stage) \
                   VALUES (?1, ?2, ?3, 'ended', 0, ?4, ?5) ON CONFLICT DO UPDATE SET stage = ?5 WHERE stage = ?6";
        let (session, id, run) = (&task.session, task.id.as_str(), task.state.run());
        let values = params![session, id, run, at.as_micros(), Stage::Known, Stage::Waiting];
        Ok(self.count_changed(sql, values)? > 0)
    }

    /// Reserves the end of a run for a holder, which delivers it itself.
    pub(crate) fn reserve_end(&self, task: &Task, holder: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO notices (session, task, run, kind, ordinal, at, stage, holder) \
                   VALUES (?1, ?2, ?3, 'ended', 0, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
        let (session, id, run) = (&task.session, task.id.as_str(), task.state.run());
        let at = task.created_at.as_micros();
        self.change(sql, params![session, id, run, at, Stage::Reserved, holder])
    }

    /// Reserves the end of a run that may be over. This includes an end that was not delivered to any holder yet.
    pub(crate) fn reserve_undelivered_end(
        &self,
        task: &Task,
        holder: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO notices (session, task, run, kind, ordinal, at, stage, holder) \
                   VALUES (?1, ?2, ?3, 'ended', 0, ?4, ?5, ?6) \
                   ON CONFLICT DO UPDATE SET stage = ?5, holder = ?6 WHERE stage = ?7";
        let (session, id, run) = (&task.session, task.id.as_str(), task.state.run());
        let (reserved, waiting) = (Stage::Reserved, Stage::Waiting);
        self.change(sql, params![session, id, run, at.as_micros(), reserved, holder, waiting])
    }

    /// Ends a reservation: the end was delivered, or it becomes an ordinary notification. Returns false if there was
    /// none.
    pub(crate) fn end_reservation(
        &self,
        task: &TaskId,
        holder: &str,
        kept: bool,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE notices SET stage = ?3, holder = NULL \
                   WHERE task = ?1 AND kind = 'ended' AND stage = ?4 AND holder = ?2";
        let next = if kept { Stage::Closed } else { Stage::Waiting };
        Ok(self.count_changed(sql, params![task.as_str(), holder, next, Stage::Reserved])? > 0)
    }

    /// Records another delivered notification, for a rebuilt database.
    pub(crate) fn mark_notice_known(
        &self,
        task: &Task,
        news: &DeliveredNotice,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO notices (session, task, run, kind, ordinal, at, stage) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";
        let DeliveredNotice { kind, run, ordinal } = news;
        let (id, ordinal, at) = (task.id.as_str(), *ordinal as i64, at.as_micros());
        self.change(sql, params![task.session, id, run, kind, ordinal, at, Stage::Known])
    }

    /// Closes the ends of a task's runs up to this one, because they were delivered to the owner.
    pub(crate) fn close_ends(&self, task: &TaskId, run: u32) -> Result<(), StoreError> {
        let sql = format!(
            "UPDATE notices SET stage = ?3, holder = NULL \
             WHERE task = ?1 AND kind = 'ended' AND run <= ?2 AND {IS_OPEN}"
        );
        self.change(&sql, params![task.as_str(), run, Stage::Closed])
    }

    /// Closes another notification, because it was delivered to the owner.
    pub(crate) fn close_notice(&self, task: &TaskId, news: &DeliveredNotice) -> Result<(), StoreError> {
        let sql = format!(
            "UPDATE notices SET stage = ?5, holder = NULL \
             WHERE task = ?1 AND kind = ?2 AND run = ?3 AND ordinal = ?4 AND {IS_OPEN}"
        );
        let (id, ordinal) = (task.as_str(), news.ordinal as i64);
        self.change(&sql, params![id, news.kind, news.run, ordinal, Stage::Closed])
    }
}
