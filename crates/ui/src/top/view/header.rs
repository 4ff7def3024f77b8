//! Draws the first line.

use meanwhile::engine::model::{Status, visible};
use mw_desk::query::{Sort, States};
use mw_desk::rows::icon;
use mw_desk::text::{cell, count, shortened};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::top::state::State;

/// Draws the first line: the number of tasks in each state, the active filters, and the order.
pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let list = &state.list;
    let bold = |text: String| Span::styled(text, Style::new().add_modifier(Modifier::BOLD));
    let mut left = Vec::new();
    if let Some(problem) = &state.watch_error {
        let style = state.theme.on_header(state.theme.error);
        left.push(Span::styled(format!("  ✗ not updating: {}", shortened(problem, 40)), style));
    }
    if !state.marked.is_empty() {
        left.push(bold(format!("  * {} marked", state.marked.len())));
    }
    let query = &list.query;
    let mut chip = |name: &str, value: Option<String>| {
        left.extend(value.map(|value| Span::raw(format!("  {name}:{}", shortened(&value, 24)))));
    };
    chip("state", states_word(query.states).map(str::to_owned));
    chip("session", query.session.clone());
    chip("batch", query.batch.clone());
    chip("text", (!query.text.is_empty()).then(|| query.text.clone()));
    chip("sort", (query.sort != Sort::State).then(|| query.order_word().to_owned()));
    buffer.set_style(area, state.theme.header);
    // Words are left out if the line is too narrow for them.
    let mut lines = [Words::All, Words::Live].into_iter().map(|words| title(state, words, &left));
    let is_fitting = |line: &Line<'_>| line.width() <= usize::from(area.width);
    let line = lines.find(|line| is_fitting(line)).unwrap_or_else(|| title(state, Words::None, &left));
    buffer.set_line(area.x, area.y, &line, area.width);
}

/// Which counts have words next to their signs.
#[derive(Clone, Copy)]
enum Words {
    All,
    Live,
    None,
}

/// Returns the first line with these words, and with the texts after the counts.
fn title(state: &State, words: Words, after: &[Span<'static>]) -> Line<'static> {
    let name = Span::styled(" mw top ", Style::new().add_modifier(Modifier::BOLD));
    Line::from_iter(std::iter::once(name).chain(counted(state, words)).chain(after.iter().cloned()))
}

/// Returns the number of tasks in each state. States without tasks are left out, except running.
fn counted(state: &State, words: Words) -> Vec<Span<'static>> {
    let counts = state.list.counts;
    let theme = &state.theme;
    let waits = state.list.waits.min(counts.running);
    let states = [
        (icon(Status::Running), counts.running - waits, "running", theme.status(Status::Running), true),
        ("!", waits, "waiting", theme.waits(), false),
        (icon(Status::Pending), counts.queued, "queued", Style::new(), false),
        (icon(Status::Failed), counts.failed, "failed", theme.error, false),
        (icon(Status::Completed), counts.completed, "done", theme.status(Status::Completed), false),
        (icon(Status::Cancelled), counts.cancelled, "cancelled", theme.status(Status::Cancelled), false),
    ];
    let shown = states.into_iter().filter(|(_, count, _, _, always)| *always || *count > 0);
    let span = |(sign, count, word, style, _): (&str, usize, &str, Style, bool)| {
        let has_word = match words {
            Words::All => true,
            Words::Live => !matches!(word, "done" | "cancelled"),
            Words::None => false,
        };
        let text = if has_word { format!(" {sign} {count} {word} ") } else { format!(" {sign}{count}") };
        Span::styled(text, theme.on_header(style))
    };
    shown.map(span).collect()
}

/// Draws the line that announces open approval requests. It has the colour of an alarm in its whole width.
pub(super) fn alarm(state: &State, area: Rect, buffer: &mut Buffer) {
    let Some(first) = state.proposed.first().filter(|_| area.height > 0) else { return };
    let asked = count(state.proposed.len(), "approval required: A", "approvals required: A");
    let what = visible(&first.what);
    let text = format!(" ‼ {asked} answers   {what}");
    buffer.set_style(area, state.theme.alarm);
    let text = cell(&text, area.width.into());
    buffer.set_stringn(area.x, area.y, text, area.width.into(), state.theme.alarm);
}

/// Returns the word for a filter by state, or nothing if all states are listed.
pub(super) fn states_word(states: States) -> Option<&'static str> {
    match states {
        States::Any => None,
        States::Live => Some("live"),
        States::Only(status) => Some(status.word()),
    }
}
