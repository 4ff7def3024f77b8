//! All that the screen is made of.

use std::collections::{BTreeMap, VecDeque};

use meanwhile::model::Timestamp;
use mw_desk::Proposed;
use mw_desk::query::{Lane, Query, Window};
use mw_desk::rows::{Fact, TaskRow};

use super::event::Event;
use super::layout::Areas;
use super::log::Log;
use super::question::Asking;
use crate::screen::{Theme, ThemeChoice};

/// Which pane keys go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    List,
    Detail,
}

/// Whether the detail has the whole screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zoom {
    Split,
    Detail,
}

/// What the detail shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pane {
    Log,
    Facts,
    Timeline,
}

/// What keys mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// What the table of keys says.
    Normal,
    /// Text for a line of input.
    Typing(Prompt),
    /// An answer.
    Asking(Asking),
    /// A choice.
    Choosing(Menu),
    /// The list of keys is shown, from this line on.
    Help(usize),
    /// What was said so far is shown, from this line on.
    Said(usize),
}

/// A line that is typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) purpose: Purpose,
    pub(crate) text: String,
    /// Place of the cursor, in bytes.
    pub(crate) cursor: usize,
}

/// What a typed line is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Filters the list as it is typed; the text before is kept for those who give up.
    Filter { before: String },
    /// Is searched for in the log.
    Search,
    /// Goes to this task.
    Input { id: String },
}

/// A choice between lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Menu {
    pub(crate) kind: MenuKind,
    pub(crate) selected: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MenuKind {
    States,
    /// Names with what is said about each.
    Sessions(Vec<(String, String)>),
}

/// What is said at the bottom, in one or more lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Note(String),
    Error(String),
}

/// What the selection stays with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// The first row, whoever comes there: nobody has chosen anything yet, and what starts is to be seen.
    Top,
    /// The task that somebody has chosen, wherever it goes.
    Task,
}

/// The list.
#[derive(Debug)]
pub(crate) struct List {
    /// The tasks that are wanted.
    pub(crate) query: Query,
    /// The query that the rows answer: until the reply to another one is here, what is on screen stays as it is.
    pub(crate) shown: Query,
    /// What is loaded of it.
    pub(crate) rows: Vec<TaskRow>,
    /// Place of the first loaded row.
    pub(crate) start: usize,
    pub(crate) total: usize,
    pub(crate) live: usize,
    /// Place of the selected row.
    pub(crate) selected: usize,
    pub(crate) selected_id: Option<String>,
    pub(crate) holds: Holds,
    /// The selected task while it has the whole screen and does not fit the query any more.
    pub(crate) away: Option<Box<TaskRow>>,
    /// Place of the first row on screen.
    pub(crate) top: usize,
    pub(crate) loading: Loading,
    /// First row and number of rows that were asked for last.
    pub(crate) asked: (usize, usize),
    /// Whether anything was listed yet.
    pub(crate) is_known: bool,
}

/// Where asking for rows stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loading {
    Idle,
    /// They were asked for.
    Awaited,
    /// They were, and what is on screen has changed since.
    Outdated,
}

impl List {
    /// Returns the row at a place, if it is loaded.
    pub(crate) fn row(&self, place: usize) -> Option<&TaskRow> {
        self.rows.get(place.checked_sub(self.start)?)
    }

    /// Returns the selected row, once it is loaded.
    pub(crate) fn selected_row(&self) -> Option<&TaskRow> {
        let is_it = |row: &&TaskRow| self.selected_id.as_ref() == Some(&row.id);
        self.row(self.selected).filter(is_it).or_else(|| self.away.as_deref().filter(is_it))
    }

    /// Tells whether a reply is on its way that decides which task is selected.
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
}

/// The whole screen.
#[derive(Debug)]
pub struct State {
    pub(crate) size: (u16, u16),
    pub(crate) theme: Theme,
    pub(crate) list: List,
    pub(crate) pane: Pane,
    pub(crate) focus: Focus,
    pub(crate) zoom: Zoom,
    pub(crate) mode: Mode,
    /// Keys and pasted text that came before the reply that decides which task they mean; they are taken in after it.
    pub(crate) typed_ahead: VecDeque<Event>,
    pub(crate) log: Log,
    /// What is known about a task, and about which; first line on screen.
    pub(crate) facts: Option<(String, Vec<Fact>)>,
    pub(crate) facts_top: usize,
    /// Whom the facts were asked about.
    pub(crate) facts_asked: Option<String>,
    pub(crate) lanes: Vec<Lane>,
    /// Whose runs were asked for.
    pub(crate) lanes_asked: Vec<String>,
    /// What is marked, by id, with what it is.
    pub(crate) marked: BTreeMap<String, String>,
    /// What waits for a person's answer, oldest first.
    pub(crate) proposed: Vec<Proposed>,
    pub(crate) message: Option<Message>,
    /// What was said so far, the last first.
    pub(crate) said: VecDeque<Message>,
    /// Why the screen is not live.
    pub(crate) deaf: Option<String>,
    pub(crate) mouse_is_ours: bool,
    /// The session that must not be left, for those who work in one.
    pub(crate) bound_to: Option<String>,
    /// When the rows were looked at.
    pub(crate) now: Timestamp,
    /// Whether the screen is out of date.
    pub(crate) is_changed: bool,
}

