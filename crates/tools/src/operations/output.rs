//! Reading what a task has printed.

use meanwhile::{From, GrepRequest, Piece, ReadRequest, StreamChoice, Task};

use super::excerpt::{shown, without_notifications};
use crate::call::Desk;
use crate::call::Refusal;

/// What to read.
#[derive(Clone, Debug)]
pub struct OutputCall {
    /// Of which task.
    pub task: String,
    /// Which streams.
    pub stream: StreamChoice,
    /// Where to begin.
    pub from: From,
    /// Most lines; 0 = as many as a reply may hold.
    pub max_lines: u64,
    /// How many of the last bytes of these streams are looked at, from a line's beginning on; 0 = all.
    pub within: u64,
    /// Into how many such parts the reply is divided.
    pub parts: u64,
}

/// What was read.
#[derive(Clone, Debug)]
pub struct OutputReply {
    /// The task as it is.
    pub task: Task,
    /// What it printed.
    pub text: String,
    /// Where to go on reading.
    pub next_offset: u64,
    /// How many bytes of these streams come after what was read.
    pub left: u64,
    /// Whether bytes of these streams are missing: before what is shown, or within it.
    pub misses: bool,
    /// How many bytes were passed over, because they are older than what is looked at.
    pub passed_over: u64,
    /// Whether the task is over and nothing is left to read.
    pub ended: bool,
}

/// Reads output, as much as a reply may hold.
///
/// # Errors
/// When the task is unknown, or its log is gone.
pub fn output(call: OutputCall, desk: &Desk<'_>) -> Result<OutputReply, Refusal> {
    let task = desk.task(&call.task)?;
    let most = (desk.premises.reply_bytes / call.parts.max(1)).max(1);
    let request = ReadRequest {
        stream: call.stream,
        from: match call.from {
            From::TailLines(lines) => From::TailLines(lines),
            From::TailBytes(bytes) => From::TailBytes(bytes.min(most)),
            other => other,
        },
        max_bytes: most,
        max_lines: call.max_lines,
        run: None,
        within: call.within,
    };
    let reply = desk.runtime.read_shown(task.id.as_str(), &desk.scope(), &request)?;
    let text = shown(&reply, most);
    let has_gap = reply.pieces.iter().any(|piece| matches!(piece, Piece::Dropped(_)));
    Ok(OutputReply {
        text,
        next_offset: reply.next_offset,
        left: reply.left,
        misses: reply.has_earlier || has_gap,
        passed_over: reply.passed_over,
        // Whatever it printed was in the log before it was seen to be over.
        ended: reply.left == 0 && task.status.is_terminal(),
        task,
    })
}

/// Lines that fit a pattern.
#[derive(Clone, Debug)]
pub struct Found {
    /// The task as it is.
    pub task: Task,
    /// The lines, as many as a reply may hold.
    pub text: String,
    /// Whether there may be more.
    pub more: bool,
}

/// Searches what a task has printed for lines that fit a regular expression.
///
/// # Errors
/// When the task is unknown, its log is gone, or the pattern is none.
pub fn search(handle: &str, pattern: &str, desk: &Desk<'_>) -> Result<Found, Refusal> {
    const MOST: usize = 200;
    let task = desk.task(handle)?;
    let request = GrepRequest {
        pattern: pattern.to_owned(),
        stream: StreamChoice::Both,
        from: 0,
        context: 0,
        most: MOST,
        run: None,
    };
    let reply = desk.runtime.grep(task.id.as_str(), &desk.scope(), &request)?;
    let mut found = Found { task, text: String::new(), more: reply.truncated };
    for line in &reply.matches {
        let line = format!("{}: {}\n", line.line, without_notifications(&line.text));
        if found.text.len() + line.len() > desk.premises.reply_bytes as usize {
            found.more = true;
            break;
        }
        found.text.push_str(&line);
    }
    Ok(found)
}
