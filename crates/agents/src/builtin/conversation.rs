//! The records of a conversation, on disk and in memory.

use genai::chat::ChatMessage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::messages::messages_of;

/// A line of a session file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Record {
    /// The start of the session. It is the first line of the file.
    Begun {
        /// The id of the session.
        id: String,
        /// The working directory of the session.
        cwd: String,
    },
    /// A message of the user.
    User {
        /// The text.
        text: String,
        /// The notifications that precede the message.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notices: Vec<Block>,
    },
    /// An answer of the model.
    Assistant(ModelAnswer),
    /// The result of a call.
    Result(Answered),
    /// A summary of the first records.
    Summary {
        /// The text.
        text: String,
        /// The number of records that the summary replaces.
        covers: usize,
    },
}

/// A notification as shown to the model, and its number in the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Block {
    pub(super) number: i64,
    pub(super) text: String,
    /// Whether the notification follows the result with which it was shown. Otherwise it precedes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) after: bool,
}

/// One answer of the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ModelAnswer {
    pub(super) text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) thoughts: Vec<Thought>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) calls: Vec<ModelToolCall>,
}

/// A thought, with the provider's signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Thought {
    pub(super) text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<String>,
}

/// A call requested by the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ModelToolCall {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) arguments: Value,
}

impl ModelToolCall {
    /// Creates the result of a call that was not run. Every endpoint requires a result for each call.
    pub(super) fn not_run(&self, why: &str) -> Record {
        Record::Result(Answered {
            call: self.id.clone(),
            tool: self.tool.clone(),
            text: why.to_owned(),
            failed: true,
            ran_badly: false,
            notices: Vec::new(),
        })
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Answered {
    pub(super) call: String,
    pub(super) tool: String,
    pub(super) text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) failed: bool,
    /// Whether the command of the call has failed, although the call itself succeeded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) ran_badly: bool,
    /// The notifications that precede the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) notices: Vec<Block>,
}

/// A conversation: all records, and what the model sees of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation {
    records: Vec<Record>,
    view: View,
    /// The view as stored on disk, while further records are omitted temporarily.
    whole: Option<View>,
}

/// What the model sees of a conversation.
#[derive(Clone, Debug, Default)]
struct View {
    summary: Option<String>,
    /// The index of the first record after the summary.
    start: usize,
    /// The number of records that the model last counted, and their tokens.
    counted: Option<(usize, u64)>,
}

impl Conversation {
    /// Adds a record, which is either new or read from disk.
    pub(super) fn take(&mut self, record: Record) {
        match record {
            Record::Begun { .. } => {}
            Record::Summary { text, covers } => {
                let start = covers.min(self.records.len());
                (self.view, self.whole) = (View { summary: Some(text), start, counted: None }, None);
            }
            Record::User { .. } | Record::Assistant(_) | Record::Result(_) => self.records.push(record),
        }
    }

    /// Omits the first records temporarily and replaces them by this text. The file is not changed.
    pub(super) fn leave_out(&mut self, text: String, covers: usize) {
        let cut = View { summary: Some(text), start: covers, counted: None };
        let before = std::mem::replace(&mut self.view, cut);
        self.whole.get_or_insert(before);
    }

    /// Restores the temporarily omitted records.
    pub(super) fn bring_back(&mut self) {
        if let Some(whole) = self.whole.take() {
            self.view = whole;
        }
    }

    /// Records that the model has counted the tokens of the first records.
    pub(super) fn count(&mut self, records: usize, tokens: u64) {
        self.view.counted = Some((records, tokens));
    }

    /// Returns the number of records that the model last counted, and their tokens.
    pub(super) const fn counted(&self) -> Option<(usize, u64)> {
        self.view.counted
    }

    /// Returns all records, including those that the summary replaces.
    pub(super) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns the records that are sent to the model.
    pub(super) fn seen(&self) -> &[Record] {
        &self.records[self.view.start..]
    }

    /// Returns the number of records that the summary replaces.
    pub(super) const fn covered(&self) -> usize {
        self.view.start
    }

    pub(super) fn summary(&self) -> Option<&str> {
        self.view.summary.as_deref()
    }

