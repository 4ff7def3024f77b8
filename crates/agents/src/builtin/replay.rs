//! Sends a client the conversation of a session that it loads.

use agent_client_protocol::v1::schema::{
    SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use serde_json::Map;

use super::conversation::Record;
use super::session::Session;
use super::talk::Talk;
use super::words;

/// Tells the client everything again, in order.
pub(super) fn replay(session: &Session, talk: &Talk) {
    let Ok(work) = session.work.try_lock() else { return };
    // Calls are answered in their order, so the oldest open one is the one that a result belongs to.
    let mut open = std::collections::VecDeque::new();
    for (at, record) in work.conversation.records().iter().enumerate() {
        match record {
            Record::User { text, notices } => {
                for block in notices {
                    talk.user(block.text.clone());
                }
                talk.user(text.clone());
            }
            Record::Assistant(spoken) => {
                for thought in spoken.thoughts.iter().filter(|thought| !thought.text.is_empty()) {
                    talk.thought(thought.text.clone());
                }
                if !spoken.text.is_empty() {
                    talk.text(spoken.text.clone());
                }
                for (number, call) in spoken.calls.iter().enumerate() {
                    // As it was named when it was run: by the record that its result became.
                    let id = format!("call-{}", at + 1 + number);
                    let empty = Map::new();
                    let title = words::title(&call.tool, call.arguments.as_object().unwrap_or(&empty));
                    let shown = ToolCall::new(id.clone(), title)
                        .name(call.tool.clone())
                        .kind(words::kind(&call.tool))
                        .raw_input(call.arguments.clone());
                    talk.tell(SessionUpdate::ToolCall(shown));
                    open.push_back(id);
                }
            }
            Record::Result(answered) => {
                let Some(id) = open.pop_front() else { continue };
                let status = if answered.failed || answered.ran_badly {
                    ToolCallStatus::Failed
                } else {
                    ToolCallStatus::Completed
                };
                let content = vec![ToolCallContent::from(answered.text.clone())];
                let fields = ToolCallUpdateFields::new().status(status).content(content);
                talk.tell(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields)));
            }
            Record::Begun { .. } | Record::Summary { .. } => {}
        }
    }
}
