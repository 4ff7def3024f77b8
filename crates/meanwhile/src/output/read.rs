//! The read primitive: stream × (offset | tail | cursor) × limits.

use mw_model::TaskState;
use mw_model::wire::{EntryKind, drop_marker};

use super::tail::{tail_start, window_start};
use super::view::LogView;
use crate::error::{Error, Result};
use crate::runtime::Runtime;
use crate::task::{Scope, Task};

/// Which streams to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamChoice {
    /// Interleaved, as printed.
    #[default]
    Both,
    /// Both, in the order in which they were printed, and told apart.
    Apart,
    /// Standard output only.
    Stdout,
    /// Standard error only.
    Stderr,
}

impl StreamChoice {
    /// Returns the word used for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Both | Self::Apart => "both",
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }

    pub(super) const fn takes(self, kind: EntryKind) -> bool {
        matches!(
            (self, kind),
            (Self::Both | Self::Apart, _)
                | (Self::Stdout, EntryKind::Stdout(_) | EntryKind::Drop(_))
                | (Self::Stderr, EntryKind::Stderr(_) | EntryKind::Drop(_))
        )
    }
}

/// Where to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// At a logical offset.
    Offset(u64),
    /// So that this many lines are left.
    TailLines(u64),
    /// So that this many bytes are left.
    TailBytes(u64),
    /// Where this reader left off; reading moves it.
    Cursor(String),
}

/// What to read.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    /// Which streams.
    pub stream: StreamChoice,
    /// Where to begin.
    pub from: From,
    /// Most bytes to return; 0 = no limit.
    pub max_bytes: u64,
    /// Most lines to return; 0 = no limit.
    pub max_lines: u64,
    /// Which run; absent = the present or last one.
    pub run: Option<u32>,
    /// How many of the last bytes of these streams are looked at, from a line's beginning on; 0 = all. What is
    /// older is passed over, wherever reading begins.
    pub within: u64,
}

impl Default for ReadRequest {
    fn default() -> Self {
        Self {
            stream: StreamChoice::Both,
            from: From::Offset(0),
            max_bytes: 8192,
            max_lines: 0,
            run: None,
            within: 0,
        }
    }
}

/// A stretch of output, or of its absence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes of stdout (or of both, where streams were not asked for).
    Stdout(Vec<u8>),
    /// Bytes of stderr.
    Stderr(Vec<u8>),
    /// This many bytes are not in the log.
    Dropped(u64),
}

/// What was read.
#[derive(Clone, Debug)]
pub struct ReadReply {
    /// The output, in order.
    pub pieces: Vec<Piece>,
    /// Logical offset of the first byte.
    pub offset: u64,
    /// Where to go on.
    pub next_offset: u64,
    /// Whether nothing is left and nothing more can come.
    pub eof: bool,
    /// Whether the view misses bytes: some lie before it, some are left, or some were dropped.
    pub truncated: bool,
    /// Bytes of this run that are not in the log.
    pub dropped_bytes: u64,
    /// Logical end of the output.
    pub end: u64,
    /// How many bytes of the streams asked for come after what was read.
    pub left: u64,
    /// Whether the streams asked for have bytes before the first one shown.
    pub has_earlier: bool,
    /// How many bytes of these streams would have been read, were they not older than what is looked at.
    pub passed_over: u64,
}

impl ReadReply {
    /// Returns the bytes, with a marker where some were dropped.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Stdout(bytes) | Piece::Stderr(bytes) => all.extend_from_slice(bytes),
                Piece::Dropped(count) => all.extend_from_slice(drop_marker(*count).as_bytes()),
            }
        }
        all
    }

    /// Returns the text; bytes that are no UTF-8 show as replacement characters.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

impl Runtime {
    /// Reads a task's output.
    ///
    /// # Errors
    /// When the task is unknown, or its log is gone.
    pub fn read(&self, handle: &str, scope: &Scope, request: &ReadRequest) -> Result<ReadReply> {
        let id = self.resolve(handle, scope)?;
        let task = self.current(&id)?;
        self.read_task(&task, request)
    }

