//! Reads a log in parts: its end, from an offset, before an offset, and as it grows.

use std::time::Duration;

use meanwhile::Result;
use meanwhile::engine::model::Stream;
use meanwhile::engine::model::wire::drop_marker;
use meanwhile::engine::{GrepReply, GrepRequest, Piece, ReadFrom, ReadReply, ReadRequest, StreamChoice};
use meanwhile::model::TaskId;
use serde::Serialize;

use crate::desk::Desk;

/// The maximum number of bytes per read.
pub const STRETCH: u64 = 512 << 10;
/// The number of unread stretches above which a follower skips to the end.
const FAR_BEHIND: u64 = 4;

/// The log to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTarget {
    /// The id of the task.
    pub id: String,
    /// The number of the run.
    pub run: u32,
    /// The selected streams.
    pub stream: StreamChoice,
}

/// The part of a log to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPart {
    /// The last part of the log.
    End,
    /// The last lines of the log.
    Lines(u64),
    /// The part from this offset on.
    From(u64),
    /// The part that ends at this offset.
    Before(u64),
}

/// A part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogChunk {
    /// The text after redaction, in order.
    pub pieces: Vec<LogPiece>,
    /// The offset of the first byte.
    pub offset: u64,
    /// The offset of the next part.
    pub next: u64,
    /// The size of the log at the time of the read.
    pub end: u64,
    /// The number of bytes that were skipped before this part, because the output was too fast.
    pub skipped: u64,
    /// Whether the log has output before this part.
    pub has_earlier: bool,
    /// Whether the log is complete and this part reaches its end.
    pub is_over: bool,
    /// Whether the log has output after this part.
    pub has_later: bool,
}

/// A stretch of one stream. Streams are separated only if that was requested ([`StreamChoice::Apart`]); otherwise all
/// output belongs to the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogPiece {
    /// The stream.
    pub stream: Stream,
    /// The text after redaction.
    pub text: String,
}

/// Joins the bytes of the same stream before they are decoded, because a character may be split between them.
fn pieces(reply: &ReadReply) -> Vec<LogPiece> {
    let mut stretches: Vec<(Stream, Vec<u8>)> = Vec::new();
    for piece in &reply.pieces {
        let last = stretches.last().map_or(Stream::Stdout, |(stream, _)| *stream);
        let (stream, bytes) = match piece {
            Piece::Stdout(bytes) => (Stream::Stdout, bytes.clone()),
            Piece::Stderr(bytes) => (Stream::Stderr, bytes.clone()),
            Piece::Dropped(count) => (last, drop_marker(*count).into_bytes()),
        };
        match stretches.last_mut() {
            Some((last, before)) if *last == stream => before.extend(bytes),
            Some(_) | None => stretches.push((stream, bytes)),
        }
    }
    let decoded = |(stream, bytes): (_, Vec<u8>)| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        LogPiece { stream, text }
    };
    stretches.into_iter().map(decoded).collect()
}

/// Leaves the bytes of an incomplete last character for the next read, which may have the rest of it.
fn leave_begin_of_character(reply: &mut ReadReply) {
    let Some(Piece::Stdout(bytes) | Piece::Stderr(bytes)) = reply.pieces.last_mut() else { return };
    let (end, last) = (bytes.len(), bytes.len().saturating_sub(3));
    let begin = bytes[last..].iter().rposition(|byte| *byte >= 0b1100_0000).map_or(end, |at| last + at);
    let is_cut = bytes.get(begin).is_some_and(|first| first.leading_ones() as usize > end - begin);
    let is_all = begin == 0 && reply.pieces.len() == 1;
    // A limit that is smaller than one character must not stop the reader for ever. The rest cannot come after the end.
    if !is_cut || reply.eof || (is_all && reply.left > 0) {
        return;
    }
    reply.next_offset -= (end - begin) as u64;
    if begin == 0 {
        reply.pieces.pop();
    } else if let Some(Piece::Stdout(bytes) | Piece::Stderr(bytes)) = reply.pieces.last_mut() {
        bytes.truncate(begin);
    }
}

/// Leaves out the bytes with which a part begins inside a character. The part before it has them.
fn skip_rest_of_character(reply: &mut ReadReply) {
    if let (1.., Some(Piece::Stdout(bytes) | Piece::Stderr(bytes))) = (reply.offset, reply.pieces.first_mut())
    {
        let is_rest = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
        let rest = bytes.iter().take(3).take_while(is_rest).count();
        bytes.drain(..rest);
        reply.offset += rest as u64;
    }
}

impl LogChunk {
    /// Creates a part of this text, which is all that was read of a stream.
    #[must_use]
    pub fn of_text(text: impl Into<String>, offset: u64, end: u64) -> Self {
        let text = text.into();
        let next = offset + text.len() as u64;
        let pieces = vec![LogPiece { stream: Stream::Stdout, text }];
        Self {
            pieces,
            offset,
            next,
            end,
            skipped: 0,
            has_earlier: offset > 0,
            is_over: false,
            has_later: false,
        }
    }

    fn of(reply: &ReadReply, skipped: u64) -> Self {
        Self {
            pieces: pieces(reply),
            offset: reply.offset,
            next: reply.next_offset,
            end: reply.end,
            skipped,
            has_earlier: reply.has_earlier,
            is_over: reply.eof,
            has_later: reply.left > 0,
        }
    }

    /// Returns the text of all pieces.
    #[must_use]
    pub fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }
}

