//! The ledger of notifications. A row is created in the transaction that records the event, so there is exactly one
//! for each event. Its stage only moves forward, except after a failed delivery.

use mw_model::{MessageTurn, NoticeKind, TaskId, Timestamp};
use rusqlite::params;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use super::connection::Store;
use super::error::StoreError;
use super::query::{decoded, task_id};
use super::write::{Transaction, json};
use crate::task::Task;

/// The stage of a notification. The numbers are in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// To be delivered.
    Waiting = 0,
    /// Never to be delivered, because the owner knows.
    Known = 1,
    /// Delivered to its holder, but not acknowledged.
    HandedOver = 2,
    /// Acknowledged.
    Closed = 3,
    /// Reserved: its holder delivers it itself.
    Reserved = 4,
}

impl Stage {
    const ALL: [Self; 5] = [Self::Waiting, Self::Known, Self::HandedOver, Self::Closed, Self::Reserved];
}

impl ToSql for Stage {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok((*self as i64).into())
    }
}

impl FromSql for Stage {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        Self::ALL.into_iter().find(|stage| *stage as i64 == number).ok_or(FromSqlError::OutOfRange(number))
    }
}

/// The condition for notifications that the owner may not know yet: waiting, handed over, or reserved. An index has
/// exactly this text.
pub(super) const IS_OPEN: &str = "stage IN (0, 2, 4)";

/// A row of the ledger.
pub(crate) struct NoticeRow {
    pub(crate) number: i64,
    pub(crate) task: TaskId,
    pub(crate) run: u32,
    pub(crate) at: Timestamp,
    pub(crate) kind: NoticeKind,
    pub(crate) duration_ms: Option<u64>,
}

/// Returns a number that distinguishes notifications of one kind in a run: it may stall several times, but ends once.
pub(crate) fn ordinal(kind: &NoticeKind, at: Timestamp) -> u64 {
    match kind {
        NoticeKind::Stalled { .. } => at.as_micros().unsigned_abs(),
        NoticeKind::Ended { .. } | NoticeKind::Ready { .. } | NoticeKind::Batch { .. } => 0,
    }
}

