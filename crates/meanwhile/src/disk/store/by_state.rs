//! The list as a person reads it: running tasks, queued tasks, recent failures, the rest.

use mw_model::{Status, Timestamp};
use rusqlite::params_from_iter;

use super::connection::Store;
use super::error::StoreError;
use super::filter::{TaskFilter, conditions};
use super::list::{RowSlice, Walk};
use super::queue::{QUEUE_ORDER, queue_order_or_newest};
use super::rows;
use super::write::{HOLDS_SLOT, QUEUED};
use crate::task::Task;

/// How many of the newest tasks of each failing state are checked, because the cost of the list must not grow with
/// the number of failed tasks. Older failures are listed with the rest.
const LOOKED_AT: u64 = 50;
const FAILING: [Status; 3] = [Status::Failed, Status::TimedOut, Status::Lost];

/// Returns the query for the matching queued tasks, in queue order.
pub(super) fn queue_sql(filter: &TaskFilter, skip: u32, most: u32) -> String {
    format!(
        "SELECT {} FROM tasks INDEXED BY tasks_waiting WHERE phase = {QUEUED}{} \
         ORDER BY {QUEUE_ORDER} LIMIT {most} OFFSET {skip}",
        rows::COLUMNS,
        conditions(filter).0,
    )
}

/// Returns the sort order as SQL. `lately` lists the recent failures.
pub(super) fn by_state_sql(lately: &[i64]) -> String {
    let lately = lately.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    format!(
        "CASE phase WHEN {HOLDS_SLOT} THEN 0 WHEN {QUEUED} THEN 1 ELSE 2 + (seq NOT IN ({lately})) END, {}",
        queue_order_or_newest()
    )
}

/// The offset and limit that remain after the earlier parts of a list.
struct Left {
    skip: u64,
    most: u32,
}

impl Left {
    /// Returns the offset and limit for a part with this many tasks, and subtracts them.
    fn take(&mut self, count: u64) -> (u32, u32) {
        let skip = self.skip.min(count);
        let most = u64::from(self.most).min(count - skip);
        self.skip -= skip;
        self.most -= most as u32;
        (skip as u32, most as u32)
    }
}

impl Store {
    /// Lists the matching tasks, given the numbers of matching running and queued tasks.
    pub(super) fn list_by_state(
        &self,
        filter: &TaskFilter,
        failed_since: Timestamp,
        (running, waiting): (u64, u64),
    ) -> Result<Vec<Task>, StoreError> {
        let mut left = Left { skip: filter.offset.into(), most: filter.limit };
        let mut tasks = Vec::new();
        let (skip, most) = left.take(running);
        if most > 0 {
            let slice = RowSlice { skip, most: most.into(), except: &[] };
            tasks.extend(self.walk(filter, &[Walk::HoldingSlots], slice)?);
        }
        let (skip, most) = left.take(waiting);
        if most > 0 {
            let (_, values) = conditions(filter);
            tasks.extend(self.tasks(&queue_sql(filter, skip, most), params_from_iter(values))?);
        }
        if left.most == 0 {
            return Ok(tasks);
        }
        let lately = self.failed_lately(filter, failed_since)?;
        let (skip, most) = left.take(lately.len() as u64);
        for seq in lately.iter().skip(skip as usize).take(most as usize) {
            tasks.extend(self.tasks_that("WHERE seq = ?1", [seq])?);
        }
        if left.most > 0 {
            let skip = u32::try_from(left.skip).unwrap_or(u32::MAX);
            let slice = RowSlice { skip, most: left.most.into(), except: &lately };
            tasks.extend(self.ended_walk(filter, slice)?);
        }
        Ok(tasks)
    }

    /// Returns the row numbers of the matching tasks that failed recently, newest first.
    pub(super) fn failed_lately(
        &self,
        filter: &TaskFilter,
        since: Timestamp,
    ) -> Result<Vec<i64>, StoreError> {
        let is_wanted = |status: &Status| filter.statuses.is_empty() || filter.statuses.contains(status);
        let ways: Vec<_> = FAILING.into_iter().filter(is_wanted).map(Walk::InStatus).collect();
        let newest = RowSlice { most: LOOKED_AT, skip: 0, except: &[] };
        let found = self.walk_numbered(filter, &ways, newest)?;
        let is_late = |task: &Task| task.ended_at.is_some_and(|ended| ended >= since);
        let mut lately: Vec<_> =
            found.into_iter().filter(|(_, task)| is_late(task)).map(|(seq, _)| seq).collect();
        lately.sort_unstable_by_key(|seq| std::cmp::Reverse(*seq));
        Ok(lately)
    }
}
