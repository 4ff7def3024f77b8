//! Rows of a list: those that a screen shows and some around them.

use std::ops::Range;

use meanwhile::model::{TaskState, Timestamp};
use meanwhile::{Clock, Filter, Page, Result, Runtime, SystemClock, Task};

use super::question::{Query, Sort, filter};
use crate::desk::Desk;
use crate::rows::TaskRow;
use crate::sample::{Round, Sample};

/// How many are sorted by what they use; those beyond keep their places.
const SORTED: usize = 300;

/// Which rows to list, and whether to look at what they use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First row.
    pub start: usize,
    /// How many.
    pub count: usize,
    /// The task around which they are listed instead, should it have gone elsewhere.
    pub keep: Option<String>,
    /// Whether what they use is looked at anew.
    pub look: Look,
}

/// Whether what tasks use is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// What is known of it is good enough.
    Known,
    /// It is, for the rows at these places: those on screen.
    Fresh(Range<usize>),
}

/// A stretch of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// What was asked for.
    pub query: Query,
    /// Place of the first row in the whole list.
    pub start: usize,
    /// The rows.
    pub rows: Vec<TaskRow>,
    /// How many there are in all.
    pub total: usize,
    /// How many of those have not ended.
    pub live: usize,
    /// The task that was to stay in sight, if there is one that does not fit the query.
    pub unlisted: Option<Box<TaskRow>>,
    /// When it was looked at.
    pub at: Timestamp,
}

/// A stretch of a list, and the tasks that it wants looked at.
pub struct Listing {
    /// The rows.
    pub window: Window,
    /// What [`Desk::sample`] is to look at, where fresh samples were asked for.
    pub round: Option<Round>,
}

/// Where rows begin, the rows, and a task that is not among those listed.
type Around = (usize, Page, Option<Box<TaskRow>>);

/// Tells whether rows have to be sorted here, because the database does not know what tasks use.
const fn is_by_use(query: &Query, start: usize) -> bool {
    matches!(query.sort, Sort::Cpu | Sort::Memory) && start < SORTED
}

impl Desk {
    /// Lists tasks: rows of the stretch that was asked for, or around the task that is to stay in sight.
    ///
    /// # Errors
    /// When the home cannot be read.
    pub fn list(&self, query: Query, stretch: &Stretch) -> Result<Listing> {
        self.with(|runtime| self.list_with(runtime, query, stretch))
    }

    fn list_with(&self, runtime: &Runtime, query: Query, stretch: &Stretch) -> Result<Listing> {
        let (start, count, page) = self.page(runtime, &query, (stretch.start, stretch.count))?;
        let is_there = |id: &String, page: &Page| page.tasks.iter().any(|task| task.id.as_str() == id);
        let gone = stretch.keep.as_ref().filter(|id| !is_there(id, &page));
        let (start, page, unlisted) = match gone {
            None => (start, page, None),
            Some(id) => self.around(runtime, &query, id, count)?.unwrap_or((start, page, None)),
        };
        let by_use = is_by_use(&query, start);
        let mut rows: Vec<_> =
            page.tasks.iter().map(|task| TaskRow::of(task, self.sample_of(task))).collect();
        if by_use {
            sort_by_use(&mut rows, &query);
        }
        let round = match &stretch.look {
            Look::Known => None,
            Look::Fresh(places) => {
                let alive = rows.iter().filter(|row| row.alive).map(|row| row.id.clone()).collect();
                let looked_at = page.tasks.iter().enumerate();
                let looked_at = looked_at.filter(|(at, _)| by_use || places.contains(&(start + at)));
                Some(Round { tasks: looked_at.map(|(_, task)| task.clone()).collect(), alive })
            }
        };
        let (total, live) = (page.total as usize, page.live as usize);
        let window = Window { query, start, rows, total, live, unlisted, at: SystemClock.now() };
        Ok(Listing { window, round })
    }

    /// Returns where the rows begin, how many were asked for, and the rows.
    fn page(
        &self,
        runtime: &Runtime,
        query: &Query,
        (start, count): (usize, usize),
    ) -> Result<(usize, usize, Page)> {
        let (start, count) =
            if is_by_use(query, start) { (0, (start + count).max(SORTED)) } else { (start, count) };
        let filter = Filter { offset: start as u32, limit: count as u32, ..filter(query, &self.scope()) };
        Ok((start, count, runtime.list(&filter)?))
    }

    /// Lists the rows around a task that is not where it was; or the task alone, if it is not listed. Nothing if it
    /// is no more.
    fn around(&self, runtime: &Runtime, query: &Query, id: &str, count: usize) -> Result<Option<Around>> {
        let Ok(task) = runtime.task(id, &self.scope()) else { return Ok(None) };
        let place = runtime.place(&filter(query, &self.scope()), &task.id)?;
        let at = place.unwrap_or(0) as usize;
        let (start, _, page) = self.page(runtime, query, (at.saturating_sub(count / 2), count))?;
        let row = place.is_none().then(|| Box::new(TaskRow::of(&task, self.sample_of(&task))));
        Ok(Some((start, page, row)))
    }

    /// Returns what is known of what a task uses; one of which nothing lives uses nothing.
    fn sample_of(&self, task: &Task) -> Sample {
        match (&task.state, task.survivors) {
            (TaskState::Ended { .. }, 0) => Sample::default(),
            (_, _) => self.samples().of(task.id.as_str()),
        }
    }
}

/// Puts the live rows, which come first, into the order of what they use. What uses the same stays in its order.
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
