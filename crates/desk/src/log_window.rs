//! Reads a log in parts: its end, from an offset, before an offset, and as it grows.

use std::time::Duration;

use meanwhile::Result;
use meanwhile::engine::{ReadFrom, ReadReply, ReadRequest, StreamChoice};
use meanwhile::model::TaskId;

use crate::desk::Desk;

/// The maximum number of bytes per read.
pub const STRETCH: u64 = 512 << 10;
/// The number of unread bytes above which a follower skips to the end.
const FAR_BEHIND: u64 = 4 * STRETCH;

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
    /// The part from this offset on.
    From(u64),
    /// The part that ends at this offset.
    Before(u64),
}

/// A part of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogChunk {
    /// The text after redaction.
    pub text: String,
    /// The offset of the first byte.
    pub offset: u64,
    /// The size of the log at the time of the read.
    pub end: u64,
    /// The number of bytes that were skipped before this part, because the output was too fast.
    pub skipped: u64,
    /// Whether the log has output before this part.
    pub has_earlier: bool,
}

impl LogChunk {
    fn of(reply: &ReadReply, skipped: u64) -> Self {
        Self {
            text: reply.text(),
            offset: reply.offset,
            end: reply.end,
            skipped,
            has_earlier: reply.has_earlier,
        }
    }
}

impl Desk {
    /// Reads a part of a log.
    ///
    /// # Errors
    /// Fails if there is no such task, or its log cannot be read.
    pub fn read_log(&self, target: &LogTarget, part: LogPart) -> Result<LogChunk> {
        self.reply(target, part).map(|reply| LogChunk::of(&reply, 0))
    }

    fn reply(&self, target: &LogTarget, part: LogPart) -> Result<ReadReply> {
        let (from, max_bytes) = match part {
            LogPart::End => (ReadFrom::TailBytes(STRETCH), STRETCH),
            LogPart::From(offset) => (ReadFrom::Offset(offset), STRETCH),
            LogPart::Before(offset) => {
                let start = offset.saturating_sub(STRETCH);
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
        self.with(|runtime| runtime.reader().read_shown(&target.id, &self.scope(), &request))
    }

    /// Follows a log from its end.
    ///
    /// # Errors
    /// Fails if there is no such task.
    pub fn follow_log(&self, target: LogTarget) -> Result<LogFollower> {
        let id = self.with(|runtime| runtime.lookup().resolve(&target.id, &self.scope()))?;
        Ok(LogFollower { desk: self.clone(), target, id, state: Follows::First })
    }
}

/// The result of [`LogFollower::read`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
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
    pub fn read(&mut self) -> Result<Followed> {
        let (part, skipped) = match self.state {
            Follows::First => (LogPart::End, 0),
            Follows::Behind(next) | Follows::UpToDate { next, .. } => (LogPart::From(next), 0),
            Follows::FarBehind { skipped } => (LogPart::End, skipped),
            Follows::Over => return Ok(Followed::End),
        };
        let reply = self.desk.reply(&self.target, part)?;
        let is_shown = matches!(self.state, Follows::First) || !reply.pieces.is_empty();
        self.state = match reply.left {
            _ if reply.eof => Follows::Over,
            0 => Follows::UpToDate { next: reply.next_offset, seen: reply.next_offset.max(reply.end) },
            left if left > FAR_BEHIND => Follows::FarBehind { skipped: left - STRETCH },
            _ => Follows::Behind(reply.next_offset),
        };
        Ok(match (is_shown, &self.state) {
            (true, _) => Followed::Chunk(LogChunk::of(&reply, skipped)),
            (false, Follows::Over) => Followed::End,
            (false, _) => Followed::Nothing,
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
