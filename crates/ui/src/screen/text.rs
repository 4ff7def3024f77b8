//! Shortens text to a display width.

use meanwhile::engine::clean_text;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Cuts a text to a number of columns and removes control characters.
#[must_use]
pub fn shortened(text: &str, columns: usize) -> String {
    let text: String = clean_text(text).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.width() <= columns {
        return text;
    }
    let cut: String = text.graphemes(true).take_while(fits_beside_mark(columns)).collect();
    format!("{cut}…")
}

/// Cuts a path to a number of columns from the left, because its end is more specific.
#[must_use]
pub fn shortened_path(path: &str, columns: usize) -> String {
    let path = shortened(path, usize::MAX);
    if path.width() <= columns {
        return path;
    }
    let end: Vec<&str> = path.graphemes(true).rev().take_while(fits_beside_mark(columns)).collect();
    std::iter::once("…").chain(end.into_iter().rev()).collect()
}

/// Returns a predicate for graphemes that holds as long as they fit into the columns together with the ellipsis.
fn fits_beside_mark(columns: usize) -> impl FnMut(&&str) -> bool {
    let mut used = 1;
    move |grapheme| {
        used += grapheme.width();
        used <= columns
    }
}

/// Returns the display width of a text. A terminal draws graphemes separately, so their widths add up.
pub(crate) fn columns(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Returns a bar of block characters.
#[must_use]
pub fn bar(percent: f64, columns: usize) -> String {
    let filled = ((percent / 100.0 * columns as f64).round() as usize).min(columns);
    format!("{}{}", "█".repeat(filled), "░".repeat(columns - filled))
}

/// Encodes a path for a `file://` URL.
pub(crate) fn address_path(path: &str) -> String {
    let written = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    path.bytes().map(written).collect()
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
    fn a_bar_shows_the_percentage() {
        assert_eq!([bar(0.0, 4), bar(50.0, 4), bar(100.0, 4)], ["░░░░", "██░░", "████"]);
    }

    #[test]
    fn special_characters_in_a_url_path_are_encoded() {
        assert_eq!(address_path("/a-b/c_1.log~"), "/a-b/c_1.log~");
        assert_eq!(address_path("/ü #?;%"), "/%C3%BC%20%23%3F%3B%25");
    }
}
