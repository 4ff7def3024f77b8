//! The read primitive: stream × (offset | tail | cursor) × limits.

use std::path::Path;

use mw_model::TaskState;
use mw_model::wire::{LOG_FILE, drop_marker};

use super::tail::{next_character, tail_start, window_start};
use super::take::{OutputSlice, take};
use crate::database::Lookup;
use crate::disk::task_dir::log_view::{LogView, StreamChoice};
use crate::error::{Error, Invalid, Result};
use crate::fail_point::fail_point;
use crate::read::Reader;
use crate::reconcile::Reconciler;
use crate::task::{Scope, Task};

/// Where to start reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// At a logical offset.
    Offset(u64),
    /// At the beginning of the last lines.
    TailLines(u64),
    /// At the beginning of the last bytes.
    TailBytes(u64),
    /// Where this reader stopped; reading advances it.
    Cursor(String),
}

/// A request to read output.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    /// The streams to read.
    pub stream: StreamChoice,
    /// Where to start.
    pub from: ReadFrom,
    /// Maximum number of bytes; 0 = no limit.
    pub max_bytes: u64,
    /// Maximum number of lines; 0 = no limit.
    pub max_lines: u64,
    /// The run to read; absent = the current or last one.
    pub run: Option<u32>,
    /// Only the last bytes of these streams are read, from the beginning of a line; 0 = all. Older output is skipped,
    /// wherever reading starts.
    pub within: u64,
}

impl Default for ReadRequest {
    fn default() -> Self {
        Self {
            stream: StreamChoice::Both,
            from: ReadFrom::Offset(0),
            max_bytes: 8192,
            max_lines: 0,
            run: None,
            within: 0,
        }
    }
}

impl ReadRequest {
    /// Returns the limit in bytes.
    pub(super) const fn most_bytes(&self) -> u64 {
        if self.max_bytes == 0 { u64::MAX } else { self.max_bytes }
    }
}

/// A piece of output, or a gap in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes of stdout (or of both streams, if they were not requested separately).
    Stdout(Vec<u8>),
    /// Bytes of stderr.
    Stderr(Vec<u8>),
    /// This many bytes are not in the log.
    Dropped(u64),
}

/// The result of a read.
#[derive(Clone, Debug, Default)]
pub struct ReadReply {
    /// The output, in order.
    pub pieces: Vec<Piece>,
    /// Logical offset of the first byte.
    pub offset: u64,
    /// The offset to continue from.
    pub next_offset: u64,
    /// Whether nothing is left and nothing more can come.
    pub eof: bool,
    /// Whether output is missing from this reply: some is before it, some is after it, or some was dropped.
    pub truncated: bool,
    /// Bytes of this run that are not in the log.
    pub dropped_bytes: u64,
    /// Logical end of the output.
    pub end: u64,
    /// How many bytes of the requested streams follow. The beginning of an incomplete character at the end does not
    /// count, because it cannot be read yet.
    pub left: u64,
    /// Whether the requested streams have bytes before the first one shown.
    pub has_earlier: bool,
    /// How many of those can be read; the rest was dropped.
    pub earlier: u64,
    /// How many bytes of these streams were skipped because of [`ReadRequest::within`].
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

    /// Returns the text, with replacement characters for invalid UTF-8.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }
}