impl Transaction<'_> {
    /// Adds a notification for a task's owner. Does nothing if the owner knows already, or it was added before.
    pub(crate) fn enter_notice(
        &self,
        task: &Task,
        news: &NoticeKind,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO notices (session, task, run, kind, ordinal, at, news, duration_ms, stage) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
             ON CONFLICT DO UPDATE SET at = excluded.at, news = excluded.news, duration_ms = excluded.duration_ms \
             WHERE news IS NULL AND stage IN (?9, ?10)";
        let (session, id, run) = (&task.session, task.id.as_str(), task.state.run());
        let (kind, ordinal, news) = (news.kind(), ordinal(news, at) as i64, json(news)?);
        let (at, duration_ms) = (at.as_micros(), task.duration_ms.map(|ms| ms as i64));
        let (new, reserved) = (Stage::Waiting, Stage::Reserved);
        self.change(sql, params![session, id, run, kind, ordinal, at, news, duration_ms, new, reserved])
    }

    /// Returns the holders of a session's unacknowledged notifications.
    pub(crate) fn notice_holders(&self, session: &str) -> Result<Vec<String>, StoreError> {
        let sql = format!(
            "SELECT DISTINCT holder FROM notices \
             WHERE session = ?1 AND {IS_OPEN} AND news IS NOT NULL AND holder IS NOT NULL"
        );
        self.rows(&sql, [session], |row| Ok(row.get(0)?))
    }

    /// Returns a session's unacknowledged notifications that are wanted and that none of these holders has, in order
    /// of occurrence.
    pub(crate) fn open_notices(
        &self,
        session: &str,
        without: &[String],
        is_wanted: impl Fn(&NoticeRow) -> bool,
        most: usize,
    ) -> Result<Vec<NoticeRow>, StoreError> {
        let sql = format!(
            "SELECT number, task, run, at, news, duration_ms FROM notices \
             WHERE session = ?1 AND {IS_OPEN} AND news IS NOT NULL \
             AND (holder IS NULL OR holder NOT IN (SELECT value FROM json_each(?2))) ORDER BY at, number"
        );
        let mut query = self.connection.prepare_cached(&sql)?;
        let mut rows = query.query(params![session, json(&without)?])?;
        let mut found = Vec::new();
        while found.len() < most
            && let Some(row) = rows.next()?
        {
            let row = NoticeRow {
                number: row.get(0)?,
                task: task_id(row, 1)?,
                run: row.get(2)?,
                at: Timestamp::from_micros(row.get(3)?),
                kind: decoded(row, 4)?,
                duration_ms: row.get::<_, Option<i64>>(5)?.map(|ms| ms as u64),
            };
            if is_wanted(&row) {
                found.push(row);
            }
        }
        Ok(found)
    }

    /// Records the holder that notifications were delivered to.
    pub(crate) fn hand_over(&self, numbers: &[i64], holder: &str) -> Result<(), StoreError> {
        let sql = format!("UPDATE notices SET stage = ?2, holder = ?3 WHERE number = ?1 AND {IS_OPEN}");
        numbers.iter().try_for_each(|number| self.change(&sql, params![number, Stage::HandedOver, holder]))
    }

    /// Closes notifications that were delivered to this holder.
    pub(crate) fn acknowledge(&self, numbers: &[i64], holder: &str) -> Result<(), StoreError> {
        self.let_go(numbers, holder, Stage::Closed)
    }

    /// Undoes a failed delivery.
    pub(crate) fn take_back(&self, numbers: &[i64], holder: &str) -> Result<(), StoreError> {
        self.let_go(numbers, holder, Stage::Waiting)
    }

    /// Ends a delivery to this holder.
    fn let_go(&self, numbers: &[i64], holder: &str, next: Stage) -> Result<(), StoreError> {
        let sql =
            "UPDATE notices SET stage = ?3, holder = NULL WHERE number = ?1 AND stage = ?4 AND holder = ?2";
        let let_go = |number| self.change(sql, params![number, holder, next, Stage::HandedOver]);
        numbers.iter().try_for_each(let_go)
    }

    /// Returns whether a task has notifications that its owner may not know yet.
    pub(crate) fn has_open_notices(&self, task: &TaskId) -> Result<bool, StoreError> {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM notices WHERE task = ?1 AND {IS_OPEN})");
        self.value(&sql, [task.as_str()])
    }

    /// Stores a message of a session.
    pub(crate) fn add_turn(&self, session: &str, turn: &MessageTurn) -> Result<(), StoreError> {
        self.change("INSERT INTO turns (session, turn) VALUES (?1, ?2)", params![session, json(turn)?])
    }
}

impl Store {
    /// Returns whether a session has unacknowledged notifications.
    pub(crate) fn any_notices(&self, session: &str) -> Result<bool, StoreError> {
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM notices WHERE session = ?1 AND {IS_OPEN} AND news IS NOT NULL)"
        );
        self.value(&sql, [session])
    }

    /// Returns the messages of a session, oldest first.
    pub(crate) fn turns(&self, session: &str) -> Result<Vec<MessageTurn>, StoreError> {
        let sql = "SELECT turn FROM turns WHERE session = ?1 ORDER BY seq";
        self.rows(sql, [session], |row| decoded(row, 0))
    }

    /// Returns the live tasks of a session whose end a holder has reserved, with the holder.
    pub(crate) fn reserved(&self, session: &str) -> Result<Vec<(TaskId, String)>, StoreError> {
        let sql = "SELECT task, holder FROM notices \
                   WHERE session = ?1 AND stage = ?2 AND news IS NULL AND holder IS NOT NULL ORDER BY number";
        let found = self.rows(sql, params![session, Stage::Reserved], |row| {
            Ok((row.get::<_, String>(0)?, row.get(1)?))
        })?;
        Ok(found.into_iter().filter_map(|(id, holder)| Some((id.parse().ok()?, holder))).collect())
    }

    /// Returns run, kind and stage of a task's notifications, oldest first.
    pub(crate) fn notices_of(&self, task: &TaskId) -> Result<Vec<(u32, String, Stage)>, StoreError> {
        let sql =
            "SELECT run, kind, stage FROM notices WHERE task = ?1 AND news IS NOT NULL ORDER BY run, at";
        self.rows(sql, [task.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sql_condition_for_open_notices_matches_the_open_stages() {
        for stage in Stage::ALL {
            let is_open = match stage {
                Stage::Waiting | Stage::HandedOver | Stage::Reserved => true,
                Stage::Known | Stage::Closed => false,
            };
            let number = (stage as i64).to_string();
            assert_eq!(IS_OPEN.contains(&number), is_open, "{stage:?}");
        }
    }
}
