//! Text formatting that several dialects share.

use meanwhile::Task;
use meanwhile::engine::clean_text;
use mw_model::{Dialect, Timestamp, clipped};

/// Formats a time as `2026-02-09 14:30:22`.
pub(crate) fn clock(at: Timestamp) -> String {
    let (year, month, day, hour, minute, second) = at.civil();
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Returns the first line of a text without control characters, shortened.
#[must_use]
pub fn first_line(text: &str) -> String {
    const MAX: usize = 200;
    let line = text.lines().map(clean_text).find(|line| !line.trim().is_empty());
    clipped(line.as_deref().unwrap_or_default().trim(), MAX)
}

/// Returns the first line of a command, with a mark if more follow.
pub(crate) fn beginning(command: &str) -> String {
    let first = first_line(command);
    let has_more = command.lines().filter(|line| !line.trim().is_empty()).count() > 1;
    if has_more && !first.ends_with('…') { format!("{first} …") } else { first }
}

/// Returns a task's command, shortened. It may be a script of any length, and is shown next to others.
pub(crate) fn command(task: &Task) -> String {
    const MAX: usize = 500;
    clipped(&task.command, MAX)
}

/// Quotes a text on one line.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.extend(c.escape_default()),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns the description of a task, or the first line of its command.
pub(crate) fn title(task: &Task) -> String {
    first_line(task.description.as_deref().unwrap_or(&task.command))
}

/// Returns co-cli's handle of a task, which contains time and program: `task_20260209_143022_pytest_k3f9`.
pub(crate) fn dated(task: &Task) -> String {
    Dialect::CoCli.handle(task)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_with_text_is_used_and_shortened() {
        assert_eq!(first_line("\n  \x1b[1m\n echo a\nb"), "echo a");
        assert_eq!(first_line(&"x".repeat(300)).chars().count(), 201);
    }

    #[test]
    fn quoted_text_stays_on_one_line() {
        assert_eq!(quoted("echo \"a\"\n\t\x1b"), r#""echo \"a\"\n\t\u{1b}""#);
    }
}
