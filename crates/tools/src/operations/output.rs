//! Reads the output of a task.

use meanwhile::Task;
use meanwhile::engine::{From, GrepRequest, Piece, ReadRequest, StreamChoice};

use super::excerpt::{shown, without_notifications};
use crate::call::CallContext;
use crate::call::Refusal;

/// What to read.
#[derive(Clone, Debug)]
pub struct OutputCall {
    /// Of which task.
    pub task: String,
    /// The streams.
    pub stream: StreamChoice,
    /// Where to begin.
    pub from: From,
    /// Maximum number of lines; 0 = as many as a reply may hold.
    pub max_lines: u64,
    /// How many of the last bytes of these streams are looked at, from a line's beginning on; 0 = all.
    pub within: u64,
    /// Into how many such parts the reply is divided.
    pub parts: u64,
}

/// The result.
#[derive(Clone, Debug)]
pub struct OutputReply {
    /// The task as it is.
    pub task: Task,
    /// The output.
    pub text: String,
    /// Where to continue reading.
    pub next_offset: u64,
    /// How many bytes of these streams follow.
    pub left: u64,
    /// Whether bytes of these streams are missing: before what is shown, or within it.
    pub misses: bool,
    /// How many bytes were skipped, because they are older than the part that is read.
    pub passed_over: u64,
    /// Whether the task has ended and everything was read.
    pub ended: bool,
}

/// Reads output, as much as a reply may hold.
///
/// # Errors
/// When the task is unknown, or its log is gone.
pub fn output(call: OutputCall, cx: &CallContext<'_>) -> Result<OutputReply, Refusal> {
    let task = cx.task(&call.task)?;
    let most = (cx.premises.reply_bytes / call.parts.max(1)).max(1);
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
    let reply = cx.runtime.reader().read_shown(task.id.as_str(), &cx.scope(), &request)?;
    let text = shown(&reply, most);
    let has_gap = reply.pieces.iter().any(|piece| matches!(piece, Piece::Dropped(_)));
    Ok(OutputReply {
        text,
        next_offset: reply.next_offset,
        left: reply.left,
        misses: reply.has_earlier || has_gap,
        passed_over: reply.passed_over,
        // All of its output was in the log before its end was seen.
        ended: reply.left == 0 && task.status.is_terminal(),
        task,
    })
}

/// Lines that match a pattern.
#[derive(Clone, Debug)]
pub struct Found {
    /// The task as it is.
    pub task: Task,
    /// The lines, as many as fit into a reply.
    pub text: String,
    /// Whether there may be more.
    pub more: bool,
}

/// Searches the output of a task for lines that match a regular expression.
///
/// # Errors
/// When the task is unknown, its log is gone, or the pattern is none.
pub fn search(handle: &str, pattern: &str, cx: &CallContext<'_>) -> Result<Found, Refusal> {
    const MOST: usize = 200;
    let task = cx.task(handle)?;
    let request = GrepRequest {
        pattern: pattern.to_owned(),
        stream: StreamChoice::Both,
        from: 0,
        context: 0,
        most: MOST,
        run: None,
    };
    let reply = cx.runtime.reader().grep(task.id.as_str(), &cx.scope(), &request)?;
    let mut found = Found { task, text: String::new(), more: reply.truncated };
    for line in &reply.matches {
        let line = format!("{}: {}\n", line.line, without_notifications(&line.text));
        if found.text.len() + line.len() > cx.premises.reply_bytes as usize {
            found.more = true;
            break;
        }
        found.text.push_str(&line);
    }
    Ok(found)
}
