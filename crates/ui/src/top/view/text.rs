//! Fits text into cells by display width.

use mw_desk::text::{cell, shortened};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Cuts or pads a text to a number of columns, aligned to the right.
pub(super) fn fit_right(text: &str, columns: usize) -> String {
    let text = shortened(text, columns);
    format!("{}{text}", " ".repeat(columns.saturating_sub(text.width())))
}

/// Returns the filled and the empty part of a progress bar. It is full only at 100 percent.
pub(super) fn gauge(percent: f64, columns: usize) -> (String, String) {
    let halves = ((percent / 100.0 * columns as f64 * 2.0).floor().max(0.0) as usize).min(columns * 2);
    let full = "━".repeat(halves / 2) + if halves % 2 == 1 { "╸" } else { "" };
    let empty = "─".repeat(columns - halves.div_ceil(2));
    (full, empty)
}

/// Formats a size as `512B`, `1.5M` or `12G`.
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

/// Returns the byte offset of each row if a text is wrapped to this width.
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

/// Splits a text into rows of this width.
pub(in crate::top) fn broken(text: &str, width: usize) -> impl Iterator<Item = &str> {
    let begins = breaks(text, width);
    (0..begins.len()).map(move |at| &text[begins[at]..begins.get(at + 1).copied().unwrap_or(text.len())])
}

/// Returns the number of rows of a text at this width.
pub(in crate::top) fn wrapped_rows(text: &str, width: usize) -> usize {
    // Most lines fit, and a text never has more columns than bytes.
    if text.len() <= width { 1 } else { breaks(text, width).len() }
}

/// Returns the byte offset of a column.
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

/// Draws a text and fills the width of an area.
pub(super) fn put(buffer: &mut Buffer, area: Rect, y: u16, text: &str, style: Style) {
    if y < area.bottom() {
        buffer.set_stringn(area.x, y, cell(text, area.width.into()), area.width.into(), style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_the_requested_width() {
        for text in ["", "abc", "a long text", "日本語テキスト", "⏳ wait", "a\u{301}b", "x\n\x1b[31my"]
        {
            for columns in 1..12 {
                assert!(fit_right(text, columns).width() == columns, "{text:?} in {columns}");
            }
        }
    }

    #[test]
    fn a_gauge_is_full_only_at_the_end() {
        let joined = |percent| {
            let (full, empty) = gauge(percent, 3);
            full + &empty
        };
        assert_eq!([0.0, 50.0, 87.0, 99.9, 100.0].map(joined), ["───", "━╸─", "━━╸", "━━╸", "━━━"]);
    }

    #[test]
    fn sizes_have_a_one_letter_unit() {
        let texts = [0, 999, 1000, 1536, 120 << 20, 1_100_000_000, 5 << 40].map(small_bytes);
        assert_eq!(texts, ["0B", "999B", "1.0K", "1.5K", "120M", "1.0G", "5.0T"]);
    }

    #[test]
    fn long_lines_are_wrapped_by_columns() {
        assert_eq!(breaks("abcdef", 4), [0, 4]);
        assert_eq!(breaks("日本語", 4), [0, 6]);
        assert_eq!(breaks("日本語", 1), [0, 3, 6]);
        assert_eq!(wrapped_rows("", 10), 1);
    }
}