impl Reader<'_> {
    /// Reads a task's output.
    ///
    /// # Errors
    /// When the task is unknown, or its log is gone.
    pub fn read(&self, handle: &str, scope: &Scope, request: &ReadRequest) -> Result<ReadReply> {
        self.read_task(&self.current(handle, scope)?, request)
    }

    /// Finds a task and returns it as it is now.
    pub(super) fn current(&self, handle: &str, scope: &Scope) -> Result<Task> {
        Reconciler::on(self.base).current(&Lookup::on(&self.base.database).resolve(handle, scope)?)
    }

    pub(crate) fn read_task(&self, task: &Task, request: &ReadRequest) -> Result<ReadReply> {
        let run = request.run.unwrap_or_else(|| task.state.run());
        check_run(task, run)?;
        let over = is_over(task, run);
        if self.has_not_run(task, run) {
            return Ok(ReadReply { eof: over, ..ReadReply::default() });
        }
        let view = self.view(task, run, request.stream)?;
        let (end, dropped_bytes) = view.size();
        let asked = match &request.from {
            ReadFrom::Offset(offset) => (*offset).min(end),
            // If the tail is longer than the limit, return its end.
            ReadFrom::TailLines(lines) => tail(&view, request.stream, *lines, request.most_bytes())?,
            ReadFrom::TailBytes(bytes) => tail(&view, request.stream, u64::MAX, *bytes)?,
            ReadFrom::Cursor(reader) => {
                self.base.database.store()?.cursor(reader, &task.id, request.stream.word(), run)?.min(end)
            }
        };
        let left = bytes_after(&view, request.stream, asked);
        let start = if request.within == 0 || left <= request.within {
            asked
        } else {
            let window = window_start(&view, request.stream, request.within);
            window.map_err(Error::io("cannot read the log"))?.max(asked)
        };
        let OutputSlice { pieces, next_offset, held_back } =
            take(&view, request, start, over).map_err(Error::io("cannot read the log"))?;
        let left_after = bytes_after(&view, request.stream, next_offset) - held_back;
        if let ReadFrom::Cursor(reader) = &request.from {
            self.base.database.store()?.set_cursor(
                reader,
                &task.id,
                request.stream.word(),
                run,
                next_offset,
            )?;
        }
        let has_earlier = misses_before(&view, request.stream, start);
        let has_gap = pieces.iter().any(|piece| matches!(piece, Piece::Dropped(_)));
        let from_tail = matches!(request.from, ReadFrom::TailLines(_) | ReadFrom::TailBytes(_));
        Ok(ReadReply {
            pieces,
            offset: start,
            next_offset,
            eof: over && next_offset >= end,
            // A log that ends before its recorded end was truncated by another program.
            truncated: left_after > 0
                || has_gap
                || start > asked
                || (from_tail && has_earlier)
                || (over && end < task.output_bytes),
            dropped_bytes,
            end,
            left: left_after,
            has_earlier,
            earlier: readable_before(&view, request.stream, start),
            passed_over: left - bytes_after(&view, request.stream, start),
        })
    }

    /// Returns whether a run has not started its command yet, or never did. Such a run has no log, which is not an
    /// error.
    pub(super) fn has_not_run(&self, task: &Task, run: u32) -> bool {
        if run < task.state.run() {
            let log = self.base.home.task(&task.id).earlier_run(run).join(LOG_FILE);
            let record = || self.base.home.task(&task.id).earlier_result(run).ok().flatten();
            return !log.exists() && record().is_some_and(|record| record.started_at.is_none());
        }
        match &task.state {
            TaskState::Pending { .. } | TaskState::Starting { .. } => true,
            TaskState::Ended { started_at, .. } => started_at.is_none(),
            TaskState::Running { .. } | TaskState::Cancelling { .. } => false,
        }
    }

    pub(crate) fn view(&self, task: &Task, run: u32, stream: StreamChoice) -> Result<LogView> {
        fail_point("output-looked");
        let files = self.base.home.task(&task.id);
        let archive = files.earlier_run(run);
        let open = |directory: &Path| LogView::open(directory, stream);
        let mut view = open(if run == task.state.run() { &files } else { &archive });
        // The files of this run may have been moved since the task was read, or the process that moves them was killed.
        let is_previous = matches!(task.state, TaskState::Pending { .. }) && run + 1 == task.state.run();
        if (run == task.state.run() && archive.exists()) || (is_previous && view.is_err()) {
            self.base.database.archive_previous_run(&task.id);
            view = open(&archive);
        }
        view.map_err(|error| Error::Damaged {
            id: task.id.clone(),
            message: format!("cannot read the log of run {run}: {error}"),
        })
    }

    pub(crate) fn output_size(&self, task: &Task) -> Option<(u64, u64)> {
        self.view(task, task.state.run(), StreamChoice::Both).ok().map(|view| view.size())
    }
}

/// Refuses a run that does not exist.
pub(super) fn check_run(task: &Task, run: u32) -> Result<()> {
    let last = task.state.run();
    if (1..=last).contains(&run) {
        return Ok(());
    }
    Err(Error::Invalid(Invalid::NoSuchRun { id: task.id.clone(), run, last }))
}

/// Finds where the last lines or bytes begin, on a character boundary.
fn tail(view: &LogView, stream: StreamChoice, lines: u64, bytes: u64) -> Result<u64> {
    let start = tail_start(view, stream, lines, bytes).and_then(|start| next_character(view, start));
    start.map_err(Error::io("cannot read the log"))
}

/// Returns whether a run can produce no more output.
pub(super) fn is_over(task: &Task, run: u32) -> bool {
    match &task.state {
        TaskState::Ended { .. } => task.survivors == 0,
        _ => run < task.state.run(),
    }
}

/// Returns whether the requested streams have bytes before an offset.
fn misses_before(view: &LogView, stream: StreamChoice, start: u64) -> bool {
    view.parts().iter().any(|part| part.logical < start && part.len > 0 && stream.takes(part.kind))
}

/// Counts the bytes of the requested streams that are in the log before an offset.
fn readable_before(view: &LogView, stream: StreamChoice, start: u64) -> u64 {
    view.readable(stream).map(|part| part.len.min(start.saturating_sub(part.logical))).sum()
}

/// Counts the bytes of the requested streams from an offset on, including dropped bytes.
fn bytes_after(view: &LogView, stream: StreamChoice, offset: u64) -> u64 {
    let parts = view.parts().iter().filter(|part| stream.takes(part.kind));
    parts.map(|part| (part.logical + part.len).saturating_sub(offset.max(part.logical))).sum()
}
