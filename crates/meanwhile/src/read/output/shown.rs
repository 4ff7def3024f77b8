//! Output as it may be shown: without secrets, and without control sequences except colours.
//!
//! Offsets and pages are the same as without redaction. Redaction considers the bytes on both sides of a page, so a
//! secret that is split between two pages is hidden on both. At the end of a log that may still grow, a possible
//! beginning of a secret counts as a secret. The rest of a secret is not hidden if its beginning was dropped because
//! of the output cap, or is further back than [`CONTEXT`].

use std::io;
use std::ops::Range;

use mw_model::Edge;
use mw_model::wire::EntryKind;

use super::read::{Piece, ReadReply, ReadRequest};
use crate::disk::task_dir::log_view::{LogView, StreamChoice};
use crate::error::{Error, Result};
use crate::read::Reader;
use crate::redact::{Redaction, Redactor, UNREADABLE_NOTE};
use crate::task::{Scope, Task};

/// How many bytes before and after a page are considered.
pub(super) const CONTEXT: usize = 16 << 10;

impl Reader<'_> {
    /// Reads a task's output for display: as [`Reader::read`](crate::engine::Reader::read), with marks in place of
    /// secrets and without control sequences except colours.
    ///
    /// # Errors
    /// As [`Reader::read`](crate::engine::Reader::read).
    pub fn read_shown(&self, handle: &str, scope: &Scope, request: &ReadRequest) -> Result<ReadReply> {
        self.read_task_shown(&self.current(handle, scope)?, request)
    }

    pub(crate) fn read_task_shown(&self, task: &Task, request: &ReadRequest) -> Result<ReadReply> {
        let mut reply = self.read_task(task, request)?;
        if !reply.pieces.iter().any(|piece| !matches!(piece, Piece::Dropped(_))) {
            return Ok(reply);
        }
        let failed = Error::io("cannot read the log");
        let run = request.run.unwrap_or_else(|| task.state.run());
        let view = self.view(task, run, request.stream)?;
        let page = reply.offset..reply.next_offset;
        let around = around(&view, request.stream, page, super::read::is_over(task, run)).map_err(failed)?;
        let redactor = Redaction::on(self.base).redactor(&task.id);
        hide(&mut reply, &redactor, around);
        if redactor.is_blind() {
            note_in_front(&mut reply);
        }
        Ok(reply)
    }
}

/// Adds a note to the output itself that it may contain secrets, because every reader shows the output.
fn note_in_front(reply: &mut ReadReply) {
    let first = reply.pieces.iter_mut().find_map(|piece| match piece {
        Piece::Stdout(bytes) | Piece::Stderr(bytes) => Some(bytes),
        Piece::Dropped(_) => None,
    });
    if let Some(bytes) = first {
        bytes.splice(..0, UNREADABLE_NOTE.bytes());
    }
}

/// The bytes before and after a page.
struct Around {
    before: Vec<u8>,
    after: Vec<u8>,
    edge: Edge,
}

fn around(view: &LogView, stream: StreamChoice, page: Range<u64>, over: bool) -> io::Result<Around> {
    let before = before(view, stream, page.start)?;
    let mut after = Vec::new();
    let first = view.parts().partition_point(|part| part.logical + part.len <= page.end);
    let mut edge = if over { Edge::Closed } else { Edge::Open };
    for part in view.parts()[first..].iter().filter(|part| stream.takes(part.kind)) {
        if matches!(part.kind, EntryKind::Drop(_)) || after.len() >= CONTEXT {
            edge = Edge::Open;
            break;
        }
        let most = CONTEXT - after.len();
        after.extend(view.bytes(part, page.end.max(part.logical), most)?);
    }
    let edge = if after.len() >= CONTEXT { Edge::Open } else { edge };
    Ok(Around { before, after, edge })
}

/// Returns the last bytes of a stream before an offset, at most [`CONTEXT`].
pub(super) fn before(view: &LogView, stream: StreamChoice, start: u64) -> io::Result<Vec<u8>> {
    let mut chunks = Vec::new();
    let mut left = CONTEXT as u64;
    let until = view.parts().partition_point(|part| part.logical < start);
    for part in view.parts()[..until].iter().rev().filter(|part| stream.takes(part.kind)) {
        if left == 0 || matches!(part.kind, EntryKind::Drop(_)) {
            break;
        }
        let end = start.min(part.logical + part.len);
        let len = left.min(end - part.logical);
        chunks.push(view.bytes(part, end - len, len as usize)?);
        left -= len;
    }
    chunks.reverse();
    Ok(chunks.concat())
}

/// Hides secrets in each sequence of pieces without a gap.
fn hide(reply: &mut ReadReply, redactor: &Redactor, around: Around) {
    let Around { mut before, after, edge } = around;
    let gaps = reply.pieces.iter().filter(|piece| matches!(piece, Piece::Dropped(_))).count();
    for (position, run) in reply.pieces.split_mut(|piece| matches!(piece, Piece::Dropped(_))).enumerate() {
        let is_last = position == gaps;
        let mut text = if position == 0 { std::mem::take(&mut before) } else { Vec::new() };
        let mut ranges = Vec::new();
        for piece in run.iter() {
            if let Piece::Stdout(bytes) | Piece::Stderr(bytes) = piece {
                ranges.push(text.len()..text.len() + bytes.len());
                text.extend_from_slice(bytes);
            }
        }
        if is_last {
            text.extend_from_slice(&after);
        }
        // The dropped bytes may be the rest of a secret.
        let edge = if is_last { edge } else { Edge::Open };
        let shown = redactor.stretches(&text, edge, &ranges);
        for (piece, shown) in run.iter_mut().zip(shown) {
            if let Piece::Stdout(bytes) | Piece::Stderr(bytes) = piece {
                *bytes = shown;
            }
        }
    }
}
