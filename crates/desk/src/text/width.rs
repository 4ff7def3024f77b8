//! Fits text into columns of a terminal. A terminal draws graphemes separately, so their widths add up.

use meanwhile::engine::clean_text;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Returns the display width of a text.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Returns the beginning of a text that fits into a number of columns, cut between graphemes.
#[must_use]
pub fn cut(text: &str, columns: usize) -> &str {
    let mut width = 0;
    let end = text.grapheme_indices(true).find(|(_, grapheme)| {
        width += grapheme.width();
        width > columns
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// Cuts a text to a number of columns and removes control characters. A text that was cut ends with `…`.
#[must_use]
pub fn shortened(text: &str, columns: usize) -> String {
    let text: String = clean_text(text).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if cut(&text, columns).len() == text.len() {
        return text;
    }
    format!("{}…", cut(&text, columns.saturating_sub(1)))
}

/// Cuts a path to a number of columns from the left, because its end is more specific.
#[must_use]
pub fn shortened_path(path: &str, columns: usize) -> String {
    let path = shortened(path, usize::MAX);
    if cut(&path, columns).len() == path.len() {
        return path;
    }
    let mut width = 1;
    let end = path.grapheme_indices(true).rev().take_while(|(_, grapheme)| {
        width += grapheme.width();
        width <= columns
    });
    format!("…{}", end.last().map_or("", |(at, _)| &path[at..]))
}

/// Cuts or pads a text to a number of columns.
#[must_use]
pub fn cell(text: &str, width: usize) -> String {
    if width == 0 {
        return String::new();
    }
    let text = shortened(text, width);
    let fill = width.saturating_sub(columns(&text));
    text + &" ".repeat(fill)
}

/// Returns a bar of block characters. It is full only at 100 percent.
#[must_use]
pub fn bar(percent: f64, columns: usize) -> String {
    let filled = ((percent / 100.0 * columns as f64).floor().max(0.0) as usize).min(columns);
    format!("{}{}", "█".repeat(filled), "░".repeat(columns - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_path_is_kept() {
        assert_eq!(shortened_path("/a/b/output.log", 20), "/a/b/output.log");
        assert_eq!(shortened_path("/very/long/output.log", 12), "…/output.log");
        assert_eq!(shortened_path("/x/日本語", 5), "…本語");
    }

    #[test]
    fn texts_are_cut_by_display_width() {
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("日本語", 4), "日…");
        assert_eq!(
            shortened("\u{26a0}\u{fe0f}\u{26a0}\u{fe0f}", 3),
            "\u{26a0}\u{fe0f}…",
            "one character, two columns"
        );
        assert_eq!(shortened("ae\u{301}bc", 3), "ae\u{301}…", "an accent stays with its letter");
        assert_eq!(shortened("a\nb\x1b[31mc", 10), "a bc");
    }

    #[test]
    fn cells_are_padded_and_cut_by_display_width() {
        assert_eq!(cell("ab", 4), "ab  ");
        assert_eq!(cell("abcdef", 4), "abc…");
        assert_eq!(cell("⏳", 4), "⏳  ");
        assert_eq!(cell("日本語", 4), "日… ");
        let family = "\u{1f469}\u{200d}\u{1f467}";
        assert_eq!(cell(&format!("ab{family}cd"), 5), format!("ab{family}…"));
        assert_eq!(cell(&format!("ab{family}cd"), 4), "ab… ", "no part of a character");
    }

    #[test]
    fn cells_have_the_requested_width() {
        for text in ["", "abc", "a long text", "日本語テキスト", "⏳ wait", "a\u{301}b", "x\n\x1b[31my"]
        {
            for width in 1..12 {
                assert_eq!(columns(&cell(text, width)), width, "{text:?} in {width}");
            }
        }
    }

    #[test]
    fn a_bar_shows_the_percentage() {
        assert_eq!([bar(0.0, 4), bar(50.0, 4), bar(100.0, 4)], ["░░░░", "██░░", "████"]);
        assert_eq!([bar(87.0, 3), bar(99.9, 10)], ["██░", "█████████░"], "only 100 % is full");
    }
}
