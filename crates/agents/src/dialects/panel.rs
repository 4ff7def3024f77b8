//! mycode's boxes: 53 columns, filled up by what each character takes on screen.

use unicode_width::UnicodeWidthStr;

use super::text::cell;

const WIDTH: usize = 53;
/// What is left between the borders and the blank after the first.
const INNER: usize = WIDTH - 3;

/// A box with a title; lines are added one by one.
pub(super) struct Panel {
    title: &'static str,
    lines: Vec<String>,
}

impl Panel {
    pub(super) const fn new(title: &'static str) -> Self {
        Self { title, lines: Vec::new() }
    }

    /// Adds a field. One that is too long sticks out: a path that is cut cannot be used.
    pub(super) fn field(mut self, name: &str, value: &str) -> Self {
        let text = format!("{name}: {value}");
        let fill = INNER.saturating_sub(text.width());
        self.lines.push(format!("{text}{}", " ".repeat(fill)));
        self
    }

    /// Adds a heading with the lines under it, each cut to fit.
    pub(super) fn block(mut self, name: &str, lines: impl IntoIterator<Item = String>) -> Self {
        let mut lines = lines.into_iter().peekable();
        if lines.peek().is_some() {
            self.lines.push(cell(&format!("{name}:"), INNER));
            self.lines.extend(lines.map(|line| cell(&format!("  {line}"), INNER)));
        }
        self
    }

    pub(super) fn draw(&self) -> String {
        let head = format!("┌─ {} ", self.title);
        let mut drawn = format!("{head}{}┐\n", "─".repeat(WIDTH - 1 - head.width()));
        for line in &self.lines {
            drawn.push_str(&format!("│ {line}│\n"));
        }
        drawn.push_str(&format!("└{}┘", "─".repeat(WIDTH - 2)));
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_box_of_the_source_is_drawn_straight() {
        let panel =
            Panel::new("Background Task Started").field("Task ID", "bash-a1b2c3d4").field("Status", "⏳");
        let drawn = panel.draw();
        let widths: Vec<_> = drawn.lines().map(UnicodeWidthStr::width).collect();
        assert_eq!(widths, [53; 4], "{drawn}");
        assert_eq!(drawn.lines().next(), Some("┌─ Background Task Started ─────────────────────────┐"));
    }
}
