//! A text field with a cursor and editing keys.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

/// Text with a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextField {
    pub(crate) text: String,
    /// A byte index at a character boundary.
    pub(crate) cursor: usize,
}

impl TextField {
    /// Creates a field with the cursor at the end.
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), cursor: text.len() }
    }

    /// Performs an editing key. Returns whether the key is one.
    pub(crate) fn edit(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('a') if control => self.home(),
            KeyCode::Char('e') if control => self.end(),
            KeyCode::Char('w') if control => self.delete_word(),
            KeyCode::Char('u') if control => self.delete_line(),
            KeyCode::Backspace => self.backspace(),
            KeyCode::Delete => self.delete(),
            KeyCode::Left => self.left(),
            KeyCode::Right => self.right(),
            KeyCode::Home => self.home(),
            KeyCode::End => self.end(),
            _ => return false,
        }
        true
    }

    /// Inserts text at the cursor, without control characters.
    pub(crate) fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', "    ");
        let text: String = text.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    fn left(&mut self) {
        self.cursor -= self.text[..self.cursor].graphemes(true).next_back().map_or(0, str::len);
    }

    fn right(&mut self) {
        self.cursor += self.text[self.cursor..].graphemes(true).next().map_or(0, str::len);
    }

    /// Moves the cursor to the beginning of the line.
    fn home(&mut self) {
        self.cursor = self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1);
    }

    /// Moves the cursor to the end of the line.
    fn end(&mut self) {
        self.cursor += self.text[self.cursor..].find('\n').unwrap_or(self.text.len() - self.cursor);
    }

    fn backspace(&mut self) {
        let end = self.cursor;
        self.left();
        self.text.drain(self.cursor..end);
    }

    /// Removes the character after the cursor.
    pub(crate) fn delete(&mut self) {
        let begin = self.cursor;
        self.right();
        self.text.drain(begin..self.cursor);
        self.cursor = begin;
    }

    /// Removes the word before the cursor.
    fn delete_word(&mut self) {
        let before = self.text[..self.cursor].trim_end();
        let begin = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        self.text.drain(begin..self.cursor);
        self.cursor = begin;
    }

    /// Removes the line up to the cursor.
    fn delete_line(&mut self) {
        let end = self.cursor;
        self.home();
        self.text.drain(self.cursor..end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(field: &mut TextField, code: KeyCode) {
        assert!(field.edit(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    #[test]
    fn pasted_text_keeps_line_breaks_but_no_other_control_characters() {
        let mut field = TextField::default();
        field.insert("a\r\nb\x1b[31m\tc\r");
        assert_eq!(field.text, "a\nb[31m    c\n");
    }

    #[test]
    fn keys_edit_by_characters_words_and_lines() {
        let mut field = TextField::new("one two\nthree four");
        assert!(field.edit(KeyEvent::new(KeyCode::Char('w'), KeyModifiers::CONTROL)));
        assert_eq!(field.text, "one two\nthree ");
        assert!(field.edit(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL)));
        assert_eq!(field.text, "one two\n");
        press(&mut field, KeyCode::Backspace);
        press(&mut field, KeyCode::Home);
        press(&mut field, KeyCode::Delete);
        press(&mut field, KeyCode::End);
        field.insert("!");
        assert_eq!(field.text, "ne two!");
        assert!(!field.edit(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)));
    }

    #[test]
    fn the_cursor_moves_by_graphemes() {
        for one in ["e\u{301}", "\u{1f469}\u{200d}\u{1f4bb}", "\u{26a0}\u{fe0f}"] {
            let mut field = TextField::new(&format!("a{one}b"));
            press(&mut field, KeyCode::Left);
            press(&mut field, KeyCode::Left);
            field.insert("x");
            assert_eq!(field.text, format!("ax{one}b"));
            press(&mut field, KeyCode::Right);
            press(&mut field, KeyCode::Backspace);
            assert_eq!(field.text, "axb");
        }
    }
}
