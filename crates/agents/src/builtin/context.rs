//! Keeps the conversation within the model's context window. The oldest messages are replaced by a summary.

use genai::chat::ChatRequest;
use mw_model::both_ends;

use super::conversation::{Conversation, Record};
use super::model::{AnswerPiece, ModelReply};
use super::turn::{Interrupted, ModelTurn};

/// The fraction of the context window at which the conversation is trimmed.
const TRIM_AT: f64 = 0.8;
const KEEP: f64 = 0.3;
/// The approximate size of a token.
const BYTES_PER_TOKEN: u64 = 4;
/// The maximum size of one record in the summary request, in bytes.
const MAX_RECORD: usize = 4 << 10;

const REQUEST: &str = "Summarise this conversation between a user and a coding agent, so that the agent can continue. \
    Keep: what the user wants, decisions and their reasons, files and commands that matter with their exact names, \
    what was done, what failed and why, tasks that still run with their ids, and what is left to do. \
    Be brief. Write only the summary.";

impl ModelTurn<'_> {
    /// Trims the conversation if it has become too long.
    pub(super) async fn trim(&mut self) -> Result<(), Interrupted> {
        let size = self.agent.options.limits.context_tokens;
        if tokens(&self.work.conversation, &self.session.system) < part(size, TRIM_AT) {
            return Ok(());
        }
        self.work.conversation.bring_back();
        let conversation = &self.work.conversation;
        let Some(cut) = cut(conversation.seen(), part(size, KEEP)) else { return Ok(()) };
        let text = transcript(conversation, cut, part(size, 0.5));
        let request = ChatRequest::from_user(format!("{REQUEST}\n\n{text}"));
        let answer = tokio::select! {
            answer = self.model.ask(&request, |said| match said {
                AnswerPiece::Text(_) | AnswerPiece::Thought(_) | AnswerPiece::Pause(_) => {}
            }) => answer,
            () = self.cancelled.cancelled() => return Err(Interrupted::Cancelled),
            () = self.agent.closing.cancelled() => return Err(Interrupted::Closing),
        };
        if let Ok(ModelReply { usage: Some(usage), .. }) = &answer {
            self.spend(*usage);
        }
        let conversation = &self.work.conversation;
        let (mut summary, is_made) = match answer {
            Ok(reply) if !reply.spoken.text.trim().is_empty() => {
                self.client.thought(format!("[{cut} earlier messages were summarised]\n"));
                (reply.spoken.text, true)
            }
            other => {
                let why =
                    other.err().map_or_else(|| "it was empty".to_owned(), |(failure, _)| failure.message);
                self.client.thought(format!(
                    "[{cut} earlier messages are omitted from this turn: no summary ({why})]\n"
                ));
                let before = conversation.summary().map(|before| format!("{before}\n")).unwrap_or_default();
                let left_out = "later messages are omitted for now: they could not be summarised";
                (format!("{before}[{cut} {left_out}]"), false)
            }
        };
        if let Some(message) = cut_user_message(conversation.seen(), cut) {
            summary.push_str(&format!(
                "\n\nThe user's last request, verbatim:\n{}",
                both_ends(&message, MAX_RECORD)
            ));
        }
        let covers = conversation.covered() + cut;
        if is_made {
            self.work.note(Record::Summary { text: summary, covers })?;
        } else {
            // The next turn starts with the full conversation, and requests a summary again.
            self.work.conversation.leave_out(summary, covers);
        }
        Ok(())
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rough share of a rough number"
)]
fn part(size: u64, share: f64) -> u64 {
    (size as f64 * share) as u64
}

/// Estimates the number of tokens: as counted by the model, plus an estimate by size for later records.
fn tokens(conversation: &Conversation, system: &str) -> u64 {
    let (first, counted) = match conversation.counted() {
        Some((records, tokens)) if records >= conversation.covered() => (records, tokens),
        _ => {
            let summary = conversation.summary().map_or(0, str::len);
            (conversation.covered(), (system.len() + summary) as u64 / BYTES_PER_TOKEN)
        }
    };
    let rest = conversation.records().get(first..).unwrap_or_default();
    counted + rest.iter().map(weight).sum::<u64>()
}

/// Estimates the number of tokens of a record.
fn weight(record: &Record) -> u64 {
    serde_json::to_string(record).map_or(0, |text| text.len() as u64) / BYTES_PER_TOKEN
}

