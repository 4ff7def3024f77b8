//! Searches the log.

use unicode_width::UnicodeWidthStr;

use super::{Log, Place};
use crate::screen::Painted;
use crate::top::view::breaks;

/// What was searched for, and where it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    pub(crate) text: String,
    /// Lines that have it.
    pub(crate) lines: Vec<usize>,
    /// Which of them is looked at.
    pub(crate) current: usize,
}

impl Log {
    /// Searches for a text; an empty one ends the search.
    pub(crate) fn search_for(&mut self, text: &str, height: usize, width: usize) {
        if text.is_empty() {
            self.search = None;
            return;
        }
        let from = self.down(self.first(height, width), height, width).line;
        self.search = Some(Search { text: text.to_owned(), ..Search::default() });
        self.find_from(0);
        if let Some(search) = &mut self.search {
            // The last one up to the end of what is on screen.
            search.current = search.lines.partition_point(|line| *line < from).saturating_sub(1);
        }
        self.look_at_match(height, width);
    }

    /// Goes to another line that has the text, round the ends.
    pub(crate) fn next_match(&mut self, by: isize, height: usize, width: usize) {
        if let Some(search) = &mut self.search
            && !search.lines.is_empty()
        {
            let count = search.lines.len() as isize;
            search.current = (search.current as isize + by).rem_euclid(count) as usize;
        }
        self.look_at_match(height, width);
    }

    /// Moves so that the match is in the middle: its line, and in a long line the part that has it.
    fn look_at_match(&mut self, height: usize, width: usize) {
        let Some(search) = &self.search else { return };
        let Some(line) = search.lines.get(search.current).copied() else { return };
        let text = &self.lines[line].text;
        let (begin, end) = Matcher::new(&search.text).find(text, 0).unwrap_or((0, 0));
        let row = if self.wraps { breaks(text, width).partition_point(|at| *at <= begin) - 1 } else { 0 };
        let (column, right) = (text[..begin].width(), text[..end].width());
        if self.wraps {
            self.left = 0;
        } else if column < self.left || right > self.left + width {
            self.left = if right <= width { 0 } else { column.saturating_sub(width / 2) };
        }
        self.follows = false;
        self.top = self.up(Place { line, row }, height / 2, width);
    }

    /// Looks for the text in the lines from a place on; what was found before it is still true.
    pub(super) fn find_from(&mut self, from: usize) {
        let Some(search) = &mut self.search else { return };
        let matcher = Matcher::new(&search.text);
        search.lines.truncate(search.lines.partition_point(|line| *line < from));
        let has_it = |(_, line): &(usize, &Painted)| matcher.find(&line.text, 0).is_some();
        search.lines.extend(self.lines.iter().enumerate().skip(from).filter(has_it).map(|(at, _)| at));
        search.current = search.current.min(search.lines.len().saturating_sub(1));
    }
}

/// Finds a text; capital letters matter only if it has some.
pub(crate) struct Matcher {
    text: String,
    exact: bool,
}

impl Matcher {
    pub(crate) fn new(text: &str) -> Self {
        let exact = text.chars().any(char::is_uppercase);
        Self { text: text.to_owned(), exact }
    }

    /// Returns where it is, from an offset on.
    pub(crate) fn find(&self, line: &str, from: usize) -> Option<(usize, usize)> {
        if self.text.is_empty() {
            return None;
        }
        let tail = line.get(from..)?;
        let found = if self.exact {
            tail.find(&self.text)
        } else {
            // Lower case of letters beyond ASCII may have another length, so those are compared as they are.
            let (tail, text) = (tail.as_bytes(), self.text.as_bytes());
            tail.windows(text.len()).position(|window| window.eq_ignore_ascii_case(text))
        };
        found.map(|at| (from + at, from + at + self.text.len()))
    }
}
