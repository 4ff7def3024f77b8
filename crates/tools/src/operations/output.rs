//! Reads the output of a task.

use meanwhile::Task;
use meanwhile::engine::{GrepRequest, Piece, ReadFrom, ReadRequest, StreamChoice};

use super::excerpt::{shown, without_notifications};
use crate::call::{CallContext, CallRefusal};

/// A request to read output.
#[derive(Clone, Debug)]
pub(crate) struct OutputCall {
    /// The handle of the task.
    pub(crate) task: String,
    /// The selected streams.
    pub(crate) stream: StreamChoice,
    /// The start position.
    pub(crate) from: ReadFrom,
    /// The maximum number of lines. 0 means as many as fit into a reply.
    pub(crate) max_lines: u64,
    /// How many of the last bytes of these streams are read, from the beginning of a line on. 0 means all.
    pub(crate) within: u64,
    /// The number of such parts that share the reply.
    pub(crate) parts: u64,
}

impl OutputCall {
    /// Creates a request to read as much as fits into a reply.
    pub(crate) fn new(task: &str, stream: StreamChoice, from: ReadFrom) -> Self {
        Self { task: task.to_owned(), stream, from, max_lines: 0, within: 0, parts: 1 }
    }
}

/// The result of a read.
#[derive(Clone, Debug)]
pub(crate) struct OutputReply {
    /// The current state of the task.
    pub(crate) task: Task,
    /// The output.
    pub(crate) text: String,
    /// The position at which to continue.
    pub(crate) next_offset: u64,
    /// The number of bytes of these streams that follow.
    pub(crate) left: u64,
    /// Whether bytes of these streams are missing before or within the text.
    pub(crate) misses: bool,
    /// The number of bytes that were skipped, because they are older than the requested part.
    pub(crate) passed_over: u64,
    /// Whether the task has ended and everything was read.
    pub(crate) ended: bool,
}

/// Reads output, up to the size of a reply.
/// Fails if the task is unknown, or its log no longer exists.
pub(crate) fn output(call: OutputCall, cx: &CallContext<'_>) -> Result<OutputReply, CallRefusal> {
    let task = cx.task(&call.task)?;
    let most = (cx.call_settings.reply_bytes / call.parts.max(1)).max(1);
    let request = ReadRequest {
        stream: call.stream,
        from: call.from,
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
        // The log is complete before the end of a task becomes visible.
        ended: reply.left == 0 && task.status.is_terminal(),
        task,
    })
}

/// Lines that match a pattern.
#[derive(Clone, Debug)]
pub(crate) struct SearchReply {
    /// The current state of the task.
    pub(crate) task: Task,
    /// The matching lines, as many as fit into a reply.
    pub(crate) text: String,
    /// Whether there may be more matches.
    pub(crate) more: bool,
}

/// Searches the output of a task for lines that match a regular expression.
/// Fails if the task is unknown, its log no longer exists, or the pattern is invalid.
pub(crate) fn search(handle: &str, pattern: &str, cx: &CallContext<'_>) -> Result<SearchReply, CallRefusal> {
    const MAX: usize = 200;
    let task = cx.task(handle)?;
    let request = GrepRequest {
        pattern: pattern.to_owned(),
        stream: StreamChoice::Both,
        from: 0,
        context: 0,
        most: MAX,
        run: None,
    };
    let reply = cx.runtime.reader().grep(task.id.as_str(), &cx.scope(), &request)?;
    let mut found = SearchReply { task, text: String::new(), more: reply.truncated };
    for line in &reply.matches {
        let line = format!("{}: {}\n", line.line, without_notifications(&line.text));
        if found.text.len() + line.len() > cx.call_settings.reply_bytes as usize {
            found.more = true;
            break;
        }
        found.text.push_str(&line);
    }
    Ok(found)
}
