//! The list of tasks: the loaded rows, the selection and the visible part.

use mw_desk::query::{Query, StateCounts};
use mw_desk::rows::TaskRow;

/// The list of tasks.
#[derive(Debug, Default)]
pub(crate) struct List {
    /// The query of the next request.
    pub(crate) query: Query,
    /// The query of the loaded rows. The screen stays unchanged until the reply to a new query arrives.
    pub(crate) shown: Query,
    /// The loaded rows.
    pub(crate) rows: Vec<TaskRow>,
    /// The index of the first loaded row.
    pub(crate) start: usize,
    pub(crate) total: usize,
    pub(crate) live: usize,
    /// The number of tasks in each state.
    pub(crate) counts: StateCounts,
    /// The number of running tasks that wait for a person.
    pub(crate) waits: usize,
    pub(crate) seen: Seen,
    /// The index of the selected row.
    pub(crate) selected: usize,
    pub(crate) selected_id: Option<String>,
    /// Whether the selection follows its task. Until a row is selected, the first row stays selected, so new tasks are
    /// visible.
    pub(crate) is_held: bool,
    /// The selected task, if it fills the screen but no longer matches the query.
    pub(crate) away: Option<Box<TaskRow>>,
    /// The index of the first row on screen.
    pub(crate) top: usize,
    pub(crate) loading: Loading,
    /// The first row and the number of rows of the last request.
    pub(crate) asked: (usize, usize),
    /// Whether a reply has arrived.
    pub(crate) is_known: bool,
}

/// What rows have ever contained. Columns are chosen by it, so that scrolling does not change them.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) has_progress: bool,
    pub(crate) has_ports: bool,
    pub(crate) has_sessions: bool,
    /// The widest handle.
    pub(crate) handle: usize,
    session: Option<String>,
}

impl Seen {
    pub(crate) fn add(&mut self, row: &TaskRow) {
        self.has_progress |= row.percent.is_some();
        self.has_ports |= !row.sample.ports.is_empty();
        self.handle = self.handle.max(row.handle.len());
        let first = self.session.get_or_insert_with(|| row.session.clone());
        self.has_sessions |= *first != row.session;
    }
}

/// The state of the request for rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Loading {
    #[default]
    Idle,
    /// A reply is pending.
    Awaited,
    /// A reply is pending, and the screen has changed since the request.
    Outdated,
}

impl List {
    /// Returns the row at an index, if it is loaded.
    pub(crate) fn row(&self, index: usize) -> Option<&TaskRow> {
        self.rows.get(index.checked_sub(self.start)?)
    }

    /// Returns the selected row, once it is loaded.
    pub(crate) fn selected_row(&self) -> Option<&TaskRow> {
        let is_it = |row: &&TaskRow| self.selected_id.as_ref() == Some(&row.id);
        self.row(self.selected).filter(is_it).or_else(|| self.away.as_deref().filter(is_it))
    }

    /// Returns whether a pending reply decides which task is selected.
    pub(crate) fn awaits_selection(&self) -> bool {
        let is_selected = self.total == 0 || self.selected_row().is_some();
        let is_settled = self.is_known && self.shown == self.query && is_selected;
        self.loading != Loading::Idle && !is_settled
    }

    /// Returns the row of a task, if it is loaded.
    pub(crate) fn row_of(&self, id: &str) -> Option<&TaskRow> {
        self.rows.iter().chain(self.away.as_deref()).find(|row| row.id == id)
    }

    /// Returns the rows on screen.
    pub(crate) fn visible(&self, height: usize) -> impl Iterator<Item = &TaskRow> {
        (self.top..self.top + height).filter_map(|index| self.row(index))
    }

    /// Scrolls so that the selected row is on screen.
    pub(crate) fn keep_in_sight(&mut self, height: usize) {
        if height == 0 {
            return;
        }
        let last_top = self.total.saturating_sub(height);
        self.top = self.top.min(self.selected).max((self.selected + 1).saturating_sub(height)).min(last_top);
    }

    /// Selects the task at the selected index.
    pub(crate) fn take_place(&mut self) {
        self.away = None;
        self.selected_id = self.row(self.selected).map(|row| row.id.clone());
    }

    /// Makes the selection follow its task, if there is one.
    pub(crate) const fn hold(&mut self) {
        self.is_held |= self.selected_id.is_some();
    }

    /// Returns the task that must stay selected.
    pub(crate) fn held(&self) -> Option<String> {
        self.selected_id.clone().filter(|_| self.is_held)
    }

    /// Selects a row.
    pub(crate) fn select(&mut self, index: usize, height: usize) {
        self.is_held = true;
        self.selected = index.min(self.total.saturating_sub(1));
        self.take_place();
        self.keep_in_sight(height);
    }
}
