//! As much of a task's output as a reply may hold.

use meanwhile::{Error, From, ReadReply, ReadRequest, Task, clean_text};

use super::desk::Desk;

/// A part of a task's output, and what is missing from it.
#[derive(Clone, Debug, Default)]
pub struct Excerpt {
    /// The text: all of it, or its head and its tail with a line between them that says what is missing.
    pub text: String,
    /// How many bytes are left out.
    pub left_out: u64,
}

impl Excerpt {
    /// Takes the head and the tail of what a task has printed so far.
    ///
    /// # Errors
    /// When its log is gone.
    pub fn of(task: &Task, desk: &Desk<'_>) -> Result<Self, Error> {
        let most = desk.premises.reply_bytes;
        let tail = read(task, desk, From::TailBytes(most), most)?;
        if !tail.has_earlier {
            return Ok(Self { text: shown(&tail), left_out: 0 });
        }
        // The end says how it went, so it has the greater part.
        let head = read(task, desk, From::Offset(0), most / 4)?;
        let tail = read(task, desk, From::TailBytes(most - most / 4), 0)?;
        let left_out = tail.offset.saturating_sub(head.next_offset);
        let (first, last) = (shown(&head), shown(&tail));
        let text = format!("{}\n[… {left_out} bytes left out …]\n{last}", first.trim_end_matches('\n'));
        Ok(Self { text, left_out })
    }
}

/// Reads a task's output.
pub(super) fn read(task: &Task, desk: &Desk<'_>, from: From, max_bytes: u64) -> Result<ReadReply, Error> {
    let request = ReadRequest { from, max_bytes, ..ReadRequest::default() };
    desk.runtime.read_shown(task.id.as_str(), &desk.scope(), &request)
}

/// Puts output into the form in which a model may see it.
pub(super) fn shown(reply: &ReadReply) -> String {
    clean_text(&reply.text())
}
