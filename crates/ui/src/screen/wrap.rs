//! Wraps styled text by display width, at spaces if possible.

use mw_desk::text::columns;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A grapheme with its style and width.
struct Cell<'a> {
    text: &'a str,
    columns: usize,
    style: Style,
}

/// Breaks spans into lines of at most `width` columns, with the prefixes `first` and `rest`.
pub(crate) fn wrap(spans: &[Span<'static>], width: usize, first: &str, rest: &str) -> Vec<Line<'static>> {
    let cells = cells(spans);
    let mut lines = Vec::new();
    let mut begin = 0;
    loop {
        let lead = if lines.is_empty() { first } else { rest };
        let room = width.saturating_sub(columns(lead)).max(2);
        let end = line_end(&cells, begin, room);
        lines.push(line(lead, &cells[begin..end]));
        begin = end;
        // The space at a line break is not shown.
        if cells.get(begin).is_some_and(|cell| cell.text == " ") && begin > 0 {
            begin += 1;
        }
        if begin >= cells.len() {
            return lines;
        }
    }
}

fn cells<'a>(spans: &'a [Span<'static>]) -> Vec<Cell<'a>> {
    let mut cells = Vec::with_capacity(spans.iter().map(|span| span.content.len()).sum());
    for span in spans {
        let style = span.style;
        for text in span.content.graphemes(true) {
            match text {
                "\t" => cells.extend([" "; 4].map(|text| Cell { text, columns: 1, style })),
                text if text.contains(char::is_control) => {}
                text => cells.push(Cell { text, columns: text.width(), style }),
            }
        }
    }
    cells
}

fn line_end(cells: &[Cell<'_>], begin: usize, room: usize) -> usize {
    let mut used = 0;
    let mut blank = None;
    // Leading spaces are an indent.
    let text = cells[begin..].iter().position(|cell| cell.text != " ").map_or(begin, |at| begin + at);
    for (at, cell) in cells.iter().enumerate().skip(begin) {
        used += cell.columns;
        let is_blank = cell.text == " ";
        if used > room {
            return if is_blank { at } else { blank.filter(|at| *at > text).unwrap_or(at.max(begin + 1)) };
        }
        if is_blank {
            blank = Some(at);
        }
    }
    cells.len()
}

fn line(lead: &str, cells: &[Cell<'_>]) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    if !lead.is_empty() {
        spans.push(Span::raw(lead.to_owned()));
    }
    let mut run = String::new();
    let mut style = Style::new();
    for cell in cells {
        if cell.style != style && !run.is_empty() {
            spans.push(Span::styled(std::mem::take(&mut run), style));
        }
        style = cell.style;
        run.push_str(cell.text);
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
    fn lines_are_wrapped_at_spaces_by_display_width() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 5), ["one", "two", "three"]);
        assert_eq!(wrapped("日本語テキスト", 5), ["日本", "語テ", "キス", "ト"]);
        assert_eq!(wrapped("  onetwothree four", 6), ["  onet", "wothre", "e four"]);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("a\tb\u{1b}c", 20), ["a    bc"]);
    }

    #[test]
    fn graphemes_are_not_split() {
        let (warning, family) = ("\u{26a0}\u{fe0f}", "\u{1f469}\u{200d}\u{1f4bb}");
        assert_eq!(wrapped(&warning.repeat(3), 4), [warning.repeat(2), warning.to_owned()]);
        assert_eq!(wrapped(&family.repeat(3), 5), [family.repeat(2), family.to_owned()]);
        assert_eq!(wrapped("abe\u{301}c", 3), ["abe\u{301}", "c"]);
    }

    #[test]
    fn text_can_be_wrapped_at_any_width() {
        for width in 0..4 {
            assert_eq!(wrapped("日本", width).concat(), "日本");
        }
    }
}
