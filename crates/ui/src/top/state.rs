//! The state of the task manager's screen.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use meanwhile::model::Timestamp;
use mw_desk::OpenRequest;
use mw_desk::query::{Lane, Query, Window};
use mw_desk::rows::Fact;

use super::effect::{Effect, Lookup};
use super::event::Event;
use super::layout::{Areas, Split};
use super::list::List;
use super::log::Log;
use super::question::Asking;
use crate::screen::{Input, TerminalRequest, TextField, Theme, ThemeChoice};

/// The pane that has the focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    List,
    Detail,
}

/// Whether the detail pane fills the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zoom {
    Split,
    Detail,
}

/// The content of the detail pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pane {
    Log,
    Facts,
    Timeline,
}

/// The meaning of keys at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Keys have the actions of the table of key bindings.
    Normal,
    /// Keys edit a text field.
    Typing(Prompt),
    /// Keys answer a question.
    Asking(Asking),
    /// Keys select a line of a menu.
    Choosing(Menu),
    /// The help is shown. Its first visible line is given.
    Help(usize),
    /// Earlier messages are shown. The first visible line is given.
    Said(usize),
}

/// A text field and its purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    pub(crate) purpose: Purpose,
    pub(crate) field: TextField,
}

/// The purpose of a text field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Filters the list while typing; the previous filter is restored on Esc.
    Filter { before: String },
    /// Searches the log.
    Search,
    /// Sends input to this task.
    Input { id: String },
}

/// A menu with its selected line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Menu {
    pub(crate) kind: MenuKind,
    pub(crate) selected: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MenuKind {
    States,
    /// Sessions, each with a description.
    Sessions(Vec<(String, String)>),
}

/// A message at the bottom, in one or more lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Note(String),
    Error(String),
}

/// The state of the whole screen.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) size: (u16, u16),
    pub(crate) theme: Theme,
    pub(crate) list: List,
    pub(crate) pane: Pane,
    pub(crate) focus: Focus,
    pub(crate) zoom: Zoom,
    pub(crate) split: Split,
    /// Whether the mouse moves the border between list and detail.
    pub(crate) drags: bool,
    pub(crate) mode: Mode,
    /// Keys and pasted text that wait for the reply that decides which task is selected.
    pub(crate) typed_ahead: VecDeque<Input<Event>>,
    pub(crate) log: Log,
    /// The id of a task and its details.
    pub(crate) facts: Option<(String, Vec<Fact>)>,
    pub(crate) facts_top: usize,
    /// The task whose details were requested.
    pub(crate) facts_asked: Option<String>,
    pub(crate) lanes: Vec<Lane>,
    /// The tasks whose runs were requested.
    pub(crate) lanes_asked: Vec<String>,
    /// The names of the marked tasks by id.
    pub(crate) marked: BTreeMap<String, String>,
    /// Open approval requests, oldest first.
    pub(crate) proposed: Vec<OpenRequest>,
    pub(crate) message: Option<Message>,
    /// Earlier messages, newest first.
    pub(crate) said: VecDeque<Message>,
    /// The reason why changes of tasks are not watched at the moment.
    pub(crate) watch_error: Option<String>,
    pub(crate) mouse_is_ours: bool,
    /// The only session that may be shown, if `mw top` runs inside one.
    pub(crate) bound_to: Option<String>,
    /// The time at which the rows were read.
    pub(crate) now: Timestamp,
    /// The time of the input that is being processed.
    pub(crate) clock: Timestamp,
    /// Whether the screen is out of date.
    pub(crate) is_changed: bool,
    /// The effects of the input that is being processed.
    pub(crate) effects: Vec<Effect>,
}

impl State {
    /// Creates an empty screen of this size. If a session is given, only its tasks are shown.
    pub(crate) fn new(size: (u16, u16), theme: ThemeChoice, session: Option<String>) -> Self {
        let query = Query { session: session.clone(), ..Query::default() };
        Self {
            size,
            theme: Theme::of(theme),
            list: List { shown: query.clone(), query, ..List::default() },
            pane: Pane::Log,
            focus: Focus::List,
            zoom: Zoom::Split,
            split: Split::default(),
            drags: false,
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
            watch_error: None,
            mouse_is_ours: true,
            bound_to: session,
            now: Timestamp::default(),
            clock: Timestamp::default(),
            is_changed: true,
            effects: Vec::new(),
        }
    }

