//! Lists tasks page by page, using only indexes.

use std::cmp::Reverse;

use mw_model::{Status, TaskId};
use rusqlite::{TransactionBehavior, params_from_iter};

use super::by_state::by_state_sql;
use super::connection::Store;
use super::error::StoreError;
use super::filter::{IS_KEEPER, ListOrder, TaskFilter, TaskPage, conditions, order_sql, title};
use super::rows;
use super::write::{ENDED, HOLDS_SLOT, QUEUED};
use crate::task::{Scope, Task};

/// A walk over the tasks that follows an index, so that its cost does not grow with their number.
pub(super) enum Walk {
    HoldingSlots,
    Waiting,
    Newest,
    NewestOfSession,
    InStatus(Status),
}

impl Walk {
    /// Returns the index to use, the condition and the order.
    fn sql(&self) -> (&'static str, String, &'static str) {
        match self {
            Self::HoldingSlots => ("INDEXED BY tasks_live", format!("phase = {HOLDS_SLOT}"), "seq"),
            Self::Waiting => ("INDEXED BY tasks_waiting", format!("phase = {QUEUED}"), "seq"),
            Self::Newest => ("INDEXED BY tasks_by_phase", format!("phase = {ENDED}"), "seq"),
            Self::NewestOfSession => ("INDEXED BY tasks_by_session", format!("phase = {ENDED}"), "number"),
            Self::InStatus(status) => {
                ("INDEXED BY tasks_by_status", format!("status = '{}'", status.word()), "seq")
            }
        }
    }
}

/// Returns the query of one walk. The values of the filter are bound to it.
fn walk_sql(filter: &TaskFilter, way: &Walk, RowSlice { most, skip, except }: RowSlice<'_>) -> String {
    let (index, condition, by_age) = way.sql();
    let (mut clause, _) = conditions(filter);
    if !except.is_empty() {
        let except = except.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        clause.push_str(&format!(" AND seq NOT IN ({except})"));
    }
    let order = order_sql(filter.order, by_age);
    format!(
        "SELECT {}, seq FROM tasks {index} WHERE {condition}{clause} ORDER BY {order} LIMIT {most} OFFSET {skip}",
        rows::COLUMNS
    )
}

fn count_sql(filter: &TaskFilter, condition: &str) -> String {
    format!("SELECT count(*) FROM tasks WHERE {condition}{}", conditions(filter).0)
}

/// The part of a walk's result to return.
#[derive(Clone, Copy)]
pub(super) struct RowSlice<'a> {
    pub(super) skip: u32,
    pub(super) most: u64,
    /// Row numbers of tasks that are listed elsewhere.
    pub(super) except: &'a [i64],
}

