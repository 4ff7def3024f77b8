//! Breaks styled text into lines, by what it takes on screen: at blanks where there are any, else anywhere.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthChar;

/// Breaks spans into lines of at most `width` columns; `first` and `rest` stand in front of them.
pub(super) fn wrap(spans: &[Span<'static>], width: usize, first: &str, rest: &str) -> Vec<Line<'static>> {
    let cells: Vec<(char, Style)> = spans
        .iter()
        .flat_map(|span| span.content.chars().map(move |c| (c, span.style)))
        .flat_map(|(c, style)| match c {
            '\t' => vec![(' ', style); 4],
            c if c.is_control() => Vec::new(),
            c => vec![(c, style)],
        })
        .collect();
    let mut lines = Vec::new();
    let mut begin = 0;
    loop {
        let lead = if lines.is_empty() { first } else { rest };
        let room = width.saturating_sub(columns(lead)).max(2);
        let end = line_end(&cells, begin, room);
        lines.push(line(lead, &cells[begin..end]));
        begin = end;
        // The blank at which a line was broken is not shown.
        if cells.get(begin).is_some_and(|(c, _)| *c == ' ') && begin > 0 {
            begin += 1;
        }
        if begin >= cells.len() {
            return lines;
        }
    }
}

pub(super) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

fn line_end(cells: &[(char, Style)], begin: usize, room: usize) -> usize {
    let mut used = 0;
    let mut blank = None;
    for (at, (c, _)) in cells.iter().enumerate().skip(begin) {
        used += c.width().unwrap_or(0);
        if used > room {
            return if *c == ' ' { at } else { blank.filter(|at| *at > begin).unwrap_or(at.max(begin + 1)) };
        }
        if *c == ' ' {
            blank = Some(at);
        }
    }
    cells.len()
}

fn line(lead: &str, cells: &[(char, Style)]) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    if !lead.is_empty() {
        spans.push(Span::raw(lead.to_owned()));
    }
    let mut run = String::new();
    let mut style = Style::new();
    for (c, next) in cells {
        if *next != style && !run.is_empty() {
            spans.push(Span::styled(std::mem::take(&mut run), style));
        }
        style = *next;
        run.push(*c);
    }
    if !run.is_empty() {
        spans.push(Span::styled(run, style));
    }
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, width: usize) -> Vec<String> {
        wrap(&[Span::raw(text.to_owned())], width, "", "").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn lines_are_broken_at_blanks_and_by_what_they_take_on_screen() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 5), ["one", "two", "three"]);
        assert_eq!(wrapped("日本語テキスト", 5), ["日本", "語テ", "キス", "ト"]);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("a\tb\u{1b}c", 20), ["a    bc"]);
    }

    #[test]
    fn no_width_is_too_small() {
        for width in 0..4 {
            assert_eq!(wrapped("日本", width).concat(), "日本");
        }
    }
}
