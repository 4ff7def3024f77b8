//! Draws Markdown tables. Columns are as wide as their content, or as the screen allows.

use mw_desk::text::columns;
use ratatui::layout::Alignment;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::markdown::inline;
use crate::screen::{Theme, wrap};

/// The minimum width of a column.
const MIN_COLUMN_WIDTH: usize = 3;

/// The maximum number of rows that decide the widths of columns. Rows below them stay as they were written.
const MAX_ROWS: usize = 500;

/// The separator between two columns.
const BETWEEN: &str = " │ ";

/// Draws the table at the beginning of these lines, if there is one and it fits. Returns its lines and the number of
/// lines it was read from.
pub(super) fn draw(lines: &[&str], width: usize, theme: &Theme) -> Option<(Vec<Line<'static>>, usize)> {
    let [head, rule, ..] = lines else { return None };
    let head = cells(head)?;
    let sides = rule_cells(rule).filter(|sides| sides.len() == head.len())?;
    let below = lines[2..].iter().take(MAX_ROWS).map_while(|line| cells(line));
    let below = below.map(|row| fitted(row, sides.len()));
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(below).collect();
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let styled =
        |number: usize, cell: &String| inline(cell, if number == 0 { bold } else { Style::new() }, theme);
    let rows: Vec<Vec<_>> = rows
        .iter()
        .enumerate()
        .map(|(number, row)| row.iter().map(|cell| styled(number, cell)).collect())
        .collect();
    let widths = widths(&rows, width.checked_sub(columns(BETWEEN) * (sides.len() - 1))?)?;
    let mut drawn = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        drawn.extend(draw_row(row, &widths, &sides, theme));
        if number == 0 {
            let rule: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
            drawn.push(Line::from(Span::styled(rule.join("─┼─"), theme.dim)));
        }
    }
    Some((drawn, rows.len() + 1))
}

/// Splits a line at its bars. Returns nothing if there are none.
fn cells(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    if !line.contains('|') {
        return None;
    }
    let inner = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut before = None;
    for c in inner.chars() {
        match (c, cells.last_mut()) {
            ('|', Some(cell)) if before == Some('\\') => {
                cell.pop();
                cell.push('|');
            }
            ('|', _) => cells.push(String::new()),
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
        before = Some(c);
    }
    if cells.len() > 1 && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    Some(cells.iter().map(|cell| cell.trim().to_owned()).collect())
}

/// Parses the delimiter line below the head, which sets the alignment of each column.
fn rule_cells(line: &str) -> Option<Vec<Alignment>> {
    let side = |cell: &String| {
        let dashes = cell.trim_start_matches(':').trim_end_matches(':');
        let is_rule = !dashes.is_empty() && dashes.chars().all(|c| c == '-');
        is_rule.then(|| match (cell.starts_with(':'), cell.ends_with(':')) {
            (true, true) => Alignment::Center,
            (false, true) => Alignment::Right,
            (_, false) => Alignment::Left,
        })
    };
    cells(line)?.iter().map(side).collect()
}

/// Gives a row as many cells as there are columns. Surplus cells are joined to the last one.
fn fitted(mut row: Vec<String>, number: usize) -> Vec<String> {
    if row.len() > number {
        let rest = row.split_off(number - 1).join(" | ");
        row.push(rest);
    }
    row.resize(number, String::new());
    row
}

/// Distributes the width over the columns. If it is not enough, the widest columns are narrowed.
fn widths(rows: &[Vec<Vec<Span<'static>>>], room: usize) -> Option<Vec<usize>> {
    let width = |cell: &Vec<Span<'static>>| cell.iter().map(|span| columns(&span.content)).sum::<usize>();
    let number = rows.first()?.len();
    let needed = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0).max(1);
    let needed: Vec<usize> = (0..number).map(needed).collect();
    let most = (MIN_COLUMN_WIDTH..=room)
        .rev()
        .find(|most| needed.iter().map(|width| width.min(most)).sum::<usize>() <= room)?;
    Some(needed.iter().map(|width| *width.min(&most)).collect())
}

fn draw_row(
    row: &[Vec<Span<'static>>],
    widths: &[usize],
    sides: &[Alignment],
    theme: &Theme,
) -> Vec<Line<'static>> {
    let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| wrap(cell, *width, "", "")).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let lines = (0..height).map(|at| {
        let mut spans = Vec::new();
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            if column > 0 {
                spans.push(Span::styled(BETWEEN, theme.dim));
            }
            let line = cell.get(at).cloned().unwrap_or_default();
            let missing = width.saturating_sub(line.width());
            let before = match sides[column] {
                Alignment::Left => 0,
                Alignment::Center => missing / 2,
                Alignment::Right => missing,
            };
            spans.push(Span::raw(" ".repeat(before)));
            spans.extend(line.spans);
            // The last column is not padded.
            if column + 1 < cells.len() {
                spans.push(Span::raw(" ".repeat(missing - before)));
            }
        }
        Line::from(spans)
    });
    lines.collect()
}
