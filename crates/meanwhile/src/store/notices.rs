//! The ledger of notices. A row is made in the transaction that records the event, so there is exactly one for
//! each; its stage moves on in one direction, but for a hand-over that came to nothing.

use mw_model::{News, TaskId, Timestamp, Turn};
use rusqlite::{Row, params};

use super::connection::Store;
use super::error::StoreError;
use super::write::{Transaction, json};
use crate::home::ToldNews;
use crate::task::Task;

/// A row of the ledger.
pub(crate) struct NoticeRow {
    pub(crate) number: i64,
    pub(crate) task: TaskId,
    pub(crate) run: u32,
    pub(crate) at: Timestamp,
    pub(crate) news: News,
    pub(crate) duration_ms: Option<u64>,
    /// To whom it was handed and who has not acknowledged it.
    pub(crate) holder: Option<String>,
}

/// Tells news of one kind apart in a run: it may stall often, and ends once.
pub(crate) fn ordinal(news: &News, at: Timestamp) -> u64 {
    match news {
        News::Stalled { .. } => at.as_micros().unsigned_abs(),
        News::Ended { .. } | News::Ready { .. } | News::Batch { .. } => 0,
    }
}

impl Transaction<'_> {
    /// Enters news for a task's owner. What the owner knows already, or was entered before, changes nothing.
    pub(super) fn enter_notice(&self, task: &Task, news: &News, at: Timestamp) -> Result<(), StoreError> {
        let mut insert = self.inner.prepare_cached(
            "INSERT INTO notices (session, task, run, kind, ordinal, at, news, duration_ms, stage) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0) \
             ON CONFLICT DO UPDATE SET at = excluded.at, news = excluded.news, duration_ms = excluded.duration_ms \
             WHERE news IS NULL AND stage IN (0, 4)",
        )?;
        insert.execute(params![
            task.session,
            task.id.as_str(),
            task.state.run(),
            news.kind(),
            ordinal(news, at) as i64,
            at.as_micros(),
            json(news)?,
            task.duration_ms.map(|ms| ms as i64),
        ])?;
        Ok(())
    }

    /// Notes that the owner knows how a run ends, or will know from its own request. False when it has been
    /// told already.
    pub(crate) fn latch(&self, task: &Task, at: Timestamp) -> Result<bool, StoreError> {
        let mut latch = self.inner.prepare_cached(
            "INSERT INTO notices (session, task, run, kind, ordinal, at, stage) VALUES (?1, ?2, ?3, 'ended', 0, ?4, 1) \
             ON CONFLICT DO UPDATE SET stage = 1 WHERE stage = 0",
        )?;
        let run = task.state.run();
        Ok(latch.execute(params![task.session, task.id.as_str(), run, at.as_micros()])? > 0)
    }

    /// Enters that a holder will tell how a run ends: whatever comes is handed to it from the start.
    pub(crate) fn promise_end(&self, task: &Task, holder: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO notices (session, task, run, kind, ordinal, at, stage, holder) \
                   VALUES (?1, ?2, ?3, 'ended', 0, ?4, 4, ?5) ON CONFLICT DO NOTHING";
        let run = task.state.run();
        let at = task.created_at.as_micros();
        self.inner.execute(sql, params![task.session, task.id.as_str(), run, at, holder])?;
        Ok(())
    }

    /// Ends such a promise: kept, or left to whoever tells the session next. False when there is none.
    pub(crate) fn end_promise(&self, task: &TaskId, holder: &str, kept: bool) -> Result<bool, StoreError> {
        let sql = "UPDATE notices SET stage = ?3, holder = NULL \
                   WHERE task = ?1 AND kind = 'ended' AND stage = 4 AND holder = ?2";
        Ok(self.inner.execute(sql, params![task.as_str(), holder, if kept { 3 } else { 0 }])? > 0)
    }

    /// Notes what else the owner was told of, for a database that is rebuilt.
    pub(crate) fn latch_news(&self, task: &Task, told: &ToldNews, at: Timestamp) -> Result<(), StoreError> {
        let mut latch = self.inner.prepare_cached(
            "INSERT INTO notices (session, task, run, kind, ordinal, at, stage) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1) \
             ON CONFLICT DO NOTHING",
        )?;
        let ToldNews { kind, run, ordinal } = told;
        latch.execute(params![task.session, task.id.as_str(), run, kind, *ordinal as i64, at.as_micros()])?;
        Ok(())
    }

    /// Takes a latch back that came before any news.
    pub(crate) fn unlatch(&self, task: &Task) -> Result<(), StoreError> {
        let sql = "DELETE FROM notices WHERE task = ?1 AND run = ?2 AND kind = 'ended' AND stage = 1 AND news IS NULL";
        self.inner.execute(sql, params![task.id.as_str(), task.state.run()])?;
        Ok(())
    }

    /// Returns a session's notices that nobody has acknowledged, in the order in which things happened.
    pub(crate) fn open_notices(&self, session: &str, most: u32) -> Result<Vec<NoticeRow>, StoreError> {
        let mut query = self.inner.prepare_cached(
            "SELECT number, task, run, at, news, duration_ms, holder FROM notices \
             WHERE session = ?1 AND stage IN (0, 2, 4) AND news IS NOT NULL ORDER BY at, number LIMIT ?2",
        )?;
        let mut rows = query.query(params![session, most])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let (task, news): (String, String) = (row.get(1)?, row.get(4)?);
            found.push(NoticeRow {
                number: row.get(0)?,
                task: task.parse().map_err(|_| StoreError::Corrupt(task))?,
                run: row.get(2)?,
                at: Timestamp::from_micros(row.get(3)?),
                news: serde_json::from_str(&news).map_err(|error| StoreError::Corrupt(error.to_string()))?,
                duration_ms: row.get::<_, Option<i64>>(5)?.map(|ms| ms as u64),
                holder: row.get(6)?,
            });
        }
        Ok(found)
    }

    /// Notes to whom notices were handed.
    pub(crate) fn hand_over(&self, numbers: &[i64], holder: &str) -> Result<(), StoreError> {
        let sql = "UPDATE notices SET stage = 2, holder = ?2 WHERE number = ?1 AND stage IN (0, 2, 4)";
        self.for_each(numbers, holder, sql)
    }

    /// Closes notices that this holder was handed.
    pub(crate) fn acknowledge(&self, numbers: &[i64], holder: &str) -> Result<(), StoreError> {
        let sql =
            "UPDATE notices SET stage = 3, holder = NULL WHERE number = ?1 AND stage = 2 AND holder = ?2";
        self.for_each(numbers, holder, sql)
    }

    /// Takes back a hand-over that came to nothing.
    pub(crate) fn take_back(&self, numbers: &[i64], holder: &str) -> Result<(), StoreError> {
        let sql =
            "UPDATE notices SET stage = 0, holder = NULL WHERE number = ?1 AND stage = 2 AND holder = ?2";
        self.for_each(numbers, holder, sql)
    }

    fn for_each(&self, numbers: &[i64], holder: &str, sql: &str) -> Result<(), StoreError> {
        let mut update = self.inner.prepare_cached(sql)?;
        for number in numbers {
            update.execute(params![number, holder])?;
        }
        Ok(())
    }

    /// Stores a message of a session.
    pub(crate) fn add_turn(&self, session: &str, turn: &Turn) -> Result<(), StoreError> {
        let sql = "INSERT INTO turns (session, turn) VALUES (?1, ?2)";
        self.inner.execute(sql, params![session, json(turn)?])?;
        Ok(())
    }
}