impl Desk {
    /// Reads a part of a log. It begins with a whole character, so its offset may be higher than requested.
    ///
    /// # Errors
    /// Fails if there is no such task, or its log cannot be read.
    pub fn read_log(&self, target: &LogTarget, part: LogPart) -> Result<LogChunk> {
        self.read_some_log(target, part, STRETCH)
    }

    /// Reads a part of a log, at most this many bytes.
    ///
    /// # Errors
    /// As [`Desk::read_log`].
    pub fn read_some_log(&self, target: &LogTarget, part: LogPart, most: u64) -> Result<LogChunk> {
        let mut reply = self.reply(target, part, most)?;
        skip_rest_of_character(&mut reply);
        Ok(LogChunk::of(&reply, 0))
    }

    fn reply(&self, target: &LogTarget, part: LogPart, most: u64) -> Result<ReadReply> {
        let (from, max_bytes) = match part {
            LogPart::End => (ReadFrom::TailBytes(most), most),
            LogPart::Lines(lines) => (ReadFrom::TailLines(lines), most),
            LogPart::From(offset) => (ReadFrom::Offset(offset), most),
            LogPart::Before(offset) => {
                let start = offset.saturating_sub(most);
                (ReadFrom::Offset(start), offset - start)
            }
        };
        let request = ReadRequest {
            stream: target.stream,
            from,
            max_bytes,
            run: Some(target.run),
            ..ReadRequest::default()
        };
        let mut reply =
            self.with(|runtime| runtime.reader().read_shown(&target.id, &self.scope(), &request))?;
        leave_begin_of_character(&mut reply);
        Ok(reply)
    }

    /// Searches a log.
    ///
    /// # Errors
    /// Fails if there is no such task, its log cannot be read, or the pattern is no regular expression.
    pub fn search_log(&self, id: &str, request: &GrepRequest) -> Result<GrepReply> {
        self.with(|runtime| runtime.reader().grep(id, &self.scope(), request))
    }

    /// Follows a log from an offset, with at most this many bytes per read.
    ///
    /// # Errors
    /// Fails if there is no such task.
    pub fn follow_log_from(&self, target: LogTarget, offset: u64, stretch: u64) -> Result<LogFollower> {
        let follower = self.follow_log(target)?;
        Ok(LogFollower { state: Follows::Behind(offset), stretch, ..follower })
    }

    /// Follows a log from its end.
    ///
    /// # Errors
    /// Fails if there is no such task.
    pub fn follow_log(&self, target: LogTarget) -> Result<LogFollower> {
        let id = self.with(|runtime| runtime.lookup().resolve(&target.id, &self.scope()))?;
        Ok(LogFollower { desk: self.clone(), target, id, state: Follows::First, stretch: STRETCH })
    }
}

/// The result of [`LogFollower::read`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowStep {
    /// The log has more output. The first chunk may be empty.
    Chunk(LogChunk),
    /// The log has no new output yet. [`LogFollower::wait`] sleeps until there may be more.
    Nothing,
    /// The log is complete and was read to its end.
    End,
}

/// Reads a log as it grows. If the output is too fast to display, the follower skips to the end and reports the number
/// of skipped bytes.
pub struct LogFollower {
    desk: Desk,
    target: LogTarget,
    id: TaskId,
    state: Follows,
    stretch: u64,
}

/// The position of a follower.
enum Follows {
    /// Nothing was read yet.
    First,
    /// There is more to read from this offset.
    Behind(u64),
    /// There is too much unread output. The next read continues at the end and skips this many bytes.
    FarBehind { skipped: u64 },
    /// Everything up to `next` was read, when the size of the log was `seen`.
    UpToDate { next: u64, seen: u64 },
    /// The log is complete.
    Over,
}

impl LogFollower {
    /// Reads the available output.
    ///
    /// # Errors
    /// Fails if the task was removed, or its log cannot be read.
    pub fn read(&mut self) -> Result<FollowStep> {
        let (part, skipped) = match self.state {
            Follows::First => (LogPart::End, 0),
            Follows::Behind(next) | Follows::UpToDate { next, .. } => (LogPart::From(next), 0),
            Follows::FarBehind { skipped } => (LogPart::End, skipped),
            Follows::Over => return Ok(FollowStep::End),
        };
        let reply = self.desk.reply(&self.target, part, self.stretch)?;
        let is_shown = matches!(self.state, Follows::First) || !reply.pieces.is_empty();
        self.state = match reply.left {
            _ if reply.eof => Follows::Over,
            0 => Follows::UpToDate { next: reply.next_offset, seen: reply.next_offset.max(reply.end) },
            left if left > FAR_BEHIND * self.stretch => Follows::FarBehind { skipped: left - self.stretch },
            _ => Follows::Behind(reply.next_offset),
        };
        Ok(match (is_shown, &self.state) {
            (true, _) => FollowStep::Chunk(LogChunk::of(&reply, skipped)),
            (false, Follows::Over) => FollowStep::End,
            (false, _) => FollowStep::Nothing,
        })
    }

    /// Sleeps until there may be more output, at most for this time. The supervisor ends the sleep early.
    ///
    /// # Errors
    /// Fails if the task cannot be watched.
    pub fn wait(&self, longest: Duration) -> Result<()> {
        match self.state {
            Follows::UpToDate { seen, .. } => {
                self.desk.with(|runtime| runtime.reader().wait_for_output(&self.id, seen, longest))
            }
            Follows::First | Follows::Behind(_) | Follows::FarBehind { .. } | Follows::Over => Ok(()),
        }
    }
}
