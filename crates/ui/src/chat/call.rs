//! Draws a tool call: one line, and its result below it when it is expanded.

use std::borrow::Cow;

use meanwhile::model::Status;
use mw_desk::chat::{ToolContent, ToolState, ToolUpdate};
use mw_desk::text::{bytes, columns, count, shortened};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::diff::{Changed, changed};
use crate::screen::{Theme, wrap};

/// The maximum number of lines of an expanded tool call.
const MAX_LINES: usize = 200;
const MAX_BYTES: usize = 64 << 10;

/// A tool call and its display state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) id: String,
    title: String,
    state: ToolState,
    content: Vec<ToolContent>,
    /// The number of lines of its content. It is cached, because counting reads the whole content.
    amount: Option<usize>,
    pub(super) is_unfolded: bool,
}

impl Call {
    pub(super) fn new(news: ToolUpdate) -> Self {
        let mut call = Self {
            title: news.id.clone(),
            id: news.id.clone(),
            state: ToolState::Pending,
            content: Vec::new(),
            amount: None,
            is_unfolded: false,
        };
        call.take(news);
        call
    }

    /// Applies an update. Absent fields stay unchanged.
    pub(super) fn take(&mut self, news: ToolUpdate) {
        if let Some(title) = news.title {
            self.title = title;
        }
        if let Some(state) = news.state {
            self.state = state;
        }
        if let Some(content) = news.content {
            self.content = content;
            self.amount = None;
        }
    }

    /// Returns whether the call has ended.
    pub(super) const fn is_over(&self) -> bool {
        matches!(self.state, ToolState::Done | ToolState::Failed)
    }

    /// Draws the call. After its turn has ended, a call counts as stopped, even if its last state was running.
    pub(super) fn draw(&mut self, is_turn_open: bool, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let (sign, status) = match self.state {
            ToolState::Pending | ToolState::Running if !is_turn_open => ("■", Status::Cancelled),
            ToolState::Pending => ("○", Status::Pending),
            ToolState::Running => ("⏳", Status::Running),
            ToolState::Done => ("✓", Status::Completed),
            ToolState::Failed => ("✗", Status::Failed),
        };
        let content = &self.content;
        let amount = *self.amount.get_or_insert_with(|| content.iter().map(lines_in).sum());
        let note = match amount {
            0 => String::new(),
            lines => format!("  ({})", count(lines, "line", "lines")),
        };
        let title = self.title.lines().next().unwrap_or_default();
        let room = width.saturating_sub(columns(&note) + 3).max(1);
        let mut lines = vec![Line::from(vec![
            Span::styled(format!("{sign} "), theme.status(status)),
            Span::raw(shortened(title, room)),
            Span::styled(note, theme.dim),
        ])];
        if self.is_unfolded {
            self.draw_content(amount, width, theme, &mut lines);
        }
        lines
    }

    fn draw_content(&self, amount: usize, width: usize, theme: &Theme, lines: &mut Vec<Line<'static>>) {
        let title = self.title.lines().skip(1).map(|line| (Cow::Borrowed(line), Style::new()));
        let content = self.content.iter().flat_map(|part| drawn(part, theme));
        let mut room = MAX_BYTES;
        let mut left = self.title.lines().skip(1).count() + amount;
        let mut cut = 0;
        for (text, style) in title.chain(content).take(MAX_LINES) {
            let end = text.floor_char_boundary(room);
            lines.extend(wrap(&[Span::styled(text[..end].to_owned(), style)], width, "  ", "  "));
            (room, left, cut) = (room - end, left - 1, text.len() - end);
            if room == 0 || cut > 0 {
                break;
            }
        }
        if cut > 0 {
            let text = format!("  … {} more of this line", bytes(cut as u64));
            lines.push(Line::from(Span::styled(text, theme.dim)));
        }
        if left > 0 {
            let text = format!("  … {}", count(left, "more line", "more lines"));
            lines.push(Line::from(Span::styled(text, theme.dim)));
        }
    }
}

fn lines_in(part: &ToolContent) -> usize {
    match part {
        ToolContent::Text { text } => text.lines().count(),
        ToolContent::Diff { old, new, .. } => 1 + changed(old, new).len(),
    }
}

/// Returns the lines of a part of the content lazily.
fn drawn<'a>(part: &'a ToolContent, theme: &Theme) -> Box<dyn Iterator<Item = (Cow<'a, str>, Style)> + 'a> {
    match part {
        ToolContent::Text { text } => {
            let style = theme.dim;
            Box::new(text.lines().map(move |line| (line.into(), style)))
        }
        ToolContent::Diff { path, old, new } => {
            let (title, dim) = (theme.title, theme.dim);
            let (added, removed) = (theme.status(Status::Completed), theme.status(Status::Failed));
            let lines = changed(old, new).into_iter().map(move |line| match line {
                Changed::Same(line) => (format!("  {line}").into(), dim),
                Changed::Removed(line) => (format!("- {line}").into(), removed),
                Changed::Added(line) => (format!("+ {line}").into(), added),
                Changed::Gap => ("⋯".into(), dim),
            });
            Box::new(std::iter::once((path.as_str().into(), title)).chain(lines))
        }
    }
}
