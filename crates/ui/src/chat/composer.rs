//! The input field: several lines, a cursor, and a history.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The text of the input field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Composer {
    text: String,
    /// A byte index at a character boundary.
    cursor: usize,
    history: Vec<String>,
    /// The visible entry of the history, and the text that was written before.
    browsed: Option<(usize, String)>,
}

impl Composer {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Takes the text and adds it to the history.
    pub(super) fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        self.cursor = 0;
        self.remember(&text);
        text
    }

    /// Adds an entry to the history, unless it equals the last one.
    pub(super) fn remember(&mut self, text: &str) {
        self.browsed = None;
        if !text.trim().is_empty() && self.history.last().is_none_or(|last| last != text) {
            self.history.push(text.to_owned());
        }
    }

    /// Adds a message of the transcript. Messages that were written here are already known.
    pub(super) fn recall(&mut self, text: &str) {
        if !self.history.iter().any(|known| known == text) {
            self.remember(text);
        }
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.cursor = 0;
        self.browsed = None;
    }

    /// Inserts text at the cursor, without control characters.
    pub(super) fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
        let text: String = text.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    pub(super) fn left(&mut self) {
        self.cursor -= self.text[..self.cursor].graphemes(true).next_back().map_or(0, str::len);
    }

    pub(super) fn right(&mut self) {
        self.cursor += self.text[self.cursor..].graphemes(true).next().map_or(0, str::len);
    }

    /// To the beginning of the line.
    pub(super) fn home(&mut self) {
        self.cursor = self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1);
    }

    /// To the end of the line.
    pub(super) fn end(&mut self) {
        self.cursor += self.text[self.cursor..].find('\n').unwrap_or(self.text.len() - self.cursor);
    }

    pub(super) fn backspace(&mut self) {
        let end = self.cursor;
        self.left();
        self.text.drain(self.cursor..end);
    }

    pub(super) fn delete(&mut self) {
        let begin = self.cursor;
        self.right();
        self.text.drain(begin..self.cursor);
        self.cursor = begin;
    }

    /// Removes the word before the cursor.
    pub(super) fn delete_word(&mut self) {
        let before = self.text[..self.cursor].trim_end();
        let begin = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        self.text.drain(begin..self.cursor);
        self.cursor = begin;
    }

    /// Removes the line up to the cursor.
    pub(super) fn delete_line(&mut self) {
        let end = self.cursor;
        self.home();
        self.text.drain(self.cursor..end);
    }

    /// Up a line, or back in the history from the first one.
    pub(super) fn up(&mut self) {
        match self.text[..self.cursor].rfind('\n') {
            Some(before) => {
                let column = self.text[before + 1..self.cursor].graphemes(true).count();
                let begin = self.text[..before].rfind('\n').map_or(0, |at| at + 1);
                self.cursor = at_column(&self.text, begin, before, column);
            }
            None => self.browse(-1),
        }
    }

    /// Down a line, or forward in the history from the last one.
    pub(super) fn down(&mut self) {
        match self.text[self.cursor..].find('\n') {
            Some(after) => {
                let line = self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1);
                let column = self.text[line..self.cursor].graphemes(true).count();
                let begin = self.cursor + after + 1;
                let end = self.text[begin..].find('\n').map_or(self.text.len(), |at| begin + at);
                self.cursor = at_column(&self.text, begin, end, column);
            }
            None => self.browse(1),
        }
    }

    fn browse(&mut self, by: isize) {
        let now = self.browsed.as_ref().map_or(self.history.len(), |(at, _)| *at);
        let Some(next) = now.checked_add_signed(by).filter(|next| *next <= self.history.len()) else {
            return;
        };
        let draft = self.browsed.take().map_or_else(|| self.text.clone(), |(_, draft)| draft);
        self.text = self.history.get(next).unwrap_or(&draft).clone();
        self.cursor = self.text.len();
        if next < self.history.len() {
            self.browsed = Some((next, draft));
        }
    }

    /// Wraps the text. Returns the rows and the row and column of the cursor.
    pub(super) fn rows(&self, width: usize) -> (Vec<String>, (usize, usize)) {
        let width = width.max(2);
        let mut rows = vec![String::new()];
        let (mut used, mut cursor) = (0, (0, 0));
        for (at, grapheme) in self.text.grapheme_indices(true) {
            let columns = if grapheme == "\n" { 0 } else { grapheme.width() };
            if used + columns > width {
                rows.push(String::new());
                used = 0;
            }
            if (at..at + grapheme.len()).contains(&self.cursor) {
                cursor = (rows.len() - 1, used);
            }
            if grapheme == "\n" {
                rows.push(String::new());
                used = 0;
            } else if let Some(row) = rows.last_mut() {
                row.push_str(grapheme);
                used += columns;
            }
        }
        if self.cursor == self.text.len() {
            if used >= width {
                rows.push(String::new());
                used = 0;
            }
            cursor = (rows.len() - 1, used);
        }
        (rows, cursor)
    }
}