impl State {
    /// Begins with an empty screen of this size. A session that is named is the only one to be seen.
    #[must_use]
    pub fn new(size: (u16, u16), theme: ThemeChoice, session: Option<String>) -> Self {
        let query = Query { session: session.clone(), ..Query::default() };
        Self {
            size,
            theme: Theme::of(theme),
            list: List {
                shown: query.clone(),
                query,
                rows: Vec::new(),
                start: 0,
                total: 0,
                live: 0,
                selected: 0,
                selected_id: None,
                holds: Holds::Top,
                away: None,
                top: 0,
                loading: Loading::Idle,
                asked: (0, 0),
                is_known: false,
            },
            pane: Pane::Log,
            focus: Focus::List,
            zoom: Zoom::Split,
            mode: Mode::Normal,
            typed_ahead: VecDeque::new(),
            log: Log::new(),
            facts: None,
            facts_top: 0,
            facts_asked: None,
            lanes: Vec::new(),
            lanes_asked: Vec::new(),
            marked: BTreeMap::new(),
            proposed: Vec::new(),
            message: None,
            said: VecDeque::new(),
            deaf: None,
            mouse_is_ours: true,
            bound_to: session,
            now: Timestamp::default(),
            is_changed: true,
        }
    }

    /// Shows a session at first, of which others may be chosen.
    pub fn show_session(&mut self, session: &str) {
        self.list.query.session = Some(session.to_owned());
    }

    /// Tells whether the screen is out of date, once.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.is_changed)
    }

    /// Tells whether anything on screen changes by itself from second to second.
    #[must_use]
    pub fn wants_ticks(&self) -> bool {
        let areas = Areas::of(self);
        let shown = self.list.visible(usize::from(areas.list.height)).any(|row| row.alive);
        let selected = self.list.selected_row().is_some_and(|row| row.alive);
        (shown || (areas.detail.height > 0 && selected)) && self.size.0 > 0
    }

    /// Which pane keys go to; one that has the whole screen has them all.
    pub(crate) const fn keys_go_to(&self) -> Focus {
        match self.zoom {
            Zoom::Split => self.focus,
            Zoom::Detail => Focus::Detail,
        }
    }

    /// Returns how many rows of the list are on screen: in the list, or as lanes over the whole screen.
    pub(crate) fn list_height(&self) -> usize {
        let areas = Areas::of(self);
        match (areas.list.height, self.pane) {
            (0, Pane::Timeline) => usize::from(areas.detail.height).saturating_sub(1),
            (height, _) => height.into(),
        }
    }

    pub(crate) fn detail_size(&self) -> (usize, usize) {
        let detail = Areas::of(self).detail;
        (detail.width.into(), detail.height.into())
    }

    /// Has that selected which was, wherever it is among the rows that are there, or what stands in its place.
    pub(crate) fn keep_selected(&mut self) {
        let height = self.list_height();
        if self.list.selected_row().is_none() {
            let list = &mut self.list;
            match list.rows.iter().position(|row| Some(&row.id) == list.selected_id.as_ref()) {
                Some(at) => list.selected = at + list.start,
                None => list.take_place(),
            }
            list.keep_in_sight(height);
        }
    }

    /// Takes rows over; what was chosen stays selected, wherever it is now.
    pub(crate) fn take_window(&mut self, window: Window) {
        let height = self.list_height();
        let list = &mut self.list;
        self.now = window.at;
        self.is_changed |= !list.is_known
            || (list.start, list.total, list.live) != (window.start, window.total, window.live)
            || list.rows != window.rows;
        list.is_known = true;
        if list.shown != window.query {
            // Other tasks: what was selected stays so if it is listed again, else the first one is.
            (list.shown, list.top, list.selected) = (window.query, 0, 0);
            self.is_changed = true;
        }
        (list.rows, list.start, list.total, list.live) =
            (window.rows, window.start, window.total, window.live);
        let before = (list.selected, list.selected_id.clone(), list.away.take());
        if list.total == 0 {
            list.holds = Holds::Top;
        }
        if list.holds == Holds::Top {
            list.selected = 0;
            list.take_place();
        }
        let found = list.selected_id.as_ref().and_then(|id| list.rows.iter().position(|row| row.id == *id));
        let unlisted = window.unlisted.filter(|row| Some(&row.id) == list.selected_id.as_ref());
        list.selected = found.map_or(list.selected, |at| at + list.start).min(list.total.saturating_sub(1));
        match (found, self.zoom, unlisted) {
            (Some(_), _, _) => {}
            // Nobody who reads a log wants to find another one in its place.
            (None, Zoom::Detail, Some(row)) => list.away = Some(row),
            (None, Zoom::Detail | Zoom::Split, _) => list.take_place(),
        }
        self.is_changed |= before != (list.selected, list.selected_id.clone(), list.away.clone());
        list.keep_in_sight(height);
    }
}

impl List {
    /// Moves the stretch on screen so that the selected row is in it.
    pub(crate) fn keep_in_sight(&mut self, height: usize) {
        if height == 0 {
            return;
        }
        let last_top = self.total.saturating_sub(height);
        self.top = self.top.min(self.selected).max((self.selected + 1).saturating_sub(height)).min(last_top);
    }

    /// Has the task selected that stands at the selected place.
    pub(crate) fn take_place(&mut self) {
        self.away = None;
        self.selected_id = self.row(self.selected).map(|row| row.id.clone());
    }

    /// Stays with the selected task from now on, if there is one.
    pub(crate) const fn hold(&mut self) {
        if self.selected_id.is_some() {
            self.holds = Holds::Task;
        }
    }

    /// Returns the task that is to stay selected.
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
