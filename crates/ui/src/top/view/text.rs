//! Fits text into cells by display width.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::screen::shortened;

pub(super) fn width_of(text: &str) -> usize {
    text.width()
}

/// Cuts a text to a number of columns, or fills it up.
pub(super) fn fit(text: &str, columns: usize) -> String {
    if columns == 0 {
        return String::new();
    }
    let mut text = shortened(text, columns);
    text.extend(std::iter::repeat_n(' ', columns.saturating_sub(text.width())));
    text
}

/// The same, at the right.
pub(super) fn fit_right(text: &str, columns: usize) -> String {
    let text = shortened(text, columns);
    format!("{}{text}", " ".repeat(columns.saturating_sub(text.width())))
}

/// Returns `512B`, `1.5M`, `12G`.
pub(super) fn small_bytes(count: u64) -> String {
    let units = ["B", "K", "M", "G", "T"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit > 0 && value < 10.0 {
        format!("{value:.1}{}", units[unit])
    } else {
        format!("{value:.0}{}", units[unit])
    }
}

/// Returns where a text is broken into rows of this width: the byte at which each begins.
pub(in crate::top) fn breaks(text: &str, width: usize) -> Vec<usize> {
    let mut begins = vec![0];
    let mut used = 0;
    for (at, c) in text.char_indices() {
        let columns = c.width().unwrap_or(0);
        if used + columns > width && used > 0 {
            begins.push(at);
            used = 0;
        }
        used += columns;
    }
    begins
}

/// Breaks a text into lines of this width, between words where it can; lines after the first keep its indent.
pub(super) fn filled(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text.trim_end();
    while let Some(limit) = breaks(rest, width).get(1).copied() {
        let indent = rest.len() - rest.trim_start().len();
        let end = rest[..limit].rfind(' ').filter(|at| *at > indent).unwrap_or(limit);
        lines.push(rest[..end].to_owned());
        rest = rest[end..].trim_start();
    }
    lines.push(rest.to_owned());
    lines
}

/// Returns how many rows of this width a text takes.
pub(in crate::top) fn wrapped_rows(text: &str, width: usize) -> usize {
    // Maximum number of lines fit, and a text never takes more columns than bytes.
    if text.len() <= width { 1 } else { breaks(text, width).len() }
}

/// Returns the byte at which a column begins.
pub(super) fn byte_of_column(text: &str, column: usize) -> usize {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        if used >= column {
            return at;
        }
        used += c.width().unwrap_or(0);
    }
    text.len()
}

/// Draws a text over the width of an area.
pub(super) fn put(buffer: &mut Buffer, area: Rect, y: u16, text: &str, style: Style) {
    if y < area.bottom() {
        buffer.set_stringn(area.x, y, fit(text, area.width.into()), area.width.into(), style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_the_width_asked_for() {
        for text in ["", "abc", "a long text", "日本語テキスト", "⏳ wait", "a\u{301}b", "x\n\x1b[31my"]
        {
            for columns in 1..12 {
                assert_eq!(fit(text, columns).width(), columns, "{text:?} in {columns}");
                assert!(fit_right(text, columns).width() == columns, "{text:?} in {columns}");
            }
        }
    }

    #[test]
    fn sizes_are_short() {
        let texts = [0, 999, 1000, 1536, 120 << 20, 1_100_000_000, 5 << 40].map(small_bytes);
        assert_eq!(texts, ["0B", "999B", "1.0K", "1.5K", "120M", "1.0G", "5.0T"]);
    }

    #[test]
    fn texts_are_broken_between_words_and_lose_nothing() {
        assert_eq!(filled("one two three", 8), ["one two", "three"]);
        assert_eq!(filled("  onetwothree four", 6), ["  onet", "wothre", "e four"]);
        assert_eq!(filled("", 6), [""]);
    }

    #[test]
    fn long_lines_are_broken_by_columns() {
        assert_eq!(breaks("abcdef", 4), [0, 4]);
        assert_eq!(breaks("日本語", 4), [0, 6]);
        assert_eq!(breaks("日本語", 1), [0, 3, 6]);
        assert_eq!(wrapped_rows("", 10), 1);
    }
}