/// Returns how many records to cut off. The last turns are kept whole if they fit. Calls always stay with their
/// results. Returns `None` if nothing can be cut off.
fn cut(records: &[Record], keep: u64) -> Option<usize> {
    let mut weights = 0;
    let mut fitting = records.len();
    for (at, record) in records.iter().enumerate().rev() {
        weights += weight(record);
        if weights > keep {
            break;
        }
        fitting = at;
    }
    let is_user = |at: &usize| matches!(records[*at], Record::User { .. });
    let is_whole = |at: &usize| is_user(at) || matches!(records[*at], Record::Assistant(_));
    let candidate =
        (fitting..records.len()).find(is_user).or_else(|| (fitting..records.len()).find(is_whole));
    // The last message is always kept. If the model counts more tokens than the estimate, only this message is kept.
    let last = (1..records.len()).rev().find(is_user).or_else(|| (1..records.len()).rev().find(is_whole));
    candidate.filter(|at| *at > 0).or(last)
}

/// Returns the user's last message, if it would be cut off and its turn continues.
fn cut_user_message(records: &[Record], cut: usize) -> Option<String> {
    if records[cut..].iter().any(|record| matches!(record, Record::User { .. })) {
        return None;
    }
    records[..cut].iter().rev().find_map(|record| match record {
        Record::User { text, .. } => Some(text.clone()),
        Record::Begun { .. } | Record::Assistant(_) | Record::Result(_) | Record::Summary { .. } => None,
    })
}

/// Formats the beginning of a conversation as text. If not everything fits, the newest records are kept.
fn transcript(conversation: &Conversation, cut: usize, most_tokens: u64) -> String {
    let most = usize::try_from(most_tokens * BYTES_PER_TOKEN).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut size = 0;
    let records = &conversation.seen()[..cut];
    for (at, record) in records.iter().enumerate().rev() {
        let part = in_words(record);
        size += part.len();
        if size > most {
            parts.push(format!("[{} earlier messages omitted]", at + 1));
            break;
        }
        parts.push(part);
    }
    if let Some(before) = conversation.summary() {
        parts.push(format!("SUMMARY OF EARLIER MESSAGES:\n{before}"));
    }
    parts.reverse();
    parts.join("\n\n")
}

fn in_words(record: &Record) -> String {
    match record {
        Record::User { text, notices } => {
            let blocks: Vec<_> =
                notices.iter().map(|block| block.text.as_str()).chain([text.as_str()]).collect();
            format!("USER:\n{}", both_ends(&blocks.join("\n"), MAX_RECORD))
        }
        Record::Assistant(spoken) => {
            let calls: Vec<_> =
                spoken.calls.iter().map(|call| format!("CALL {} {}", call.tool, call.arguments)).collect();
            format!(
                "AGENT:\n{}\n{}",
                both_ends(&spoken.text, MAX_RECORD),
                both_ends(&calls.join("\n"), MAX_RECORD)
            )
        }
        Record::Result(answered) => {
            format!("RESULT OF {}:\n{}", answered.tool, both_ends(&answered.text, MAX_RECORD))
        }
        Record::Begun { .. } | Record::Summary { .. } => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::builtin::conversation::{Answered, ModelAnswer, ModelToolCall};

    fn user(text: &str) -> Record {
        Record::User { text: text.to_owned(), notices: Vec::new() }
    }

    fn call() -> Record {
        let call = ModelToolCall {
            id: "c".to_owned(),
            tool: "shell".to_owned(),
            arguments: json!({"command": "ls"}),
        };
        Record::Assistant(ModelAnswer { calls: vec![call], ..ModelAnswer::default() })
    }

    fn result(size: usize) -> Record {
        let (call, tool) = ("c".to_owned(), "shell".to_owned());
        Record::Result(Answered {
            call,
            tool,
            text: "x".repeat(size),
            failed: false,
            ran_badly: false,
            notices: Vec::new(),
        })
    }

    #[test]
    fn recent_turns_are_kept_whole_if_they_fit() {
        let records = [user("one"), call(), result(4000), user("two"), call(), result(400)];
        assert_eq!(cut(&records, 400), Some(3));
        assert_eq!(cut_user_message(&records, 3), None);
        assert_eq!(cut(&records, 99_999), Some(3));
    }

    #[test]
    fn a_cut_in_a_long_turn_keeps_calls_with_results_and_the_user_message() {
        let records = [user("the request"), call(), result(4000), call(), result(400)];
        assert_eq!(cut(&records, 300), Some(3));
        assert_eq!(cut_user_message(&records, 3).as_deref(), Some("the request"));
        // The last answer and its results are always kept.
        assert_eq!(cut(&records, 1), Some(3));
        assert_eq!(cut(&[user("only")], 1), None);
        assert_eq!(cut(&[], 1), None);
    }

    #[test]
    fn a_transcript_keeps_the_newest_messages_and_counts_the_omitted_ones() {
        let mut conversation = Conversation::default();
        for number in 0..10 {
            conversation.take(user(&format!("{number} {}", "x".repeat(396))));
        }
        let text = transcript(&conversation, 10, 300);
        assert!(text.starts_with("[8 earlier messages omitted]"), "{text}");
        assert!(text.contains("USER:\n9 ") && !text.contains("USER:\n7 "));
    }
}
