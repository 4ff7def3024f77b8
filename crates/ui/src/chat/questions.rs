//! Approval requests on screen, one at a time.
//!
//! A key answers a request only if it was meant for it. A key that was typed as text or for the previous request is no
//! answer. Approval is accepted only after the request was shown to its end.

use std::collections::VecDeque;

use meanwhile::engine::model::{Timestamp, visible};
use mw_desk::OpenRequest;
use mw_desk::chat_protocol::ApprovalReply;
use ratatui::text::{Line, Span};

use crate::screen::{ReadPosition, wrap};

/// The time for which a new request accepts no answer. A key within it was meant for the previous content.
const GRACE_MICROS: i64 = 500_000;

/// The time after a typed key during which the user counts as typing.
const WRITING_MICROS: i64 = 1_000_000;

/// The open questions, in order.
#[derive(Default)]
pub(super) struct Questions {
    queue: VecDeque<OpenRequest>,
    /// Whether the questions are set aside until a key shows them again.
    is_aside: bool,
    shown: Option<Shown>,
    /// The time of the last key that went into the text.
    written_at: Option<Timestamp>,
}

/// The question that is on the screen.
pub(super) struct Shown {
    pub(super) question: OpenRequest,
    /// The text, wrapped to the width of the screen.
    pub(super) lines: Vec<Line<'static>>,
    width: usize,
    pub(super) position: ReadPosition,
    since: Timestamp,
    /// Whether it replaced another question. Keys that were typed for that one are not an answer to it.
    is_next: bool,
}

/// The meaning of a key for the question on screen.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Answer(String, ApprovalReply),
    /// Deny this request, and tell the agent why.
    Because(String),
    /// The key was meant for the text.
    Text,
    Nothing,
}

impl Questions {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) const fn shown(&self) -> Option<&Shown> {
        self.shown.as_ref()
    }

    /// Adds a request. While the user is typing, it waits. Otherwise it is shown, together with requests that were set
    /// aside.
    pub(super) fn ask(&mut self, question: OpenRequest, is_text_there: bool, now: Timestamp) {
        if self.shown.is_none() {
            let is_writing = self.written_at.is_some_and(|at| is_within(WRITING_MICROS, at, now));
            self.is_aside = is_text_there || is_writing;
        }
        self.queue.push_back(question);
    }

    pub(super) fn settle(&mut self, id: &str) {
        self.queue.retain(|question| question.id != id);
    }

    pub(super) const fn set_aside(&mut self) {
        self.is_aside = true;
    }

    /// Records that a key went into the text.
    pub(super) const fn wrote(&mut self, now: Timestamp) {
        self.written_at = Some(now);
    }

    /// Records that the user is no longer typing.
    pub(super) const fn sent(&mut self) {
        self.written_at = None;
    }

    /// Shows requests that were set aside. They accept answers at once.
    pub(super) fn show_again(&mut self, width: usize, now: Timestamp) {
        self.is_aside = false;
        let since = Timestamp::from_micros(now.as_micros() - GRACE_MICROS);
        self.shown = self.queue.front().map(|question| Shown::new(question, width, since));
    }

    /// Updates which question is on screen.
    pub(super) fn bring_up(&mut self, is_covered: bool, width: usize, now: Timestamp) {
        let front = self.queue.front().filter(|_| !self.is_aside && !is_covered);
        let Some(front) = front else {
            self.shown = None;
            return;
        };
        let before = self.shown.take();
        let is_next = before.is_some();
        self.shown = Some(match before {
            Some(shown) if shown.question.id == front.id && shown.width == width => shown,
            Some(shown) if shown.question.id == front.id => {
                Shown { is_next: shown.is_next, ..Shown::new(front, width, shown.since) }
            }
            _ => Shown { is_next, ..Shown::new(front, width, now) },
        });
    }

    /// Returns whether the question on screen accepts no answers yet.
    pub(super) fn is_early(&self, now: Timestamp) -> bool {
        self.shown.as_ref().is_some_and(|shown| is_within(GRACE_MICROS, shown.since, now))
    }

    /// Handles a character that was typed without Ctrl or Alt.
    pub(super) fn typed(&mut self, c: char, now: Timestamp) -> Meaning {
        let is_early = self.is_early(now);
        let Some(shown) = &mut self.shown else { return Meaning::Text };
        if is_early && shown.is_next {
            // A user who still presses keys has not read the question yet.
            shown.since = now;
            return Meaning::Nothing;
        }
        let reply = match c {
            'y' => ApprovalReply::Once,
            's' | 'a' if shown.question.for_session => ApprovalReply::Session,
            'n' | 'b' => ApprovalReply::Deny,
            _ => return Meaning::Text,
        };
        match reply {
            _ if is_early => Meaning::Text,
            ApprovalReply::Once | ApprovalReply::Session if !shown.is_read() => Meaning::Nothing,
            ApprovalReply::Once | ApprovalReply::Session | ApprovalReply::Deny => {
                let id = shown.question.id.clone();
                self.settle(&id);
                if c == 'b' { Meaning::Because(id) } else { Meaning::Answer(id, reply) }
            }
        }
    }

    /// Scrolls the question, if `rows` of its lines fit on the screen.
    pub(super) fn scroll(&mut self, by: isize, rows: usize) {
        if let Some(shown) = &mut self.shown {
            shown.position.scroll(by, rows, shown.lines.len());
        }
    }

    /// Records which lines are visible, if `rows` fit on the screen.
    pub(super) fn see(&mut self, rows: usize) {
        if let Some(shown) = &mut self.shown {
            shown.position.show(rows, shown.lines.len());
        }
    }
}

impl Shown {
    fn new(question: &OpenRequest, width: usize, since: Timestamp) -> Self {
        // The text may come from any agent, so hidden characters are made visible.
        let wrapped = |line: &String| wrap(&[Span::raw(visible(line))], width, "", "  ");
        let lines = question.lines.iter().flat_map(wrapped).collect();
        let question = question.clone();
        Self { question, lines, width, position: ReadPosition::default(), since, is_next: false }
    }

    /// Returns whether the whole question was visible.
    pub(super) fn is_read(&self) -> bool {
        self.position.is_read(self.lines.len())
    }
}

/// Returns whether less than this time has passed. If the clock was set back, the time counts as passed.
fn is_within(micros: i64, at: Timestamp, now: Timestamp) -> bool {
    (0..micros).contains(&(now.as_micros() - at.as_micros()))
}
