//! Draws a tool call: one line, and its result below it when it is expanded.

use meanwhile::model::Status;
use mw_desk::chat_protocol::{ToolContent, ToolState, ToolUpdate};
use mw_desk::text::{bytes, columns, count, shortened};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::diff::{Changed, changed};
use super::highlight::{self, Language};
use crate::screen::{Theme, wrap};

/// The maximum number of lines of an expanded tool call.
const MAX_LINES: usize = 200;
const MAX_BYTES: usize = 64 << 10;

/// How the title of a call begins that has started a command in the background.
const IN_BACKGROUND: &str = "in the background as ";
/// The maximum number of lines of a diff that is shown although its call is not expanded.
const MAX_DIFF_LINES: usize = 24;

/// A tool call and its display state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolItem {
    pub(super) id: String,
    title: String,
    state: ToolState,
    content: Vec<ToolContent>,
    /// The number of lines of its content. It is cached, because counting reads the whole content.
    amount: Option<usize>,
    pub(super) is_unfolded: bool,
}

impl ToolItem {
    pub(super) fn new(update: ToolUpdate) -> Self {
        let mut call = Self {
            title: update.id.clone(),
            id: update.id.clone(),
            state: ToolState::Pending,
            content: Vec::new(),
            amount: None,
            is_unfolded: false,
        };
        call.take(update);
        call
    }

    /// Applies an update. Absent fields stay unchanged.
    pub(super) fn take(&mut self, update: ToolUpdate) {
        if let Some(title) = update.title {
            self.title = title;
        }
        if let Some(state) = update.state {
            self.state = state;
        }
        if let Some(content) = update.content {
            self.content = content;
            self.amount = None;
        }
    }

    /// Returns the last line of the result of a failed call.
    fn why_failed(&self) -> Option<&str> {
        let text = self.content.iter().rev().find_map(|part| match part {
            ToolContent::Text { text } => text.lines().map(str::trim).rfind(|line| !line.is_empty()),
            ToolContent::Diff { .. } => None,
        });
        text.filter(|_| self.state == ToolState::Failed)
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
            ToolState::Running => ("◐", Status::Running),
            // The call has ended, but the command that it started has not.
            ToolState::Done if self.title.starts_with(IN_BACKGROUND) => ("⌁", Status::Running),
            ToolState::Done => ("✓", Status::Completed),
            ToolState::Failed => ("✗", Status::Failed),
        };
        let content = &self.content;
        let amount = *self.amount.get_or_insert_with(|| content.iter().map(lines_in).sum());
        let note = match (amount, self.why_failed()) {
            (0, _) => String::new(),
            // The last line of a failed call says how it ended.
            (_, Some(why)) => format!("  {}", shortened(why, width / 2)),
            (lines, None) => format!("  ({})", count(lines, "line", "lines")),
        };
        let title = self.title.lines().next().unwrap_or_default();
        let room = width.saturating_sub(columns(&note) + 3).max(1);
        let mut lines = vec![Line::from(vec![
            Span::styled(format!("{sign} "), theme.status(status)),
            Span::raw(shortened(title, room)),
            Span::styled(note, theme.dim),
        ])];
        let is_diff = |part: &ToolContent| matches!(part, ToolContent::Diff { .. });
        if self.is_unfolded {
            self.draw_content((amount, MAX_LINES), |_| true, width, theme, &mut lines);
        } else if self.content.iter().any(is_diff) {
            let amount = self.content.iter().filter(|part| is_diff(part)).map(lines_in).sum();
            self.draw_content((amount, MAX_DIFF_LINES), is_diff, width, theme, &mut lines);
        }
        lines
    }

    /// Draws the wanted parts of the content: `amount` lines, of which at most `most` are shown.
    fn draw_content(
        &self,
        (amount, most): (usize, usize),
        is_wanted: impl Fn(&ToolContent) -> bool,
        width: usize,
        theme: &Theme,
        lines: &mut Vec<Line<'static>>,
    ) {
        let plain = |line: &str| vec![Span::raw(line.to_owned())];
        let rest = || self.title.lines().skip(1).filter(|_| self.is_unfolded);
        let content = self.content.iter().filter(|part| is_wanted(part)).flat_map(|part| drawn(part, theme));
        let mut room = MAX_BYTES;
        let mut left = rest().count() + amount;
        let mut cut = 0;
        for spans in rest().map(plain).chain(content).take(most) {
            let length = spans.iter().map(|span| span.content.len()).sum::<usize>();
            let spans = shortened_to(spans, room);
            let end = spans.iter().map(|span| span.content.len()).sum::<usize>();
            lines.extend(wrap(&spans, width, "  ", "  "));
            (room, left, cut) = (room - end, left - 1, length - end);
            if room == 0 || cut > 0 {
                break;
            }
        }
        if cut > 0 {
            let text = format!("  … {} more of this line", bytes(cut as u64));
            lines.push(Line::from(Span::styled(text, theme.dim)));
        }
        if left > 0 {
            let hint = if self.is_unfolded { "" } else { " (Ctrl-O)" };
            let text = format!("  … {}{hint}", count(left, "more line", "more lines"));
            lines.push(Line::from(Span::styled(text, theme.dim)));
        }
    }
}

/// Cuts spans to a number of bytes.
fn shortened_to(mut spans: Vec<Span<'static>>, bytes: usize) -> Vec<Span<'static>> {
    let mut room = bytes;
    for span in &mut spans {
        let end = span.content.floor_char_boundary(room);
        span.content.to_mut().truncate(end);
        room -= end;
    }
    spans
}

fn lines_in(part: &ToolContent) -> usize {
    match part {
        ToolContent::Text { text } => text.lines().count(),
        ToolContent::Diff { old, new, .. } => 1 + changed(old, new).len(),
    }
}

/// Returns the lines of a part of the content lazily.
fn drawn<'a>(part: &'a ToolContent, theme: &'a Theme) -> Box<dyn Iterator<Item = Vec<Span<'static>>> + 'a> {
    match part {
        ToolContent::Text { text } => {
            Box::new(text.lines().map(|line| vec![Span::styled(line.to_owned(), theme.dim)]))
        }
        ToolContent::Diff { path, old, new } => {
            let language = Language::named(path);
            let (added, removed) = (theme.status(Status::Completed), theme.status(Status::Failed));
            let lines = changed(old, new).into_iter().map(move |line| {
                let (sign, text, style) = match line {
                    Changed::Same(line) => ("  ", line, theme.dim),
                    Changed::Removed(line) => ("- ", line, removed),
                    Changed::Added(line) => ("+ ", line, added),
                    Changed::Gap => ("⋯", "", theme.dim),
                };
                // Removed lines keep one colour, so that both sides can be told apart at a glance.
                let language = language.filter(|_| matches!(line, Changed::Added(_)));
                let base = if language.is_some() { Style::new() } else { style };
                let mut spans = vec![Span::styled(sign, style)];
                spans.extend(highlight::spans(text, language, base, theme));
                spans
            });
            let title = vec![Span::styled(path.clone(), theme.title)];
            Box::new(std::iter::once(title).chain(lines))
        }
    }
}
