//! The log pane: lines and scroll position.

use std::collections::VecDeque;

use meanwhile::engine::StreamChoice;
use mw_desk::log_window::{LogChunk, LogTarget};
use ratatui::style::Style;

use super::search::Search;
use crate::screen::{Painted, paint};
use crate::top::view::wrapped_rows;

/// The maximum number of lines in memory.
const MAX_LINES: usize = 100_000;
/// The maximum size of these lines in bytes.
const MAX_BYTES: usize = 16 << 20;
/// The maximum length of a line in bytes. A longer line continues in the next one.
const MAX_LINE_BYTES: usize = 8 << 10;

/// Returns the memory use of a line, including its colours.
fn size(line: &Painted) -> usize {
    line.text.len() + size_of_val(&*line.styles)
}

/// A row of the log. A wrapped line has several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LogPosition {
    pub(crate) line: usize,
    pub(crate) row: usize,
}

/// The log pane.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) target: Option<LogTarget>,
    pub(crate) lines: VecDeque<Painted>,
    /// The bytes of the incomplete last line, and the style at its start.
    open: Option<(String, Style)>,
    style: Style,
    /// The offset of the first line.
    pub(crate) offset: u64,
    pub(crate) end: u64,
    pub(crate) has_earlier: bool,
    /// Whether lines were dropped that cannot be read again.
    pub(crate) is_cut: bool,
    /// Whether the part before the first line was requested.
    pub(crate) awaits_earlier: bool,
    /// Whether the part after the last line was requested.
    pub(crate) awaits_later: bool,
    /// The offset after the last line, if it is known.
    pub(crate) next: Option<u64>,
    /// The parts of the log that begin with a line: the index of the line and its offset. Lines are dropped up to such
    /// a border, so that they can be read again.
    borders: VecDeque<(usize, u64)>,
    /// Whether any part was read.
    pub(crate) is_read: bool,
    pub(crate) problem: Option<String>,
    /// The size of the lines in bytes.
    bytes: usize,
    /// Whether output after the last line was dropped, because the visible part is far above the end. It is read again
    /// when the end is shown.
    pub(crate) is_withheld: bool,
    /// The first visible line and its first row, if the end is not followed.
    pub(crate) top: LogPosition,
    /// The first visible column, if lines are not wrapped.
    pub(crate) left: usize,
    pub(crate) follows: bool,
    pub(crate) wraps: bool,
    pub(crate) stream: StreamChoice,
    pub(crate) search: Option<Search>,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self { follows: true, ..Self::default() }
    }

    /// Switches to another log and keeps the search.
    pub(crate) fn turn_to(&mut self, target: Option<LogTarget>) {
        let search = self.search.take().map(|search| Search { text: search.text, ..Search::default() });
        *self = Self { target, wraps: self.wraps, stream: self.stream, search, ..Self::new() };
    }

    /// Adds output.
    pub(crate) fn append(&mut self, chunk: &LogChunk) {
        if !self.is_read {
            (self.offset, self.has_earlier, self.is_read) = (chunk.offset, chunk.has_earlier, true);
        }
        self.end = self.end.max(chunk.end);
        self.problem = None;
        if self.is_withheld {
            return;
        }
        // The last line may continue, so it is parsed again.
        let before = self.lines.len() - usize::from(self.open.is_some());
        if chunk.skipped > 0 {
            (self.open, self.is_cut) = (None, true);
            let text = format!("[{} skipped: output too fast]", mw_desk::text::bytes(chunk.skipped));
            self.push_line(paint(&text, &mut Style::new()));
        }
        self.push_chunk(chunk);
        self.find_from(before);
        self.forget_surplus();
    }

    fn push_chunk(&mut self, chunk: &LogChunk) {
        if self.open.is_none() {
            self.borders.push_back((self.lines.len(), chunk.offset));
        }
        self.push_text(&chunk.text());
        self.next = Some(chunk.next);
    }

    /// Shows another part of the log, from its first line on.
    pub(crate) fn jump(&mut self, chunk: &LogChunk) {
        let search = self.search.take().map(|search| Search { text: search.text, ..Search::default() });
        let (target, wraps, stream) = (self.target.take(), self.wraps, self.stream);
        *self = Self { target, wraps, stream, search, ..Self::default() };
        (self.offset, self.end, self.has_earlier, self.is_read) =
            (chunk.offset, chunk.end, chunk.has_earlier, true);
        // Output that is printed now follows the end, which may be far away.
        self.is_withheld = true;
        self.push_chunk(chunk);
        self.find_from(0);
    }

    /// Adds the part after the last line.
    pub(crate) fn extend(&mut self, chunk: &LogChunk) {
        self.awaits_later = false;
        if !self.is_withheld || self.next.is_none_or(|next| next > chunk.offset) {
            return;
        }
        self.end = self.end.max(chunk.end);
        let before = self.lines.len() - usize::from(self.open.is_some());
        self.push_chunk(chunk);
        self.find_from(before);
        self.forget_first();
    }

    /// Returns whether there is output after the last line that can be read.
    pub(crate) fn has_later(&self) -> bool {
        self.is_withheld && self.next.is_some_and(|next| next < self.end)
    }

    /// Returns whether parts of the log are not loaded that can be searched.
    pub(crate) fn has_more(&self) -> bool {
        self.has_earlier || self.has_later() || self.is_cut
    }

    fn push_line(&mut self, line: Painted) {
        self.bytes += size(&line);
        self.lines.push_back(line);
    }

    fn is_too_much(&self) -> bool {
        self.bytes > MAX_BYTES || self.lines.len() > MAX_LINES
    }

    /// Drops lines if there are too many, beginning with those farthest from the visible part.
    fn forget_surplus(&mut self) {
        if self.follows { self.forget_first() } else { self.forget_last() }
    }

    /// Drops the first lines, up to the next border. If there is none, the offset of the remaining lines is unknown, and
    /// earlier parts are not read again.
    fn forget_first(&mut self) {
        let mut surplus = 0;
        let mut pop = |log: &mut Self| {
            let line = log.lines.pop_front();
            log.bytes -= line.as_ref().map_or(0, size);
            surplus += usize::from(line.is_some());
            line.is_some()
        };
        while self.is_too_much() && pop(self) {}
        if surplus > 0 {
            let border =
                self.borders.iter().find(|(line, _)| *line >= surplus && *line < surplus + MAX_LINES / 4);
            match border.copied() {
                Some((line, offset)) => {
                    while surplus < line {
                        self.bytes -= self.lines.pop_front().as_ref().map_or(0, size);
                        surplus += 1;
                    }
                    (self.has_earlier, self.offset) = (true, offset);
                }
                None => (self.has_earlier, self.is_cut) = (false, true),
            }
            self.borders.retain(|(line, _)| *line >= surplus);
            self.borders.iter_mut().for_each(|(line, _)| *line -= surplus);
            self.top.line = self.top.line.saturating_sub(surplus);
            if let Some(search) = &mut self.search {
                let gone = search.lines.partition_point(|line| *line < surplus);
                search.lines.drain(..gone);
                search.lines.iter_mut().for_each(|line| *line -= surplus);
                search.current = search.current.saturating_sub(gone);
            }
        }
    }

    /// Drops the last lines. Later output is not added, because there would be a gap.
    fn forget_last(&mut self) {
        let before = self.lines.len();
        while self.is_too_much() {
            let Some(line) = self.lines.pop_back() else { break };
            self.bytes -= size(&line);
            (self.is_withheld, self.open) = (true, None);
        }
        if self.lines.len() < before {
            // Up to the last border, so that the rest can be read again.
            self.borders.retain(|(line, _)| *line <= self.lines.len());
            let border = self.borders.back().copied().filter(|(line, _)| *line > self.top.line);
            self.next = border.map(|(_, offset)| offset);
            if let Some((line, _)) = border {
                let dropped = self.lines.drain(line..).map(|line| size(&line)).sum::<usize>();
                self.bytes -= dropped;
            }
        }
        if let Some(search) = &mut self.search {
            let kept = search.lines.partition_point(|line| *line < self.lines.len());
            search.lines.truncate(kept);
            search.current = search.current.min(kept.saturating_sub(1));
        }
    }

    fn push_text(&mut self, text: &str) {
        let mut begun = self.style;
        let text = match self.open.take() {
            Some((open, style)) => {
                self.bytes -= self.lines.pop_back().map_or(0, |line| size(&line));
                begun = style;
                open + text
            }
            None => text.to_owned(),
        };
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let limit = rest.floor_char_boundary(MAX_LINE_BYTES);
            let end = rest[..limit].find('\n');
            let (line, taken) = match end {
                Some(end) => (&rest[..end], end + 1),
                None => (&rest[..limit], limit),
            };
            let mut style = begun;
            self.push_line(paint(line, &mut style));
            if end.is_none() && taken == rest.len() && taken < MAX_LINE_BYTES {
                self.open = Some((line.to_owned(), begun));
            }
            begun = style;
            rest = &rest[taken..];
        }
        self.style = begun;
    }

    /// Adds a part before the first line.
    pub(crate) fn prepend(&mut self, chunk: &LogChunk) {
        self.awaits_earlier = false;
        if chunk.offset >= self.offset {
            self.has_earlier = false;
            return;
        }
        let mut before = Self::new();
        before.push_text(&chunk.text());
        // If a part ends within a line, the line continues with the existing one.
        if before.open.is_some()
            && let (Some(mut begun), Some(rest)) = (before.lines.pop_back(), self.lines.pop_front())
        {
            before.bytes -= size(&begun);
            self.bytes -= size(&rest);
            let length = begun.text.len();
            begun.text.push_str(&rest.text);
            begun.styles.extend(rest.styles.iter().map(|(at, style)| (at + length, *style)));
            self.bytes += size(&begun);
            self.lines.push_front(begun);
        }
        let count = before.lines.len();
        self.borders.iter_mut().for_each(|(line, _)| *line += count);
        self.borders.push_front((0, chunk.offset));
        for line in before.lines.into_iter().rev() {
            self.lines.push_front(line);
        }
        self.bytes += before.bytes;
        (self.offset, self.has_earlier) = (chunk.offset, chunk.has_earlier);
        self.top.line += count;
        self.find_from(0);
        self.forget_surplus();
    }

    /// Returns the first row to show in a pane of this height.
    pub(crate) fn first(&self, height: usize, width: usize) -> LogPosition {
        if !self.follows {
            let line = self.top.line.min(self.lines.len().saturating_sub(1));
            return LogPosition { line, row: self.top.row.min(self.rows_of(line, width) - 1) };
        }
        let end = LogPosition { line: self.lines.len(), row: 0 };
        self.up(end, height, width)
    }

    /// Returns the row that is a number of rows above another.
    pub(super) fn up(&self, from: LogPosition, by: usize, width: usize) -> LogPosition {
        let mut left = by;
        let mut at = from;
        while left > at.row {
            left -= at.row;
            if at.line == 0 {
                return LogPosition::default();
            }
            at = LogPosition { line: at.line - 1, row: self.rows_of(at.line - 1, width) };
        }
        LogPosition { row: at.row - left, ..at }
    }

    /// Returns the row that is a number of rows below another.
    pub(super) fn down(&self, from: LogPosition, by: usize, width: usize) -> LogPosition {
        let mut at = LogPosition { row: from.row.saturating_add(by), ..from };
        while at.line < self.lines.len() && at.row >= self.rows_of(at.line, width) {
            at = LogPosition { line: at.line + 1, row: at.row - self.rows_of(at.line, width) };
        }
        at
    }

    fn rows_of(&self, line: usize, width: usize) -> usize {
        match (self.wraps, self.lines.get(line)) {
            (true, Some(line)) => wrapped_rows(&line.text, width),
            (true, None) | (false, _) => 1,
        }
    }

    /// Scrolls by rows; at the end it follows new output.
    pub(crate) fn scroll(&mut self, by: isize, height: usize, width: usize) {
        let first = self.first(height, width);
        self.follows = true;
        let last = self.first(height, width);
        let wanted = match by {
            ..0 => self.up(first, by.unsigned_abs(), width),
            0.. => self.down(first, by.unsigned_abs(), width),
        };
        self.top = wanted.min(last);
        // After the end of a part in the middle of the log, the next one is read.
        self.follows = by > 0 && self.top >= last && (by == isize::MAX || !self.has_later());
    }
}

#[cfg(test)]
#[path = "pane_tests.rs"]
mod tests;
