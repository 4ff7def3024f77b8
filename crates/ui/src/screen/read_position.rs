//! The scroll position in a text that must be read before it is answered.

/// The position in a question that may be longer than the screen. Scrolling never skips a line that was not visible
/// yet, so a text whose last line was visible was shown completely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadPosition {
    /// The first visible line.
    top: usize,
    /// The number of lines from the first that have been visible.
    seen: usize,
}

impl ReadPosition {
    /// Returns the first visible line if `rows` of `lines` fit on the screen.
    pub(crate) fn top(self, rows: usize, lines: usize) -> usize {
        self.top.min(lines.saturating_sub(rows))
    }

    /// Records that the lines at this position are visible.
    pub(crate) fn show(&mut self, rows: usize, lines: usize) {
        self.top = self.top(rows, lines);
        if rows > 0 {
            self.seen = self.seen.max(self.top + rows);
        }
    }

    /// Scrolls by lines.
    pub(crate) fn scroll(&mut self, by: isize, rows: usize, lines: usize) {
        self.show(rows, lines);
        self.top = self.top.saturating_add_signed(by).min(self.seen);
        self.show(rows, lines);
    }

    /// Returns whether all lines have been visible.
    pub(crate) const fn is_read(self, lines: usize) -> bool {
        self.seen >= lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_skipped_on_the_way_to_the_end() {
        let mut position = ReadPosition::default();
        let mut visible = [false; 23];
        for _ in 0..10 {
            let top = position.top(5, 23);
            visible[top..top + 5].fill(true);
            position.show(5, 23);
            assert_eq!(position.is_read(23), visible.iter().all(|line| *line));
            position.scroll(isize::MAX, 5, 23);
        }
        assert!(position.is_read(23), "{position:?}");
        position.scroll(isize::MIN, 5, 23);
        assert_eq!((position.top(5, 23), position.is_read(23)), (0, true), "what was read stays read");
    }

    #[test]
    fn a_screen_without_room_shows_nothing() {
        let mut position = ReadPosition::default();
        position.scroll(isize::MAX, 0, 3);
        assert!(!position.is_read(3), "{position:?}");
    }

    #[test]
    fn a_taller_screen_shows_lines_up_to_the_end() {
        let mut position = ReadPosition::default();
        position.scroll(isize::MAX, 5, 12);
        position.scroll(isize::MAX, 5, 12);
        assert_eq!(position.top(5, 12), 7);
        position.show(12, 12);
        assert_eq!(position.top(12, 12), 0);
    }
}
