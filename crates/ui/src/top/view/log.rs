//! Draws the log with its colours and search matches. Lines are cut or wrapped.

use std::ops::Range;

use mw_desk::text::columns;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::text::{breaks, byte_of_column, put};
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
    for (index, line) in log.lines.iter().enumerate().skip(first.line) {
        let matches = matcher.as_ref().map(|matcher| matcher.find_all(&line.text)).unwrap_or_default();
        let is_current = current == Some(index);
        let mark = if is_current { state.theme.current } else { state.theme.found };
        let stretches =
            if log.wraps { breaks(&line.text, width) } else { vec![byte_of_column(&line.text, log.left)] };
        let hidden = if log.wraps && index == first.line { first.row } else { 0 };
        for (at, begin) in stretches.iter().enumerate().skip(hidden) {
            if y >= area.bottom() {
                return;
            }
            let end = stretches.get(at + 1).copied().unwrap_or(line.text.len());
            buffer.set_line(area.x, y, &part(state, line, &matches, mark, *begin..end), area.width);
            if !log.wraps && columns(&line.text[*begin..]) > width {
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

/// Returns a part of a line with its colours and matches.
fn part<'line>(
    state: &State,
    line: &'line Painted,
    matches: &[Range<usize>],
    mark: Style,
    part: Range<usize>,
) -> Line<'line> {
    let styles = line.styles.iter().map(|(at, _)| *at);
    let ends = matches.iter().flat_map(|found| [found.start, found.end]);
    let mut cuts: Vec<_> =
        styles.chain(ends).filter(|at| part.contains(at)).chain([part.start, part.end]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let span = |cut: &[usize]| {
        let style = match line.styles.iter().rfind(|(at, _)| *at <= cut[0]) {
            _ if matches.iter().any(|found| found.contains(&cut[0])) => mark,
            Some((_, style)) => state.theme.depth.style(*style),
            None => Style::new(),
        };
        Span::styled(&line.text[cut[0]..cut[1]], style)
    };
    Line::from(cuts.windows(2).map(span).collect::<Vec<_>>())
}
