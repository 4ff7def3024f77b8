//! Formats numbers and errors for people.

use meanwhile::Error;

/// Returns an error and its hint in one line.
#[must_use]
pub fn error_text(error: &Error) -> String {
    with_hint(&error.to_string(), &error.hint())
}

/// Returns a message and its hint in one line. Either may end with a period.
#[must_use]
pub fn with_hint(message: &str, hint: &str) -> String {
    let message = message.trim_end_matches('.');
    if hint.is_empty() { message.to_owned() } else { format!("{message}; {}", hint.trim_end_matches('.')) }
}

/// Formats an age as `now`, `45s ago`, `12m ago`, `5h ago` or `3d ago`.
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

/// Formats a size as `512 B`, `1.5 KiB` or `10.0 MiB`.
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

#[cfg(test)]
mod tests {
    use meanwhile::engine::model::count;

    use super::*;

    #[test]
    fn ages_have_one_unit() {
        let shown = [900, 45_000, 723_000, 7_500_000, 200_000_000].map(ago);
        assert_eq!(shown, ["now", "45s ago", "12m ago", "2h ago", "2d ago"]);
    }

    #[test]
    fn an_error_and_its_hint_are_one_line_without_doubled_periods() {
        assert_eq!(with_hint("no slot is free", "end a task first"), "no slot is free; end a task first");
        assert_eq!(with_hint("denied.", "ask the user."), "denied; ask the user");
        assert_eq!(with_hint("no model", ""), "no model");
    }

    #[test]
    fn sizes_and_counts_have_their_units() {
        assert_eq!([bytes(512), bytes(1536), bytes(10 << 20)], ["512 B", "1.5 KiB", "10.0 MiB"]);
        assert_eq!(
            [count(1, "process", "processes"), count(2, "process", "processes")],
            ["1 process", "2 processes"]
        );
    }
}