impl Store {
    /// Lists live tasks first, then ended ones, each in the requested order.
    pub(crate) fn list(&self, filter: &TaskFilter) -> Result<TaskPage, StoreError> {
        // One read transaction for all parts, because tasks change state meanwhile.
        let _view = rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Deferred)?;
        let in_phase = |phase| self.count(filter, &format!("phase = {phase}"));
        let (waiting, running) = (in_phase(QUEUED)?, in_phase(HOLDS_SLOT)?);
        let live = waiting + running;
        let total =
            if filter.is_whole_scope() { self.total_in_scope(filter)? } else { self.count(filter, "1")? };
        if let ListOrder::ByState { failed_since } = filter.order {
            let tasks = self.list_by_state(filter, failed_since, (running, waiting))?;
            return Ok(TaskPage { tasks, total, live });
        }
        let slice = RowSlice { skip: filter.offset, most: filter.limit.into(), except: &[] };
        let mut tasks = self.walk(filter, &[Walk::HoldingSlots, Walk::Waiting], slice)?;
        let left = RowSlice {
            skip: u32::try_from(u64::from(filter.offset).saturating_sub(live)).unwrap_or(u32::MAX),
            most: u64::from(filter.limit) - tasks.len() as u64,
            except: &[],
        };
        if left.most > 0 {
            tasks.extend(self.ended_walk(filter, left)?);
        }
        Ok(TaskPage { tasks, total, live })
    }

    pub(super) fn ended_walk(
        &self,
        filter: &TaskFilter,
        slice: RowSlice<'_>,
    ) -> Result<Vec<Task>, StoreError> {
        let terminal: Vec<_> = filter
            .statuses
            .iter()
            .filter(|status| status.is_terminal())
            .map(|s| Walk::InStatus(*s))
            .collect();
        match (&*filter.statuses, &filter.scope) {
            ([], Scope::All) => self.walk(filter, &[Walk::Newest], slice),
            ([], Scope::Session(_)) => self.walk(filter, &[Walk::NewestOfSession], slice),
            _ => self.walk(filter, &terminal, slice),
        }
    }

    /// Does each walk, merges the results, and keeps the requested part.
    pub(super) fn walk(
        &self,
        filter: &TaskFilter,
        ways: &[Walk],
        slice: RowSlice<'_>,
    ) -> Result<Vec<Task>, StoreError> {
        // Several walks are merged, so each must start at its beginning. A single one need not.
        let (skip_there, skip_here) = if ways.len() == 1 { (slice.skip, 0) } else { (0, slice.skip) };
        let most = u64::from(skip_here) + slice.most;
        let rows = RowSlice { most, skip: skip_there, ..slice };
        let mut found = self.walk_numbered(filter, ways, rows)?;
        match filter.order {
            ListOrder::Newest | ListOrder::ByState { .. } => found.sort_by_key(|(seq, _)| Reverse(*seq)),
            ListOrder::Oldest => found.sort_by_key(|(seq, _)| *seq),
            ListOrder::Longest => found.sort_by_key(|(seq, task)| (Reverse(task.duration_ms), *seq)),
            ListOrder::Shortest => found.sort_by_key(|(seq, task)| (task.duration_ms, Reverse(*seq))),
            ListOrder::Name => found.sort_by_cached_key(|(seq, task)| (title(task), Reverse(*seq))),
            ListOrder::NameDown => found.sort_by_cached_key(|(seq, task)| (Reverse(title(task)), *seq)),
        }
        let kept = found.into_iter().skip(skip_here as usize).take(slice.most as usize);
        Ok(kept.map(|(_, task)| task).collect())
    }

    /// Does each walk and returns the results with their row numbers.
    pub(super) fn walk_numbered(
        &self,
        filter: &TaskFilter,
        ways: &[Walk],
        rows: RowSlice<'_>,
    ) -> Result<Vec<(i64, Task)>, StoreError> {
        let mut found = Vec::new();
        for way in ways {
            let values = params_from_iter(conditions(filter).1);
            found.extend(self.rows(&walk_sql(filter, way, rows), values, |row| {
                Ok((row.get("seq")?, rows::task(row, &self.tasks_dir)?))
            })?);
        }
        Ok(found)
    }

    /// Returns the number of tasks that match a filter.
    pub(crate) fn matching(&self, filter: &TaskFilter) -> Result<u64, StoreError> {
        self.count(filter, "1")
    }

    pub(super) fn count(&self, filter: &TaskFilter, condition: &str) -> Result<u64, StoreError> {
        if filter.hides_keepers() {
            // Keepers are few and counted by index. Checking the session of every task would take longer.
            let all = TaskFilter { internal: true, ..filter.clone() };
            let keepers = self.count(&all, &format!("{condition} AND {IS_KEEPER}"))?;
            return Ok(self.count(&all, condition)?.saturating_sub(keepers));
        }
        let values = params_from_iter(conditions(filter).1);
        Ok(self.value::<i64>(&count_sql(filter, condition), values)? as u64)
    }

    /// Returns the number of tasks in the scope of a filter, as counted with their sessions.
    fn total_in_scope(&self, filter: &TaskFilter) -> Result<u64, StoreError> {
        let sql = format!(
            "SELECT coalesce(sum(tasks), 0) FROM (SELECT id AS session, tasks FROM sessions) WHERE 1{}",
            conditions(filter).0
        );
        Ok(self.value::<i64>(&sql, params_from_iter(conditions(filter).1))? as u64)
    }

    /// Returns how many tasks come before a task in a list; `None` if it is not listed. Reads all matching tasks.
    pub(crate) fn position(&self, filter: &TaskFilter, id: &TaskId) -> Result<Option<u64>, StoreError> {
        let (clause, mut values) = conditions(filter);
        values.push(Box::new(id.as_str().to_owned()));
        let last = values.len();
        let order = match filter.order {
            ListOrder::ByState { failed_since } => by_state_sql(&self.failed_lately(filter, failed_since)?),
            order => format!("phase = {ENDED}, {}", order_sql(order, "seq")),
        };
        let sql = format!(
            "SELECT position FROM (SELECT id, row_number() OVER (ORDER BY {order}) - 1 AS position \
             FROM tasks WHERE 1{clause}) WHERE id = ?{last}"
        );
        let position: Option<i64> = self.first(&sql, params_from_iter(values))?;
        Ok(position.map(|position| position as u64))
    }

    /// Returns the matching ended tasks, oldest first.
    pub(crate) fn ended(
        &self,
        filter: &TaskFilter,
        ended_before_us: Option<i64>,
    ) -> Result<Vec<Task>, StoreError> {
        let all = TaskFilter { limit: u32::MAX, offset: 0, ..filter.clone() };
        let all_of_them = RowSlice { skip: 0, most: u32::MAX.into(), except: &[] };
        let mut tasks = self.ended_walk(&all, all_of_them)?;
        tasks.retain(|task| {
            ended_before_us.is_none_or(|before| task.ended_at.is_some_and(|ended| ended.as_micros() < before))
        });
        tasks.reverse();
        Ok(tasks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::store::Opened;
    use crate::disk::store::by_state::queue_sql;
    use crate::disk::store::queue::{any_waiting_sql, queue_position_sql};
    use crate::disk::store::read::{task_sql, unsettled_sql};
    use crate::disk::store::sessions::tasks_of_sql;

    /// Returns the query plan, one line per step.
    fn plan(store: &Store, sql: &str) -> Vec<String> {
        let mut query = store.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let rows = query.raw_query().mapped(|row| row.get("detail"));
        rows.map(Result::unwrap).collect()
    }

    const FIRST: RowSlice<'_> = RowSlice { most: 50, skip: 0, except: &[] };

    fn filters() -> Vec<TaskFilter> {
        let mut all = Vec::new();
        for scope in [Scope::All, Scope::Session("one".to_owned())] {
            for statuses in [vec![], vec![Status::Failed], vec![Status::Running, Status::Completed]] {
                for order in [ListOrder::Newest, ListOrder::Oldest] {
                    all.push(TaskFilter {
                        statuses: statuses.clone(),
                        order,
                        ..TaskFilter::new(scope.clone())
                    });
                }
            }
        }
        all
    }

    /// Returns a new database, and the directory that holds it.
    fn new_store() -> (tempfile::TempDir, Store) {
        let home = tempfile::tempdir().unwrap();
        let Ok(Opened::Behind(mut store, _)) = Store::open(&home.path().join("meanwhile.db")) else {
            panic!("expected a new database that needs migration")
        };
        store.bring_up_to_date(|_| Ok(())).unwrap();
        (home, store)
    }

    #[test]
    fn unsettled_tasks_are_found_without_a_look_at_ended_ones() {
        let (_home, store) = new_store();
        for sql in [unsettled_sql(), tasks_of_sql()] {
            let steps = plan(&store, &sql);
            let of_tasks: Vec<_> = steps.iter().filter(|step| step.contains(" tasks")).collect();
            let partial = ["tasks_live", "tasks_surviving", "tasks_waiting"];
            let is_small =
                |step: &&String| partial.iter().any(|index| step.contains(&format!("INDEX {index}")));
            assert!(!of_tasks.is_empty() && of_tasks.iter().all(is_small), "{steps:?}: {sql}");
        }
    }

    #[test]
    fn task_queries_use_an_index_or_scan_in_the_requested_order() {
        let (_home, store) = new_store();
        let mut queries = vec![task_sql(), unsettled_sql(), any_waiting_sql(), queue_position_sql()];
        for filter in filters() {
            let counted = TaskFilter { internal: true, ..filter.clone() };
            for condition in ["phase = 0", "phase = 1", "1"] {
                queries.push(count_sql(&counted, condition));
                queries.push(count_sql(&counted, &format!("{condition} AND {IS_KEEPER}")));
            }
            let mut walks = vec![Walk::HoldingSlots, Walk::Waiting, Walk::InStatus(Status::Failed)];
            if let Scope::Session(_) = filter.scope {
                walks.push(Walk::NewestOfSession);
            }
            queries.extend(walks.iter().map(|walk| walk_sql(&filter, walk, FIRST)));
            queries.push(queue_sql(&filter, 0, 50));
            let newest = plan(&store, &walk_sql(&filter, &Walk::Newest, FIRST));
            assert_eq!(newest, ["SEARCH tasks USING INDEX tasks_by_phase (phase=?)"], "nothing is sorted");
        }
        for sql in queries {
            let steps = plan(&store, &sql);
            let is_indexed = |step: &String| step.contains(" USING ");
            let of_tasks = steps.iter().filter(|step| step.contains(" tasks"));
            let unindexed: Vec<_> = of_tasks.filter(|step| !is_indexed(step)).collect();
            assert!(unindexed.is_empty(), "{unindexed:?}: {sql}");
        }
    }
}
