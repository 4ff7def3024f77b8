//! The log of the selected task, as far as it was read: lines, where one looks at, what was searched for.

use std::collections::VecDeque;

use meanwhile::StreamChoice;
use ratatui::style::Style;

use super::ansi::{Painted, paint};

/// Lines that are kept, and bytes in them.
const MOST_LINES: usize = 100_000;
const MOST_BYTES: usize = 16 << 20;
/// A line that is longer goes on in the next.
const LONGEST_LINE: usize = 8 << 10;

/// Which log to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTarget {
    /// Whose.
    pub id: String,
    /// Of which run.
    pub run: u32,
    /// Which streams.
    pub stream: StreamChoice,
}

/// A stretch of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogChunk {
    /// As it may be shown.
    pub text: String,
    /// Where it begins.
    pub offset: u64,
    /// Where the log ended when it was read.
    pub end: u64,
    /// Bytes between the last stretch and this one that were passed over, because too much came at once.
    pub skipped: u64,
    /// Whether there is anything before it.
    pub has_earlier: bool,
}

/// What was searched for, and where it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    pub(crate) text: String,
    /// Lines that have it.
    pub(crate) lines: Vec<usize>,
    /// Which of them is looked at.
    pub(crate) current: usize,
}

/// The log pane.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) target: Option<LogTarget>,
    pub(crate) lines: VecDeque<Painted>,
    /// The bytes of the last line, while it has no end, and the style it began with.
    open: Option<(String, Style)>,
    style: Style,
    /// Where the first line begins.
    pub(crate) offset: u64,
    pub(crate) end: u64,
    pub(crate) has_earlier: bool,
    /// Whether lines were left out that are not read again.
    pub(crate) is_cut: bool,
    /// Whether the stretch before the first line was asked for.
    pub(crate) awaits_earlier: bool,
    /// Whether anything was read yet.
    pub(crate) is_read: bool,
    pub(crate) problem: Option<String>,
    /// First line to show, where the end is not followed.
    pub(crate) top: usize,
    /// First column to show, where lines are not wrapped.
    pub(crate) left: usize,
    pub(crate) follows: bool,
    pub(crate) wraps: bool,
    pub(crate) stream: StreamChoice,
    pub(crate) search: Option<Search>,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self {
            target: None,
            lines: VecDeque::new(),
            open: None,
            style: Style::new(),
            offset: 0,
            end: 0,
            has_earlier: false,
            is_cut: false,
            awaits_earlier: false,
            is_read: false,
            problem: None,
            top: 0,
            left: 0,
            follows: true,
            wraps: false,
            stream: StreamChoice::Both,
            search: None,
        }
    }

    /// Turns to another log; what was searched for stays.
    pub(crate) fn turn_to(&mut self, target: Option<LogTarget>) {
        let search = self.search.take().map(|search| Search { text: search.text, ..Search::default() });
        *self = Self { target, wraps: self.wraps, stream: self.stream, search, ..Self::new() };
    }

    /// Adds what came.
    pub(crate) fn append(&mut self, chunk: &LogChunk) {
        if !self.is_read {
            (self.offset, self.has_earlier, self.is_read) = (chunk.offset, chunk.has_earlier, true);
        }
        self.end = chunk.end;
        self.problem = None;
        if chunk.skipped > 0 {
            (self.open, self.is_cut) = (None, true);
            let text = format!("[{} passed over: too much came at once]", crate::bytes(chunk.skipped));
            self.lines.push_back(paint(&text, &mut Style::new()));
        }
        self.push_text(&chunk.text);
        self.forget_surplus();
        self.find_again();
    }

    /// Drops the first lines, where there are too many. Where what is left begins is not known then, so what lies
    /// before is not gone back to.
    fn forget_surplus(&mut self) {
        let mut bytes: usize = self.lines.iter().map(|line| line.text.len()).sum();
        let mut surplus = 0;
        while bytes > MOST_BYTES || self.lines.len() - surplus > MOST_LINES {
            bytes -= self.lines[surplus].text.len();
            surplus += 1;
        }
        if surplus > 0 {
            self.lines.drain(..surplus);
            self.top = self.top.saturating_sub(surplus);
            (self.has_earlier, self.is_cut) = (false, true);
        }
    }

    fn push_text(&mut self, text: &str) {
        let mut begun = self.style;
        let text = match self.open.take() {
            Some((open, style)) => {
                self.lines.pop_back();
                begun = style;
                open + text
            }
            None => text.to_owned(),
        };
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let limit = floor_char(rest, LONGEST_LINE);
            let end = rest[..limit].find('\n');
            let (line, taken) = match end {
                Some(end) => (&rest[..end], end + 1),
                None => (&rest[..limit], limit),
            };
            let mut style = begun;
            self.lines.push_back(paint(line, &mut style));
            if end.is_none() && taken == rest.len() && taken < LONGEST_LINE {
                self.open = Some((line.to_owned(), begun));
            }
            begun = style;
            rest = &rest[taken..];
        }
        self.style = begun;
    }

    /// Puts a stretch in front. It ends where the first line begins.
    pub(crate) fn prepend(&mut self, chunk: &LogChunk) {
        self.awaits_earlier = false;
        if chunk.offset >= self.offset {
            self.has_earlier = false;
            return;
        }
        let mut before = Self::new();
        before.push_text(&chunk.text);
        let count = before.lines.len();
        for line in before.lines.into_iter().rev() {
            self.lines.push_front(line);
        }
        (self.offset, self.has_earlier) = (chunk.offset, chunk.has_earlier);
        self.top += count;
        self.find_again();
    }

    /// Returns the first line to show in a pane of this height.
    pub(crate) fn first(&self, height: usize, width: usize) -> usize {
        if !self.follows {
            return self.top.min(self.lines.len().saturating_sub(1));
        }
        let mut left = height;
        let mut first = self.lines.len();
        while first > 0 && left > 0 {
            let rows = self.rows_of(first - 1, width);
            if rows > left && first < self.lines.len() {
                break;
            }
            left = left.saturating_sub(rows);
            first -= 1;
        }
        first
    }

    fn rows_of(&self, line: usize, width: usize) -> usize {
        match (self.wraps, self.lines.get(line)) {
            (true, Some(line)) => super::view::wrapped_rows(&line.text, width),
            (true, None) | (false, _) => 1,
        }
    }

    /// Moves by lines; at the end it follows what comes.
    pub(crate) fn scroll(&mut self, by: isize, height: usize, width: usize) {
        let first = self.first(height, width);
        self.follows = true;
        let last = self.first(height, width);
        self.top = first.saturating_add_signed(by).min(last);
        self.follows = by > 0 && self.top >= last;
    }

    /// Searches for a text; an empty one ends the search.
    pub(crate) fn search_for(&mut self, text: &str, height: usize, width: usize) {
        if text.is_empty() {
            self.search = None;
            return;
        }
        let from = self.first(height, width) + height;
        self.search = Some(Search { text: text.to_owned(), ..Search::default() });
        self.find_again();
        if let Some(search) = &mut self.search {
            // The last one up to the end of what is on screen.
            search.current = search.lines.partition_point(|line| *line < from).saturating_sub(1);
        }
        self.look_at_match(height);
    }

    /// Goes to another line that has the text, round the ends.
    pub(crate) fn next_match(&mut self, by: isize, height: usize) {
        if let Some(search) = &mut self.search
            && !search.lines.is_empty()
        {
            let count = search.lines.len() as isize;
            search.current = (search.current as isize + by).rem_euclid(count) as usize;
        }
        self.look_at_match(height);
    }

    fn look_at_match(&mut self, height: usize) {
        let line = self.search.as_ref().and_then(|search| search.lines.get(search.current).copied());
        if let Some(line) = line {
            self.follows = false;
            self.top = line.saturating_sub(height / 2);
        }
    }

    fn find_again(&mut self) {
        let Some(search) = &mut self.search else { return };
        let matcher = Matcher::new(&search.text);
        search.lines =
            (0..self.lines.len()).filter(|at| matcher.find(&self.lines[*at].text, 0).is_some()).collect();
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

/// Returns the longest length up to a limit that does not cut a character.
fn floor_char(text: &str, limit: usize) -> usize {
    let mut at = limit.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(text: &str, offset: u64) -> LogChunk {
        LogChunk {
            text: text.to_owned(),
            offset,
            end: offset + text.len() as u64,
            skipped: 0,
            has_earlier: offset > 0,
        }
    }

    fn texts(log: &Log) -> Vec<&str> {
        log.lines.iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn lines_that_come_in_parts_are_whole() {
        let mut log = Log::new();
        log.append(&chunk("one\ntw", 0));
        assert_eq!(texts(&log), ["one", "tw"]);
        log.append(&chunk("o\n", 6));
        log.append(&chunk("10%\r", 8));
        log.append(&chunk("20%", 12));
        assert_eq!(texts(&log), ["one", "two", "20%"]);
    }

    #[test]
    fn earlier_lines_do_not_move_what_is_looked_at() {
        let mut log = Log::new();
        log.append(&chunk("c\nd\n", 4));
        (log.follows, log.top) = (false, 1);
        log.prepend(&chunk("a\nb\n", 0));
        assert_eq!((texts(&log), log.top), (vec!["a", "b", "c", "d"], 3));
        assert!(!log.has_earlier);
    }

    #[test]
    fn what_is_searched_for_is_found_around_the_ends() {
        let mut log = Log::new();
        log.append(&chunk("Error one\nfine\nerror two\nfine\n", 0));
        log.search_for("error", 10, 80);
        let at = |log: &Log| log.search.as_ref().map(|search| search.lines[search.current]);
        assert_eq!(at(&log), Some(2));
        log.next_match(1, 10);
        assert_eq!(at(&log), Some(0));
        log.next_match(-1, 10);
        assert_eq!(at(&log), Some(2));
        log.search_for("Error", 10, 80);
        assert_eq!(log.search.as_ref().map(|search| search.lines.len()), Some(1));
    }

    #[test]
    fn a_line_without_end_is_cut_and_whole() {
        let mut log = Log::new();
        for _ in 0..5 {
            log.append(&chunk(&"é".repeat(3000), 0));
        }
        assert_eq!(log.lines.iter().map(|line| line.text.chars().count()).sum::<usize>(), 15_000);
    }

    #[test]
    fn what_is_kept_has_a_limit_and_says_so() {
        let mut log = Log::new();
        let long = "x".repeat(7000) + "\n";
        for _ in 0..3 {
            log.append(&chunk(&long.repeat(1000), 0));
        }
        assert!(log.is_cut && !log.has_earlier);
        assert_eq!(log.lines.len(), MOST_BYTES / 7000);
        let mut log = Log::new();
        log.append(&chunk(&"x\n".repeat(MOST_LINES + 5), 0));
        assert_eq!(log.lines.len(), MOST_LINES);
    }

    #[test]
    fn scrolling_to_the_end_follows_again() {
        let mut log = Log::new();
        log.append(&chunk(&"x\n".repeat(100), 0));
        log.scroll(-10, 20, 80);
        assert_eq!((log.top, log.follows), (70, false));
        log.scroll(10, 20, 80);
        assert_eq!((log.top, log.follows), (80, true));
    }
}