impl Store {
    /// Tells whether a session has notices that nobody has acknowledged.
    pub(crate) fn any_notices(&self, session: &str) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM notices WHERE session = ?1 AND stage IN (0, 2, 4) AND news IS NOT NULL)";
        Ok(self.connection.query_row(sql, [session], |row| row.get(0))?)
    }

    /// Returns the messages of a session, oldest first.
    pub(crate) fn turns(&self, session: &str) -> Result<Vec<Turn>, StoreError> {
        let mut query =
            self.connection.prepare_cached("SELECT turn FROM turns WHERE session = ?1 ORDER BY seq")?;
        let found = query.query_map([session], |row| row.get::<_, String>(0))?;
        let mut turns = Vec::new();
        for turn in found {
            turns.push(serde_json::from_str(&turn?).map_err(|error| StoreError::Corrupt(error.to_string()))?);
        }
        Ok(turns)
    }
}

impl Store {
    /// Returns the tasks of a session whose end somebody has promised to tell and that are not over, and who has.
    pub(crate) fn promised(&self, session: &str) -> Result<Vec<(TaskId, String)>, StoreError> {
        let sql = "SELECT task, holder FROM notices \
                   WHERE session = ?1 AND stage = 4 AND news IS NULL AND holder IS NOT NULL ORDER BY number";
        let mut query = self.connection.prepare_cached(sql)?;
        let row = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?));
        let found = query.query_map([session], row)?.collect::<Result<Vec<_>, _>>()?;
        Ok(found.into_iter().filter_map(|(id, holder)| Some((id.parse().ok()?, holder))).collect())
    }

    /// Returns run, kind and stage of a task's news, oldest first.
    pub(crate) fn notices_of(&self, task: &TaskId) -> Result<Vec<(u32, String, u8)>, StoreError> {
        let sql =
            "SELECT run, kind, stage FROM notices WHERE task = ?1 AND news IS NOT NULL ORDER BY run, at";
        let mut query = self.connection.prepare_cached(sql)?;
        let found = query.query_map([task.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}
