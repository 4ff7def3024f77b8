//! The input field, with several lines, a cursor and a history.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::screen::TextField;

/// The input field and earlier inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Composer {
    pub(super) field: TextField,
    history: Vec<String>,
    /// The index of the visible history entry, and the draft that it replaced.
    browsed: Option<(usize, String)>,
}

impl Composer {
    pub(super) fn text(&self) -> &str {
        &self.field.text
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.field.text.is_empty()
    }

    /// Takes the text and adds it to the history.
    pub(super) fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.field).text;
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

    /// Adds a message of the transcript to the history, unless it was written in this field.
    pub(super) fn recall(&mut self, text: &str) {
        if !self.history.iter().any(|known| known == text) {
            self.remember(text);
        }
    }

    pub(super) fn clear(&mut self) {
        self.field = TextField::default();
        self.browsed = None;
    }

    /// Moves up a line, or back in the history from the first line.
    pub(super) fn up(&mut self) {
        let TextField { text, cursor } = &mut self.field;
        match text[..*cursor].rfind('\n') {
            Some(before) => {
                let column = text[before + 1..*cursor].graphemes(true).count();
                let begin = text[..before].rfind('\n').map_or(0, |at| at + 1);
                *cursor = at_column(text, begin, before, column);
            }
            None => self.browse(-1),
        }
    }

    /// Moves down a line, or forward in the history from the last line.
    pub(super) fn down(&mut self) {
        let TextField { text, cursor } = &mut self.field;
        match text[*cursor..].find('\n') {
            Some(after) => {
                let line = text[..*cursor].rfind('\n').map_or(0, |at| at + 1);
                let column = text[line..*cursor].graphemes(true).count();
                let begin = *cursor + after + 1;
                let end = text[begin..].find('\n').map_or(text.len(), |at| begin + at);
                *cursor = at_column(text, begin, end, column);
            }
            None => self.browse(1),
        }
    }

    fn browse(&mut self, by: isize) {
        let now = self.browsed.as_ref().map_or(self.history.len(), |(at, _)| *at);
        let Some(next) = now.checked_add_signed(by).filter(|next| *next <= self.history.len()) else {
            return;
        };
        let draft = self.browsed.take().map_or_else(|| self.field.text.clone(), |(_, draft)| draft);
        self.field = TextField::new(self.history.get(next).unwrap_or(&draft));
        if next < self.history.len() {
            self.browsed = Some((next, draft));
        }
    }

    /// Wraps the text. Returns the rows, and the row and column of the cursor.
    pub(super) fn rows(&self, width: usize) -> (Vec<String>, (usize, usize)) {
        let width = width.max(2);
        let mut rows = vec![String::new()];
        let (mut used, mut cursor) = (0, (0, 0));
        for (at, grapheme) in self.field.text.grapheme_indices(true) {
            let columns = if grapheme == "\n" { 0 } else { grapheme.width() };
            if used + columns > width {
                rows.push(String::new());
                used = 0;
            }
            if (at..at + grapheme.len()).contains(&self.field.cursor) {
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
        if self.field.cursor == self.field.text.len() {
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
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::*;

    fn press(composer: &mut Composer, code: KeyCode) {
        assert!(composer.field.edit(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn typed(text: &str) -> Composer {
        let mut composer = Composer::default();
        composer.field.insert(text);
        composer
    }

    #[test]
    fn the_cursor_moves_by_characters_and_lines() {
        let mut composer = typed("äö\nü");
        composer.up();
        composer.field.insert("x");
        assert_eq!(composer.text(), "äxö\nü");
        press(&mut composer, KeyCode::End);
        press(&mut composer, KeyCode::Backspace);
        press(&mut composer, KeyCode::Home);
        press(&mut composer, KeyCode::Delete);
        assert_eq!(composer.text(), "x\nü");
        composer.down();
        press(&mut composer, KeyCode::End);
        composer.field.edit(KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL));
        assert_eq!(composer.text(), "x\n");
    }

    #[test]
    fn a_cursor_inside_a_grapheme_is_visible() {
        let mut composer = typed("abc\u{301}");
        press(&mut composer, KeyCode::Home);
        press(&mut composer, KeyCode::Right);
        press(&mut composer, KeyCode::Right);
        press(&mut composer, KeyCode::Delete);
        composer.field.insert("\u{301}");
        composer.field.insert("z");
        press(&mut composer, KeyCode::Left);
        composer.field.insert("e");
        assert_eq!(composer.rows(10).1.0, 0);
        assert!(composer.rows(10).1.1 > 1);
    }

    #[test]
    fn the_history_restores_the_draft() {
        let mut composer = Composer::default();
        for text in ["one", "two", "two"] {
            composer.field.insert(text);
            composer.take();
        }
        composer.field.insert("draft");
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
    fn rows_are_wrapped_by_columns_with_the_cursor_position() {
        assert_eq!(typed("abcdef").rows(4), (vec!["abcd".into(), "ef".into()], (1, 2)));
        assert_eq!(typed(&"\u{26a0}\u{fe0f}".repeat(3)).rows(4).0.len(), 2, "each takes two columns");
        assert_eq!(typed("abcd").rows(4), (vec!["abcd".into(), String::new()], (1, 0)));
        assert_eq!(typed("日本").rows(3), (vec!["日".into(), "本".into()], (1, 2)));
        assert_eq!(typed("a\n").rows(4), (vec!["a".into(), String::new()], (1, 0)));
    }
}