    pub(crate) fn read_task(&self, task: &Task, request: &ReadRequest) -> Result<ReadReply> {
        let run = request.run.unwrap_or_else(|| task.state.run());
        let over = is_over(task, run);
        if matches!(task.state, TaskState::Pending { .. } | TaskState::Starting { .. })
            && run == task.state.run()
        {
            return Ok(nothing_yet());
        }
        let never_ran = matches!(&task.state, TaskState::Ended { started_at: None, .. });
        if never_ran && run == task.state.run() {
            return Ok(ReadReply { eof: true, ..nothing_yet() });
        }
        let view = self.view(task, run, request.stream)?;
        let (end, dropped_bytes) = view.size();
        let asked = match &request.from {
            From::Offset(offset) => (*offset).min(end),
            From::TailLines(lines) => tail_start(&view, request.stream, *lines, u64::MAX)
                .map_err(Error::io("cannot read the log"))?,
            From::TailBytes(bytes) => tail_start(&view, request.stream, u64::MAX, *bytes)
                .map_err(Error::io("cannot read the log"))?,
            From::Cursor(reader) => {
                self.store()?.cursor(reader, &task.id, request.stream.word(), run)?.min(end)
            }
        };
        let left = bytes_after(&view, request.stream, asked);
        let start = if request.within == 0 || left <= request.within {
            asked
        } else {
            let window = window_start(&view, request.stream, request.within);
            window.map_err(Error::io("cannot read the log"))?.max(asked)
        };
        let (pieces, next_offset) =
            take(&view, request, start, end, over).map_err(Error::io("cannot read the log"))?;
        if let From::Cursor(reader) = &request.from {
            self.store()?.set_cursor(reader, &task.id, request.stream.word(), run, next_offset)?;
        }
        let has_earlier = misses_before(&view, request.stream, start);
        let has_gap = pieces.iter().any(|piece| matches!(piece, Piece::Dropped(_)));
        let from_tail = matches!(request.from, From::TailLines(_) | From::TailBytes(_));
        Ok(ReadReply {
            pieces,
            offset: start,
            next_offset,
            eof: over && next_offset >= end,
            // A log that ends before the recorded end was cut by somebody.
            truncated: next_offset < end
                || has_gap
                || start > asked
                || (from_tail && has_earlier)
                || (over && end < task.output_bytes),
            dropped_bytes,
            end,
            left: bytes_after(&view, request.stream, next_offset),
            has_earlier,
            passed_over: left - bytes_after(&view, request.stream, start),
        })
    }

    pub(crate) fn view(&self, task: &Task, run: u32, stream: StreamChoice) -> Result<LogView> {
        let directory = if run == task.state.run() {
            self.home.task(&task.id)
        } else {
            self.home.earlier_run(&task.id, run)
        };
        LogView::open(&directory, stream).map_err(|error| Error::Damaged {
            id: task.id.to_string(),
            message: format!("the log of run {run} cannot be read: {error}"),
        })
    }

    pub(crate) fn output_size(&self, task: &Task) -> Option<(u64, u64)> {
        self.view(task, task.state.run(), StreamChoice::Both).ok().map(|view| view.size())
    }
}

/// Tells whether nothing more can come of a run.
pub(super) fn is_over(task: &Task, run: u32) -> bool {
    match &task.state {
        TaskState::Ended { .. } => task.survivors == 0,
        _ => run < task.state.run(),
    }
}

/// Tells whether the streams asked for have bytes before an offset.
fn misses_before(view: &LogView, stream: StreamChoice, start: u64) -> bool {
    view.parts().iter().any(|part| part.logical < start && part.len > 0 && stream.takes(part.kind))
}

/// Counts what the streams asked for have from an offset on, dropped bytes included.
fn bytes_after(view: &LogView, stream: StreamChoice, offset: u64) -> u64 {
    let parts = view.parts().iter().filter(|part| stream.takes(part.kind));
    parts.map(|part| (part.logical + part.len).saturating_sub(offset.max(part.logical))).sum()
}

const fn nothing_yet() -> ReadReply {
    ReadReply {
        pieces: Vec::new(),
        offset: 0,
        next_offset: 0,
        eof: false,
        truncated: false,
        dropped_bytes: 0,
        end: 0,
        left: 0,
        has_earlier: false,
        passed_over: 0,
    }
}

