//! Draws the log: with its colours, matches marked, lines cut or wrapped.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::text::{breaks, byte_of_column, put, width_of};
use crate::screen::Painted;
use crate::top::log::Matcher;
use crate::top::state::State;

pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let log = &state.log;
    if let Some(problem) = &log.problem {
        put(buffer, area, area.y, &format!(" {problem}"), state.theme.error);
        return;
    }
    if log.lines.is_empty() {
        put(buffer, area, area.y, empty_words(state), state.theme.dim);
        return;
    }
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let matcher = log.search.as_ref().map(|search| Matcher::new(&search.text));
    let current = log.search.as_ref().and_then(|search| search.lines.get(search.current).copied());
    let first = log.first(height, width);
    let mut y = area.y;
    for (place, line) in log.lines.iter().enumerate().skip(first.line) {
        let found = matcher.as_ref().map(|matcher| (matcher, current == Some(place)));
        let spans = styled(state, line, found);
        let stretches =
            if log.wraps { breaks(&line.text, width) } else { vec![byte_of_column(&line.text, log.left)] };
        let hidden = if log.wraps && place == first.line { first.row } else { 0 };
        for (at, begin) in stretches.iter().enumerate().skip(hidden) {
            if y >= area.bottom() {
                return;
            }
            let end = stretches.get(at + 1).copied().unwrap_or(line.text.len());
            buffer.set_line(area.x, y, &cut(&spans, &line.text, *begin, end), area.width);
            if !log.wraps && width_of(&line.text[*begin..]) > width {
                buffer.set_string(area.right() - 1, y, "›", state.theme.dim);
            }
            y += 1;
        }
    }
}

fn empty_words(state: &State) -> &'static str {
    match (state.list.selected_row(), state.log.is_read) {
        (None, _) => "  No task is selected.",
        (Some(_), false) => "  loading …",
        (Some(row), true) if row.alive => "  No output yet.",
        (Some(row), true) if row.started_at.is_none() => "  It has not run.",
        (Some(_), true) => "  No output.",
    }
}

/// Returns consecutive byte ranges of a line, each with its style.
fn styled(state: &State, line: &Painted, found: Option<(&Matcher, bool)>) -> Vec<(usize, usize, Style)> {
    let mut stretches = Vec::new();
    for (at, (begin, style)) in line.styles.iter().enumerate() {
        let end = line.styles.get(at + 1).map_or(line.text.len(), |(next, _)| *next);
        stretches.push((*begin, end, state.theme.depth.style(*style)));
    }
    let Some((matcher, is_current)) = found else { return stretches };
    let mark = if is_current { state.theme.found.patch(state.theme.title) } else { state.theme.found };
    let mut from = 0;
    while let Some((begin, end)) = matcher.find(&line.text, from) {
        let mut marked = Vec::new();
        for (a, b, style) in stretches {
            let (inner, outer) = (a.max(begin), b.min(end));
            if inner >= outer {
                marked.push((a, b, style));
                continue;
            }
            marked.extend((a < inner).then_some((a, inner, style)));
            marked.push((inner, outer, mark));
            marked.extend((outer < b).then_some((outer, b, style)));
        }
        stretches = marked;
        from = end;
    }
    stretches
}

fn cut<'line>(
    stretches: &[(usize, usize, Style)],
    text: &'line str,
    begin: usize,
    end: usize,
) -> Line<'line> {
    let within = stretches.iter().filter_map(|(a, b, style)| {
        let (a, b) = ((*a).max(begin), (*b).min(end));
        (a < b).then(|| Span::styled(&text[a..b], *style))
    });
    Line::from(within.collect::<Vec<_>>())
}
