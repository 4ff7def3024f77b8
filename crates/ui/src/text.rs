//! Numbers and texts for people.

use meanwhile::clean_text;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Cuts a text to a number of columns, control characters taken out.
#[must_use]
pub fn shortened(text: &str, columns: usize) -> String {
    let text: String = clean_text(text).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.width() <= columns {
        return text;
    }
    let mut used = 1;
    let fits = |grapheme: &&str| {
        used += grapheme.width();
        used <= columns
    };
    let cut: String = text.graphemes(true).take_while(fits).collect();
    format!("{cut}…")
}

/// Cuts a path to a number of columns from the left: its end says what it is.
#[must_use]
pub fn shortened_path(path: &str, columns: usize) -> String {
    let path = shortened(path, usize::MAX);
    if path.width() <= columns {
        return path;
    }
    let mut used = 1;
    let fits = |grapheme: &&str| {
        used += grapheme.width();
        used <= columns
    };
    let end: Vec<&str> = path.graphemes(true).rev().take_while(fits).collect();
    std::iter::once("…").chain(end.into_iter().rev()).collect()
}

/// Returns `4.2s`, `45s`, `12m 3s`, `2h 5m`.
#[must_use]
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..10 => format!("{:.1}s", ms as f64 / 1000.0),
        10..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        _ => format!("{}h {}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// Returns `now`, `45s ago`, `12m ago`, `5h ago`, `3d ago`.
#[must_use]
pub fn ago(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => "now".to_owned(),
        1..60 => format!("{seconds}s ago"),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..86400 => format!("{}h ago", seconds / 3600),
        _ => format!("{}d ago", seconds / 86400),
    }
}

/// Returns `1 task`, `2 tasks`.
#[must_use]
pub fn count(number: usize, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// Returns a bar of block characters.
#[must_use]
pub fn bar(percent: f64, columns: usize) -> String {
    let filled = ((percent / 100.0 * columns as f64).round() as usize).min(columns);
    format!("{}{}", "█".repeat(filled), "░".repeat(columns - filled))
}

/// Returns `512 B`, `1.5 KiB`, `10.0 MiB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    let scaled = |unit: u64| count as f64 / unit as f64;
    match count {
        0..1024 => format!("{count} B"),
        1024..1_048_576 => format!("{:.1} KiB", scaled(1 << 10)),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", scaled(1 << 20)),
        _ => format!("{:.1} GiB", scaled(1 << 30)),
    }
}

/// Writes a path as it stands in the address of a file.
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
    fn of_a_long_path_the_end_is_kept() {
        assert_eq!(shortened_path("/a/b/output.log", 20), "/a/b/output.log");
        assert_eq!(shortened_path("/very/long/output.log", 12), "…/output.log");
        assert_eq!(shortened_path("/x/日本語", 5), "…本語");
    }

    #[test]
    fn durations_read_naturally() {
        for (ms, text) in [(4200, "4.2s"), (45_000, "45s"), (723_000, "12m 3s"), (7_500_000, "2h 5m")] {
            assert_eq!(duration(ms), text);
        }
    }

    #[test]
    fn ages_have_one_unit() {
        let shown = [900, 45_000, 723_000, 7_500_000, 200_000_000].map(ago);
        assert_eq!(shown, ["now", "45s ago", "12m ago", "2h ago", "2d ago"]);
    }

    #[test]
    fn texts_are_cut_by_what_they_take_on_screen() {
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("日本語", 4), "日…");
        assert_eq!(
            shortened("\u{26a0}\u{fe0f}\u{26a0}\u{fe0f}", 3),
            "\u{26a0}\u{fe0f}…",
            "one sign, two columns"
        );
        assert_eq!(shortened("ae\u{301}bc", 3), "ae\u{301}…", "an accent stays with its letter");
        assert_eq!(shortened("a\nb\x1b[31mc", 10), "a bc");
    }

    #[test]
    fn sizes_and_bars_have_their_steps() {
        assert_eq!([bytes(512), bytes(1536), bytes(10 << 20)], ["512 B", "1.5 KiB", "10.0 MiB"]);
        assert_eq!([bar(0.0, 4), bar(50.0, 4), bar(100.0, 4)], ["░░░░", "██░░", "████"]);
        assert_eq!(
            [count(1, "process", "processes"), count(2, "process", "processes")],
            ["1 process", "2 processes"]
        );
    }

    #[test]
    fn an_address_holds_no_letter_that_means_something_else() {
        assert_eq!(address_path("/a-b/c_1.log~"), "/a-b/c_1.log~");
        assert_eq!(address_path("/ü #?;%"), "/%C3%BC%20%23%3F%3B%25");
    }
}
