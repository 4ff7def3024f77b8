//! A log in stretches: from its end, from a place on, before a place, and as it grows.

use std::time::Duration;

use meanwhile::model::TaskId;
use meanwhile::{From, ReadReply, ReadRequest, Result, StreamChoice};

use crate::desk::Desk;

/// What is read at most at once.
pub const STRETCH: u64 = 512 << 10;
/// More than this behind, a follower jumps to the end.
const FAR_BEHIND: u64 = 4 * STRETCH;

/// Which log to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTarget {
    /// Whose.
    pub id: String,
    /// Of which run.
    pub run: u32,
    /// Which streams.
    pub stream: StreamChoice,
}

/// Which part of a log to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPart {
    /// The last stretch.
    End,
    /// What comes from this offset on.
    From(u64),
    /// What ends at this offset.
    Before(u64),
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
    /// When there is no such task, or its log cannot be read.
    pub fn read_log(&self, target: &LogTarget, part: LogPart) -> Result<LogChunk> {
        self.reply(target, part).map(|reply| LogChunk::of(&reply, 0))
    }

    fn reply(&self, target: &LogTarget, part: LogPart) -> Result<ReadReply> {
        let (from, max_bytes) = match part {
            LogPart::End => (From::TailBytes(STRETCH), STRETCH),
            LogPart::From(offset) => (From::Offset(offset), STRETCH),
            LogPart::Before(offset) => {
                let start = offset.saturating_sub(STRETCH);
                (From::Offset(start), offset - start)
            }
        };
        let request = ReadRequest {
            stream: target.stream,
            from,
            max_bytes,
            run: Some(target.run),
            ..ReadRequest::default()
        };
        self.with(|runtime| runtime.read_shown(&target.id, &self.scope(), &request))
    }

    /// Reads a log from its end on, for as long as it grows.
    ///
    /// # Errors
    /// When there is no such task.
    pub fn follow_log(&self, target: LogTarget) -> Result<LogFollower> {
        let id = self.with(|runtime| runtime.resolve(&target.id, &self.scope()))?;
        Ok(LogFollower { desk: self.clone(), target, id, state: Follows::First })
    }
}

/// What a follower has read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    /// More of it. The first may be empty.
    Chunk(LogChunk),
    /// Nothing new, and more may come: [`LogFollower::wait`] sleeps until then.
    Nothing,
    /// All of it. Nothing will come any more.
    End,
}

/// Reads a log as it grows. Where more comes than anybody can read, it goes on at the end and says how much it skipped.
pub struct LogFollower {
    desk: Desk,
    target: LogTarget,
    id: TaskId,
    state: Follows,
}

/// Where a follower stands.
enum Follows {
    /// It has read nothing.
    First,
    /// More is there to be read, from this offset on.
    Behind(u64),
    /// So much is there that it goes on at the end, and leaves out this many bytes.
    FarBehind { skipped: u64 },
    /// It has read everything up to this offset, of a log that ended at another.
    UpToDate { next: u64, seen: u64 },
    /// Nothing will come any more.
    Over,
}

impl LogFollower {
    /// Reads what there is now.
    ///
    /// # Errors
    /// When the task is gone, or its log cannot be read.
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

    /// Sleeps until there may be more to read, at the longest for this long; the supervisor wakes it.
    ///
    /// # Errors
    /// When the task cannot be watched.
    pub fn wait(&self, longest: Duration) -> Result<()> {
        match self.state {
            Follows::UpToDate { seen, .. } => {
                self.desk.with(|runtime| runtime.wait_for_output(&self.id, seen, longest))
            }
            Follows::First | Follows::Behind(_) | Follows::FarBehind { .. } | Follows::Over => Ok(()),
        }
    }
}