    /// Shows a session first. The user can select others.
    pub(crate) fn show_session(&mut self, session: &str) {
        self.list.query.session = Some(session.to_owned());
    }

    /// Shows a message.
    pub(crate) fn say(&mut self, message: Message) {
        /// The maximum number of earlier messages.
        const MAX_SAID: usize = 100;
        self.said.truncate(MAX_SAID - 1);
        self.said.push_front(message.clone());
        self.message = Some(message);
        self.is_changed = true;
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.say(Message::Note(text.into()));
    }

    pub(crate) fn fail(&mut self, text: impl Into<String>) {
        self.say(Message::Error(text.into()));
    }

    pub(crate) fn find(&mut self, lookup: Lookup) {
        self.effects.push(Effect::Find(lookup));
    }

    pub(crate) fn request(&mut self, request: TerminalRequest) {
        self.effects.push(Effect::Screen(request));
    }

    /// Returns how often the content of the screen changes with time alone: every second while a visible task runs, and
    /// every half minute while an age is shown.
    pub(crate) fn ticks(&self) -> Option<Duration> {
        const WHILE_RUNNING: Duration = Duration::from_secs(1);
        const FOR_AGES: Duration = Duration::from_secs(30);
        let areas = Areas::of(self);
        let shown = self.list.visible(usize::from(areas.list.height)).any(|row| row.alive);
        let selected = self.list.selected_row().is_some_and(|row| row.alive);
        if self.size.0 > 0 && (shown || (areas.detail.height > 0 && selected)) {
            return Some(WHILE_RUNNING);
        }
        (areas.list.height > 0 && self.list.total > 0).then_some(FOR_AGES)
    }

    /// Returns the pane that has the focus. A pane that fills the screen always has it.
    pub(crate) const fn keys_go_to(&self) -> Focus {
        match self.zoom {
            Zoom::Split => self.focus,
            Zoom::Detail => Focus::Detail,
        }
    }

    /// Returns the number of visible tasks: rows of the list, or lanes of a full-screen timeline.
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

    /// Keeps the selected task selected if it is among the loaded rows. Otherwise the task in its place is selected.
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

    /// Replaces the loaded rows. The selected task stays selected.
    pub(crate) fn take_window(&mut self, window: Window) {
        let height = self.list_height();
        let list = &mut self.list;
        self.now = window.at;
        self.is_changed |= !list.is_known
            || (list.start, list.total, list.live) != (window.start, window.total, window.live)
            || list.counts != window.counts
            || list.rows != window.rows;
        list.is_known = true;
        if list.shown != window.query {
            // After a new query, the selected task stays selected if it is listed. Otherwise the first task is
            // selected.
            (list.shown, list.top, list.selected) = (window.query, 0, 0);
            self.is_changed = true;
        }
        (list.rows, list.start, list.total, list.live) =
            (window.rows, window.start, window.total, window.live);
        list.counts = window.counts;
        list.rows.iter().for_each(|row| list.seen.add(row));
        if list.start == 0 {
            // Running tasks come first. Those beyond the loaded rows are not counted.
            list.waits = list.rows.iter().filter(|row| row.waits.is_some()).count();
        }
        let before = (list.selected, list.selected_id.clone(), list.away.take());
        list.is_held &= list.total > 0;
        if !list.is_held {
            list.selected = 0;
            list.take_place();
        }
        let found = list.selected_id.as_ref().and_then(|id| list.rows.iter().position(|row| row.id == *id));
        let unlisted = window.unlisted.filter(|row| Some(&row.id) == list.selected_id.as_ref());
        list.selected = found.map_or(list.selected, |at| at + list.start).min(list.total.saturating_sub(1));
        match (found, self.zoom, unlisted) {
            (Some(_), _, _) => {}
            // A log that fills the screen must not be replaced by another one.
            (None, Zoom::Detail, Some(row)) => list.away = Some(row),
            (None, Zoom::Detail | Zoom::Split, _) => list.take_place(),
        }
        self.is_changed |= before != (list.selected, list.selected_id.clone(), list.away.clone());
        list.keep_in_sight(height);
    }
}