fn at_column(text: &str, begin: usize, end: usize, column: usize) -> usize {
    text[begin..end].grapheme_indices(true).nth(column).map_or(end, |(at, _)| begin + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Composer {
        let mut composer = Composer::default();
        composer.insert(text);
        composer
    }

    #[test]
    fn what_is_pasted_keeps_its_lines_and_nothing_else_that_controls() {
        assert_eq!(typed("a\r\nb\x1b[31m\tc\r").text(), "a\nb[31m    c\n");
    }

    #[test]
    fn the_cursor_moves_by_characters_and_lines() {
        let mut composer = typed("äö\nü");
        composer.up();
        composer.insert("x");
        assert_eq!(composer.text(), "äxö\nü");
        composer.end();
        composer.backspace();
        composer.home();
        composer.delete();
        assert_eq!(composer.text(), "x\nü");
        composer.down();
        composer.end();
        composer.delete_word();
        assert_eq!(composer.text(), "x\n");
    }

    #[test]
    fn what_people_see_as_one_is_one_step() {
        for one in ["e\u{301}", "\u{1f469}\u{200d}\u{1f4bb}", "\u{26a0}\u{fe0f}"] {
            let mut composer = typed(&format!("a{one}b"));
            composer.left();
            composer.left();
            composer.insert("x");
            assert_eq!(composer.text(), format!("ax{one}b"));
            composer.right();
            composer.backspace();
            assert_eq!(composer.text(), "axb");
        }
        assert_eq!(typed(&"\u{26a0}\u{fe0f}".repeat(3)).rows(4).0.len(), 2, "each takes two columns");
    }

    #[test]
    fn a_cursor_inside_of_what_has_grown_together_is_still_seen() {
        let mut composer = typed("abc\u{301}");
        composer.home();
        composer.right();
        composer.right();
        composer.delete();
        composer.insert("\u{301}");
        composer.insert("z");
        composer.left();
        composer.insert("e");
        assert_eq!(composer.rows(10).1.0, 0);
        assert!(composer.rows(10).1.1 > 1);
    }

    #[test]
    fn the_history_gives_the_draft_back() {
        let mut composer = Composer::default();
        for text in ["one", "two", "two"] {
            composer.insert(text);
            composer.take();
        }
        composer.insert("draft");
        let mut seen = Vec::new();
        for _ in 0..3 {
            composer.up();
            seen.push(composer.text().to_owned());
        }
        for _ in 0..3 {
            composer.down();
            seen.push(composer.text().to_owned());
        }
        assert_eq!(seen, ["two", "one", "one", "two", "draft", "draft"]);
    }

    #[test]
    fn rows_are_broken_by_columns_and_know_the_cursor() {
        assert_eq!(typed("abcdef").rows(4), (vec!["abcd".into(), "ef".into()], (1, 2)));
        assert_eq!(typed("abcd").rows(4), (vec!["abcd".into(), String::new()], (1, 0)));
        assert_eq!(typed("日本").rows(3), (vec!["日".into(), "本".into()], (1, 2)));
        assert_eq!(typed("a\n").rows(4), (vec!["a".into(), String::new()], (1, 0)));
    }
}
