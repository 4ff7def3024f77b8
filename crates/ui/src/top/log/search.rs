//! Searches the log.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use super::{Log, LogPosition};
use crate::screen::Painted;
use crate::top::effect::Direction;
use crate::top::view::breaks;

/// A search and its matches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    pub(crate) text: String,
    /// The indices of the lines that match.
    pub(crate) lines: Vec<usize>,
    /// The index of the current match in `lines`.
    pub(crate) current: usize,
}

impl Log {
    /// Searches for a text. An empty text ends the search.
    pub(crate) fn search_for(&mut self, text: &str, height: usize, width: usize) {
        if text.is_empty() {
            self.search = None;
            return;
        }
        let from = self.down(self.first(height, width), height, width).line;
        self.search = Some(Search { text: text.to_owned(), ..Search::default() });
        self.find_from(0);
        if let Some(search) = &mut self.search {
            // The current match is the last one before the end of the visible part.
            search.current = search.lines.partition_point(|line| *line < from).saturating_sub(1);
        }
        self.look_at_match(height, width);
    }

    /// Moves to another match, and wraps around at the ends.
    pub(crate) fn next_match(&mut self, by: isize, height: usize, width: usize) {
        if let Some(search) = &mut self.search
            && !search.lines.is_empty()
        {
            let count = search.lines.len() as isize;
            search.current = (search.current as isize + by).rem_euclid(count) as usize;
        }
        self.look_at_match(height, width);
    }

    /// Makes the first or the last match the current one, after a search in this direction has found it.
    pub(crate) fn turn_to_match(&mut self, direction: Direction, height: usize, width: usize) {
        if let Some(search) = &mut self.search {
            search.current = match direction {
                Direction::Forward => 0,
                Direction::Backward => search.lines.len().saturating_sub(1),
            };
        }
        self.look_at_match(height, width);
    }

    /// Scrolls until the match is in the middle of the pane. In a long line, the part with the match is shown.
    fn look_at_match(&mut self, height: usize, width: usize) {
        let Some(search) = &self.search else { return };
        let Some(line) = search.lines.get(search.current).copied() else { return };
        let text = &self.lines[line].text;
        let Range { start: begin, end } = Matcher::new(&search.text).find(text).unwrap_or(0..0);
        let row = if self.wraps { breaks(text, width).partition_point(|at| *at <= begin) - 1 } else { 0 };
        let (column, right) = (text[..begin].width(), text[..end].width());
        if self.wraps {
            self.left = 0;
        } else if column < self.left || right > self.left + width {
            self.left = if right <= width { 0 } else { column.saturating_sub(width / 2) };
        }
        self.follows = false;
        self.top = self.up(LogPosition { line, row }, height / 2, width);
    }

    /// Searches the lines from an index on. Matches before it are kept.
    pub(super) fn find_from(&mut self, from: usize) {
        let Some(search) = &mut self.search else { return };
        let matcher = Matcher::new(&search.text);
        search.lines.truncate(search.lines.partition_point(|line| *line < from));
        let has_it = |(_, line): &(usize, &Painted)| matcher.find(&line.text).is_some();
        search.lines.extend(self.lines.iter().enumerate().skip(from).filter(has_it).map(|(at, _)| at));
        search.current = search.current.min(search.lines.len().saturating_sub(1));
    }
}

/// Finds a text. The search ignores case unless the text contains capital letters.
pub(crate) struct Matcher {
    text: String,
    exact: bool,
}

impl Matcher {
    pub(crate) fn new(text: &str) -> Self {
        let exact = text.chars().any(char::is_uppercase);
        Self { text: text.to_owned(), exact }
    }

    /// Returns the first match.
    pub(crate) fn find(&self, line: &str) -> Option<Range<usize>> {
        if self.text.is_empty() {
            return None;
        }
        let at = if self.exact {
            line.find(&self.text)
        } else {
            // The lower case of a letter beyond ASCII may have another length, so only ASCII letters are compared
            // without case.
            let (line, text) = (line.as_bytes(), self.text.as_bytes());
            line.windows(text.len()).position(|window| window.eq_ignore_ascii_case(text))
        }?;
        Some(at..at + self.text.len())
    }

    /// Returns all matches.
    pub(crate) fn find_all(&self, line: &str) -> Vec<Range<usize>> {
        let mut from = 0;
        let next = || {
            let found = self.find(line.get(from..)?)?;
            let found = from + found.start..from + found.end;
            from = found.end;
            Some(found)
        };
        std::iter::from_fn(next).collect()
    }
}
