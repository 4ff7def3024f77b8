//! The list of tasks: the loaded rows, the selection and the visible part.

use mw_desk::query::Query;
use mw_desk::rows::TaskRow;

/// What the selection follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// The first row, whichever task it is: nothing was selected yet, and new tasks should be visible.
    Top,
    /// The selected task, wherever it moves.
    Task,
}

/// The list.
#[derive(Debug)]
pub(crate) struct List {
    /// The query.
    pub(crate) query: Query,
    /// The query of the loaded rows. The screen stays unchanged until the reply to a new query arrives.
    pub(crate) shown: Query,
    /// The loaded rows.
    pub(crate) rows: Vec<TaskRow>,
    /// The index of the first loaded row.
    pub(crate) start: usize,
    pub(crate) total: usize,
    pub(crate) live: usize,
    /// The index of the selected row.
    pub(crate) selected: usize,
    pub(crate) selected_id: Option<String>,
    pub(crate) holds: Holds,
    /// The selected task, while it fills the screen and no longer matches the query.
    pub(crate) away: Option<Box<TaskRow>>,
    /// The index of the first row on screen.
    pub(crate) top: usize,
    pub(crate) loading: Loading,
    /// First row and number of rows of the last request.
    pub(crate) asked: (usize, usize),
    /// Whether anything was listed yet.
    pub(crate) is_known: bool,
}

/// The state of the request for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loading {
    Idle,
    /// Requested.
    Awaited,
    /// Requested, and the screen has changed since.
    Outdated,
}

impl List {
    /// Returns the row at an index, if it is loaded.
    pub(crate) fn row(&self, place: usize) -> Option<&TaskRow> {
        self.rows.get(place.checked_sub(self.start)?)
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
        (self.top..self.top + height).filter_map(|place| self.row(place))
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

    /// Follows the selected task from now on, if there is one.
    pub(crate) const fn hold(&mut self) {
        if self.selected_id.is_some() {
            self.holds = Holds::Task;
        }
    }

    /// Returns the task that must stay selected.
    pub(crate) fn held(&self) -> Option<String> {
        match self.holds {
            Holds::Top => None,
            Holds::Task => self.selected_id.clone(),
        }
    }

    /// Selects a row.
    pub(crate) fn select(&mut self, place: usize, height: usize) {
        self.holds = Holds::Task;
        self.selected = place.min(self.total.saturating_sub(1));
        self.take_place();
        self.keep_in_sight(height);
    }
}
