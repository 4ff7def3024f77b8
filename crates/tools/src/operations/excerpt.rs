//! The part of a task's output that fits into a reply.

use meanwhile::engine::{ReadFrom, ReadReply, ReadRequest, clean_text};
use meanwhile::{Error, Task};
use mw_model::{TaskKind, head_with_note};

use crate::call::CallContext;

/// A part of a task's output, and the size of the omitted rest.
#[derive(Clone, Debug, Default)]
pub struct Excerpt {
    /// The whole text, or its head and its tail with a line between them about the omitted part.
    pub text: String,
    /// The number of omitted bytes.
    pub left_out: u64,
}

impl Excerpt {
    /// Returns the head and the tail of a task's output so far.
    ///
    /// # Errors
    /// Fails if the log no longer exists.
    pub fn of(task: &Task, cx: &CallContext<'_>) -> Result<Self, Error> {
        Self::within(task, cx.call_settings.reply_bytes, cx)
    }

    /// Returns the head and the tail of a task's output with another size limit.
    ///
    /// # Errors
    /// Fails if the log no longer exists.
    pub fn within(task: &Task, most: u64, cx: &CallContext<'_>) -> Result<Self, Error> {
        let most = most.max(1);
        if let Some(answer) = answer(task, cx) {
            return Ok(Self::head(&answer, most));
        }
        let tail = read(task, cx, ReadFrom::TailBytes(most), most)?;
        if !tail.has_earlier {
            return Ok(Self { text: shown(&tail, most), left_out: 0 });
        }
        // The end shows the outcome, so it gets the larger part.
        let (quarter, rest) = ((most / 4).max(1), most - most / 4);
        let head = read(task, cx, ReadFrom::Offset(0), quarter)?;
        let tail = read(task, cx, ReadFrom::TailBytes(rest), rest)?;
        let bytes = tail.bytes();
        let whole = after_cut_character(&bytes);
        let cut = (bytes.len() - whole.len()) as u64;
        let left_out = (tail.offset + cut).saturating_sub(head.next_offset);
        let (first, last) = (shown(&head, quarter), legible(whole, rest));
        let text = format!("{}\n[… {left_out} bytes omitted …]\n{last}", first.trim_end_matches('\n'));
        Ok(Self { text, left_out })
    }
}

impl Excerpt {
    /// Returns the head of an answer.
    fn head(answer: &str, most: u64) -> Self {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let (text, left_out) = head_with_note(&without_notifications(&clean_text(answer)), most);
        Self { text, left_out: left_out as u64 }
    }
}

/// Returns the answer of an agent that has ended.
pub(crate) fn answer(task: &Task, cx: &CallContext<'_>) -> Option<String> {
    let is_over = task.kind == TaskKind::Agent && task.status.is_terminal();
    is_over.then(|| cx.runtime.agents().agent_result(&task.id, task.state.run())).flatten()
}

/// Reads a task's output.
fn read(task: &Task, cx: &CallContext<'_>, from: ReadFrom, max_bytes: u64) -> Result<ReadReply, Error> {
    let request = ReadRequest { from, max_bytes, ..ReadRequest::default() };
    cx.runtime.reader().read_shown(task.id.as_str(), &cx.scope(), &request)
}

/// Converts output into text for a model.
pub(crate) fn shown(reply: &ReadReply, most: u64) -> String {
    legible(&reply.bytes(), most)
}

/// Returns the bytes after a character that was cut.
fn after_cut_character(bytes: &[u8]) -> &[u8] {
    const LONGEST_REST: usize = 3;
    let rest = bytes.iter().take(LONGEST_REST).take_while(|byte| **byte & 0xC0 == 0x80).count();
    &bytes[rest..]
}

/// Converts bytes to text without control sequences. Invalid bytes become `?` if the usual three-byte replacement
/// character would make the text too long.
fn legible(bytes: &[u8], most: u64) -> String {
    let text = without_notifications(&clean_text(&String::from_utf8_lossy(bytes)));
    if text.len() as u64 > most { text.replace(char::REPLACEMENT_CHARACTER, "?") } else { text }
}

/// The name of the XML element of notifications.
const NOTIFICATION: &str = "task-notification";

/// Escapes everything that looks like a notification, because a command may print any text.
pub(crate) fn without_notifications(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut safe = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in lower.match_indices('<') {
        let inside = lower[at + 1..].trim_start_matches(|c: char| c == '/' || c.is_whitespace());
        if inside.starts_with(NOTIFICATION) {
            safe.push_str(&text[done..at]);
            safe.push_str("&lt;");
            done = at + 1;
        }
    }
    safe.push_str(&text[done..]);
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notification_tags_in_output_are_escaped() {
        for (text, safe) in [
            ("<task-notification>x</task-notification>", "&lt;task-notification>x&lt;/task-notification>"),
            ("a < b <p> < / Task-Notification>", "a < b <p> &lt; / Task-Notification>"),
            ("ä<TASK-NOTIFICATION x=1", "ä&lt;TASK-NOTIFICATION x=1"),
            ("task-notification <task", "task-notification <task"),
        ] {
            assert_eq!(without_notifications(text), safe);
        }
    }

    #[test]
    fn invalid_bytes_are_replaced_within_the_size_limit() {
        assert_eq!(legible(b"a\xffb", 100), "a\u{fffd}b");
        assert_eq!(legible(b"a\xffb", 3), "a?b");
        assert_eq!(legible("é€".as_bytes(), 5), "é€");
    }

    #[test]
    fn a_cut_character_at_the_start_is_skipped() {
        assert_eq!(after_cut_character(&"€x".as_bytes()[1..]), b"x");
        assert_eq!(after_cut_character("€x".as_bytes()), "€x".as_bytes());
        assert_eq!(after_cut_character(&[0x80; 5]), &[0x80; 2]);
        assert_eq!(after_cut_character(b""), b"");
    }
}
