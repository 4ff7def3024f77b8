//! A window of a task list: the visible rows and some around them.

use std::ops::Range;

use meanwhile::engine::{Clock, Runtime, SystemClock};
use meanwhile::model::{Status, TaskState, Timestamp};
use meanwhile::{Result, Task, TaskFilter, TaskPage};

use super::list_query::{Query, Sort, States, filter};
use crate::desk::Desk;
use crate::rows::TaskRow;
use crate::sample::{Round, Sample};

/// The maximum number of rows that are sorted by usage. Further rows keep their order.
const SORTED: usize = 300;

/// The rows to list, and whether to measure their usage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowRange {
    /// The index of the first row.
    pub start: usize,
    /// The number of rows.
    pub count: usize,
    /// If this task has moved, the rows around it are listed instead.
    pub keep: Option<String>,
    /// The indices of the rows on screen, if their usage is to be measured again.
    pub measure: Option<Range<usize>>,
}

/// A loaded part of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// The query of the list.
    pub query: Query,
    /// The index of the first row in the whole list.
    pub start: usize,
    /// The rows.
    pub rows: Vec<TaskRow>,
    /// The total number of rows.
    pub total: usize,
    /// The number of live tasks among them.
    pub live: usize,
    /// The number of tasks in each state, whatever states the query selects.
    pub counts: StateCounts,
    /// The task that must stay visible, if it does not match the query.
    pub unlisted: Option<Box<TaskRow>>,
    /// The time of the query.
    pub at: Timestamp,
}

/// The number of tasks in each group of states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    /// Tasks that hold a slot.
    pub running: usize,
    /// Tasks that wait for a slot or for other tasks.
    pub queued: usize,
    /// Tasks that failed, exceeded a time limit or are lost.
    pub failed: usize,
    /// Tasks that have completed.
    pub completed: usize,
    /// Tasks that were cancelled.
    pub cancelled: usize,
}

/// A loaded part of a list, and the tasks to measure.
pub struct Listing {
    /// The rows.
    pub window: Window,
    /// The tasks for [`Desk::sample`], if new samples were requested.
    pub round: Option<Round>,
}

/// The index of the first row, the rows, and a task that is not listed.
type Around = (usize, TaskPage, Option<Box<TaskRow>>);

/// Returns whether rows are sorted here instead of in the database, which does not contain the usage of tasks.
const fn is_by_use(query: &Query, start: usize) -> bool {
    matches!(query.sort, Sort::Cpu | Sort::Memory) && start < SORTED
}

impl Desk {
    /// Lists the requested rows, or those around the task that must stay visible.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read.
    pub fn list(&self, query: Query, range: &RowRange) -> Result<Listing> {
        self.with(|runtime| self.list_with(runtime, query, range))
    }

    fn list_with(&self, runtime: &Runtime, query: Query, range: &RowRange) -> Result<Listing> {
        let (start, count, page) = self.page(runtime, &query, (range.start, range.count))?;
        let is_there = |id: &String, page: &TaskPage| page.tasks.iter().any(|task| task.id.as_str() == id);
        let moved = range.keep.as_ref().filter(|id| !is_there(id, &page));
        let (start, page, unlisted) = match moved {
            None => (start, page, None),
            Some(id) => self.around(runtime, &query, id, count)?.unwrap_or((start, page, None)),
        };
        let by_use = is_by_use(&query, start);
        let mut rows: Vec<_> =
            page.tasks.iter().map(|task| TaskRow::of(task, self.sample_of(task))).collect();
        if by_use {
            sort_by_use(&mut rows, &query);
        }
        let round = range.measure.as_ref().map(|places| {
            let alive = rows.iter().filter(|row| row.alive).map(|row| row.id.clone()).collect();
            let measured = page.tasks.iter().zip(start..).filter(|(_, at)| by_use || places.contains(at));
            Round { tasks: measured.map(|(task, _)| task.clone()).collect(), alive }
        });
        let (total, live) = (page.total as usize, page.live as usize);
        let counts = self.counts(runtime, &query)?;
        let window = Window { query, start, rows, total, live, counts, unlisted, at: SystemClock.now() };
        Ok(Listing { window, round })
    }

    /// Counts the tasks that a query would list without its selection of states.
    fn counts(&self, runtime: &Runtime, query: &Query) -> Result<StateCounts> {
        let base = filter(&Query { states: States::Any, ..query.clone() }, &self.scope());
        let count = |statuses: &[Status]| -> Result<usize> {
            let filter = TaskFilter { statuses: statuses.to_vec(), ..base.clone() };
            Ok(runtime.tasks().count(&filter)? as usize)
        };
        Ok(StateCounts {
            running: count(&[Status::Running, Status::Resumed, Status::Cancelling])?,
            queued: count(&[Status::Pending])?,
            failed: count(&[Status::Failed, Status::TimedOut, Status::Lost])?,
            completed: count(&[Status::Completed])?,
            cancelled: count(&[Status::Cancelled])?,
        })
    }

    /// Returns the index of the first row, the number of requested rows, and the rows.
    fn page(
        &self,
        runtime: &Runtime,
        query: &Query,
        (start, count): (usize, usize),
    ) -> Result<(usize, usize, TaskPage)> {
        let (start, count) =
            if is_by_use(query, start) { (0, (start + count).max(SORTED)) } else { (start, count) };
        let filter = TaskFilter { offset: start as u32, limit: count as u32, ..filter(query, &self.scope()) };
        Ok((start, count, runtime.tasks().list(&filter)?))
    }

    /// Lists the rows around a task that has moved, or the task alone if it is not listed. Returns `None` if it no
    /// longer exists.
    fn around(&self, runtime: &Runtime, query: &Query, id: &str, count: usize) -> Result<Option<Around>> {
        let Ok(task) = runtime.tasks().task(id, &self.scope()) else { return Ok(None) };
        let position = runtime.tasks().position(&filter(query, &self.scope()), &task.id)?;
        let at = position.unwrap_or(0) as usize;
        let (start, _, page) = self.page(runtime, query, (at.saturating_sub(count / 2), count))?;
        let row = position.is_none().then(|| Box::new(TaskRow::of(&task, self.sample_of(&task))));
        Ok(Some((start, page, row)))
    }

    /// Returns the known usage of a task. A task without live processes uses nothing.
    fn sample_of(&self, task: &Task) -> Sample {
        match (&task.state, task.survivors) {
            (TaskState::Ended { .. }, 0) => Sample::default(),
            (_, _) => self.samples().of(task.id.as_str()),
        }
    }
}

/// Sorts the live rows, which come first, by usage. The sort is stable.
fn sort_by_use(rows: &mut [TaskRow], query: &Query) {
    let live = rows.iter().take_while(|row| !row.status.is_terminal()).count();
    let by = |row: &TaskRow| match query.sort {
        Sort::Memory => row.sample.memory.unwrap_or(0) as f64,
        Sort::State | Sort::Newest | Sort::Longest | Sort::Name | Sort::Cpu => row.sample.cpu.unwrap_or(-1.0),
    };
    rows[..live].sort_by(|a, b| {
        let order = by(b).total_cmp(&by(a));
        if query.is_reversed { order.reverse() } else { order }
    });
}