/// Takes output from `start` on until a limit is reached; returns it and where to go on.
fn take(
    view: &LogView,
    request: &ReadRequest,
    start: u64,
    end: u64,
    over: bool,
) -> std::io::Result<(Vec<Piece>, u64)> {
    let mut bytes_left = if request.max_bytes == 0 { u64::MAX } else { request.max_bytes };
    let mut lines_left = if request.max_lines == 0 { u64::MAX } else { request.max_lines };
    let mut pieces = Vec::new();
    let mut next = start;
    for part in view.parts().iter().filter(|part| part.logical + part.len > start) {
        // What is not asked for is passed over even when the limit is reached: it is not left to be read.
        if !request.stream.takes(part.kind) {
            next = part.logical + part.len;
            continue;
        }
        if bytes_left == 0 || lines_left == 0 {
            break;
        }
        let from = start.max(part.logical);
        if let EntryKind::Drop(count) = part.kind {
            pieces.push(Piece::Dropped(count));
            next = part.logical + part.len;
            continue;
        }
        let most = usize::try_from(bytes_left).unwrap_or(usize::MAX);
        let mut bytes = view.bytes(part, from, most)?;
        if let Some(cut) = nth_line_end(&bytes, lines_left) {
            bytes.truncate(cut);
        }
        lines_left = lines_left.saturating_sub(memchr::memchr_iter(b'\n', &bytes).count() as u64);
        let reached = from + bytes.len() as u64;
        if reached < end || !over {
            // Part of a character is left for the next read.
            let whole = whole_characters(&bytes);
            if whole > 0 {
                bytes.truncate(whole);
            }
        }
        next = from + bytes.len() as u64;
        bytes_left -= bytes.len() as u64;
        let short = next < part.logical + part.len;
        append(&mut pieces, part.kind, bytes);
        if short {
            break;
        }
    }
    Ok((pieces, next))
}

fn append(pieces: &mut Vec<Piece>, kind: EntryKind, bytes: Vec<u8>) {
    match (pieces.last_mut(), kind) {
        (Some(Piece::Stdout(last)), EntryKind::Stdout(_))
        | (Some(Piece::Stderr(last)), EntryKind::Stderr(_)) => last.extend(bytes),
        (_, EntryKind::Stdout(_)) => pieces.push(Piece::Stdout(bytes)),
        (_, EntryKind::Stderr(_)) => pieces.push(Piece::Stderr(bytes)),
        (_, EntryKind::Drop(count)) => pieces.push(Piece::Dropped(count)),
    }
}

fn nth_line_end(bytes: &[u8], lines: u64) -> Option<usize> {
    let nth = usize::try_from(lines).ok()?.checked_sub(1)?;
    memchr::memchr_iter(b'\n', bytes).nth(nth).map(|at| at + 1)
}

/// Returns the length without a trailing part of a character.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        // An error without a length is a character cut short at the end.
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => {
            let last = bytes.len().saturating_sub(3);
            let start = bytes[last..].iter().rposition(|byte| byte & 0xC0 == 0xC0).map(|at| last + at);
            match start.map(|start| (start, std::str::from_utf8(&bytes[start..]))) {
                Some((start, Err(error))) if error.error_len().is_none() && error.valid_up_to() == 0 => start,
                _ => bytes.len(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_not_cut() {
        assert_eq!(whole_characters("aé".as_bytes()), 3);
        assert_eq!(whole_characters(&"aé".as_bytes()[..2]), 1);
        assert_eq!(whole_characters(&"x€".as_bytes()[..3]), 1);
        assert_eq!(whole_characters(b"\xff\xfe"), 2);
        assert_eq!(whole_characters(b"\xff\xc3"), 1);
        assert_eq!(whole_characters(b""), 0);
    }

    #[test]
    fn lines_are_counted_to_the_end_of_each() {
        assert_eq!(nth_line_end(b"a\nb\nc", 1), Some(2));
        assert_eq!(nth_line_end(b"a\nb\nc", 2), Some(4));
        assert_eq!(nth_line_end(b"a\nb\nc", 3), None);
    }
}
