//! The boxes of mycode: 53 columns, padded by display width.

use mw_desk::text::{cell, columns, cut};

const WIDTH: usize = 53;
/// The width between the borders, without the space after the first.
const INNER: usize = WIDTH - 3;

/// A box with a title. Lines are added one by one.
pub(crate) struct Panel {
    title: &'static str,
    lines: Vec<String>,
}

impl Panel {
    pub(crate) const fn new(title: &'static str) -> Self {
        Self { title, lines: Vec::new() }
    }

    /// Adds a field, cut to fit.
    pub(crate) fn field(mut self, name: &str, value: &str) -> Self {
        self.lines.push(cell(&format!("{name}: {value}").replace('\t', " "), INNER));
        self
    }

    /// Adds a field with a path. A long path continues on the next lines, because a shortened path cannot be used.
    pub(crate) fn path(mut self, name: &str, path: &str) -> Self {
        let home = std::env::var("HOME").unwrap_or_default();
        let text = format!("{name}: {}", below(path, &home).replace('\t', " "));
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let indent = if rest.len() == text.len() { "" } else { "  " };
            let line = whole_parts(rest, INNER - indent.len());
            self.lines.push(cell(&format!("{indent}{line}"), INNER));
            rest = &rest[line.len()..];
        }
        self
    }

    /// Adds a heading with the lines under it, each cut to fit.
    pub(crate) fn block(mut self, name: &str, lines: impl IntoIterator<Item = String>) -> Self {
        let mut lines = lines.into_iter().peekable();
        if lines.peek().is_some() {
            self.lines.push(cell(&format!("{name}:"), INNER));
            self.lines.extend(lines.map(|line| cell(&format!("  {line}"), INNER)));
        }
        self
    }

    pub(crate) fn draw(&self) -> String {
        let head = format!("┌─ {} ", self.title);
        let mut drawn = format!("{head}{}┐\n", "─".repeat(WIDTH - 1 - columns(&head)));
        for line in &self.lines {
            drawn.push_str(&format!("│ {line}│\n"));
        }
        drawn.push_str(&format!("└{}┘", "─".repeat(WIDTH - 2)));
        drawn
    }
}

/// Replaces the user's home directory in a path by a tilde.
fn below(path: &str, home: &str) -> String {
    let home = home.trim_end_matches('/');
    match path.strip_prefix(home).filter(|rest| !home.is_empty() && rest.starts_with('/')) {
        Some(rest) => format!("~{rest}"),
        None => path.to_owned(),
    }
}

/// Returns the part of a path that fits, up to its last slash if there is one.
fn whole_parts(path: &str, width: usize) -> &str {
    let fitting = cut(path, width);
    if fitting.len() == path.len() {
        return path;
    }
    match fitting.rfind('/') {
        Some(at) if at > 0 => &fitting[..=at],
        _ if fitting.is_empty() => path,
        _ => fitting,
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn long_content_stays_inside_the_box_and_a_path_is_complete() {
        let long = format!("/srv/{}/tasks/bash-a1b2c3d4.log", "a-directory/日本語/".repeat(9));
        let one = "x".repeat(150);
        let panel = Panel::new("Background Task Started")
            .field("Command", &"echo 日本\tx ".repeat(20))
            .path("Output", &long)
            .path("Output", &one);
        let drawn = panel.draw();
        assert!(drawn.lines().all(|line| line.width() == 53), "{drawn}");
        let inside = drawn.lines().skip(2).map(|line| line.trim_matches(['│', ' ', '└', '┘', '─']));
        let joined = inside.collect::<String>();
        assert_eq!(joined, format!("Output: {long}Output: {one}"), "{drawn}");
    }

    #[test]
    fn a_path_below_the_home_directory_begins_with_a_tilde() {
        assert_eq!(below("/home/ada/.mycode/tasks/x.log", "/home/ada"), "~/.mycode/tasks/x.log");
        for home in ["", "/", "/home/ad", "/home/ada/.mycode/tasks/x.log"] {
            assert_eq!(below("/home/ada/.mycode/tasks/x.log", home), "/home/ada/.mycode/tasks/x.log");
        }
    }

    #[test]
    fn all_lines_of_a_box_have_the_same_width() {
        let panel =
            Panel::new("Background Task Started").field("Task ID", "bash-a1b2c3d4").field("Status", "⏳");
        let drawn = panel.draw();
        let widths: Vec<_> = drawn.lines().map(UnicodeWidthStr::width).collect();
        assert_eq!(widths, [53; 4], "{drawn}");
        assert_eq!(drawn.lines().next(), Some("┌─ Background Task Started ─────────────────────────┐"));
    }
}