    /// Returns whether the conversation contains a notification.
    pub(super) fn has_notice(&self, number: i64) -> bool {
        self.records.iter().any(|record| match record {
            Record::User { notices, .. } | Record::Result(Answered { notices, .. }) => {
                notices.iter().any(|block| block.number == number)
            }
            Record::Begun { .. } | Record::Assistant(_) | Record::Summary { .. } => false,
        })
    }

    /// Returns the calls of the model's last answer that have no result.
    pub(super) fn unanswered(&self) -> Vec<ModelToolCall> {
        let Some(at) = self.records.iter().rposition(|record| matches!(record, Record::Assistant(_))) else {
            return Vec::new();
        };
        let Record::Assistant(spoken) = &self.records[at] else { return Vec::new() };
        let answered = self.records[at..].iter().filter(|record| matches!(record, Record::Result(_))).count();
        spoken.calls.iter().skip(answered).cloned().collect()
    }

    /// Converts the conversation to the messages of a model request.
    pub(super) fn messages(&self) -> Vec<ChatMessage> {
        let mut messages = Vec::new();
        if let Some(summary) = &self.view.summary {
            messages.push(ChatMessage::user(format!(
                "[Generated summary of {} earlier messages]\n{summary}",
                self.view.start
            )));
        }
        messages.extend(messages_of(self.seen()));
        messages
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn user(text: &str) -> Record {
        Record::User { text: text.to_owned(), notices: Vec::new() }
    }

    fn calls(ids: &[&str]) -> Record {
        let call = |id: &&str| ModelToolCall {
            id: (*id).to_owned(),
            tool: "shell".to_owned(),
            arguments: json!({}),
        };
        Record::Assistant(ModelAnswer { calls: ids.iter().map(call).collect(), ..ModelAnswer::default() })
    }

    fn result(id: &str, notices: Vec<Block>) -> Record {
        let (call, tool, text) = (id.to_owned(), "shell".to_owned(), "done".to_owned());
        Record::Result(Answered { call, tool, text, failed: false, ran_badly: false, notices })
    }

    #[test]
    fn results_of_one_answer_form_one_message_and_begin_with_notifications() {
        let mut conversation = Conversation::default();
        let block = Block { number: 4, text: "<task-notification>".to_owned(), after: false };
        for record in [user("go"), calls(&["a", "b"]), result("a", vec![block]), result("b", vec![])] {
            conversation.take(record);
        }
        let messages = conversation.messages();
        assert_eq!(messages.len(), 3);
        let responses = messages[2].content.tool_responses();
        assert_eq!(responses[0].content, "<task-notification>\n\ndone");
        assert_eq!((responses[0].call_id.as_str(), responses[1].call_id.as_str()), ("a", "b"));
        assert!(conversation.has_notice(4) && !conversation.has_notice(5));
    }

    #[test]
    fn calls_without_a_result_are_unanswered() {
        let mut conversation = Conversation::default();
        assert!(conversation.unanswered().is_empty());
        for record in [user("go"), calls(&["a", "b"]), result("a", vec![])] {
            conversation.take(record);
        }
        let open: Vec<_> = conversation.unanswered().into_iter().map(|call| call.id).collect();
        assert_eq!(open, ["b"]);
    }

    #[test]
    fn a_summary_replaces_the_records_it_covers() {
        let mut conversation = Conversation::default();
        for record in
            [user("one"), user("two"), Record::Summary { text: "S".to_owned(), covers: 1 }, user("three")]
        {
            conversation.take(record);
        }
        let texts: Vec<_> =
            conversation.messages().iter().filter_map(|message| message.content.joined_texts()).collect();
        assert_eq!(texts, ["[Generated summary of 1 earlier messages]\nS", "two", "three"]);
        assert_eq!(conversation.records().len(), 3);
    }

    #[test]
    fn a_record_survives_json() {
        let thought = Thought { text: "hm".to_owned(), signature: Some("s".to_owned()) };
        let spoken = ModelAnswer { text: "t".to_owned(), thoughts: vec![thought], calls: Vec::new() };
        for record in [user("go"), calls(&["a"]), result("a", vec![]), Record::Assistant(spoken)] {
            let text = serde_json::to_string(&record).unwrap();
            assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record, "{text}");
        }
    }
}
