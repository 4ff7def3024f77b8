//! Replays the conversation of a loaded session to the client.

use agent_client_protocol::v1::schema::{
    SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use serde_json::Map;

use super::client::SessionClient;
use super::conversation::Record;
use super::session::AcpSession;
use super::titles;

/// Sends all records to the client, in order.
pub(super) fn replay(session: &AcpSession, client: &SessionClient) {
    let Ok(work) = session.work.try_lock() else { return };
    // Calls are answered in order, so a result belongs to the oldest open call.
    let mut open = std::collections::VecDeque::new();
    for (at, record) in work.conversation.records().iter().enumerate() {
        match record {
            Record::User { text, notices } => {
                for block in notices {
                    client.user(block.text.clone());
                }
                client.user(text.clone());
            }
            Record::Assistant(spoken) => {
                for thought in spoken.thoughts.iter().filter(|thought| !thought.text.is_empty()) {
                    client.thought(thought.text.clone());
                }
                if !spoken.text.is_empty() {
                    client.text(spoken.text.clone());
                }
                for (number, call) in spoken.calls.iter().enumerate() {
                    // The call gets the id that it had when it was run, which is the number of its result's record.
                    let id = format!("call-{}", at + 1 + number);
                    let empty = Map::new();
                    let title = titles::title(&call.tool, call.arguments.as_object().unwrap_or(&empty));
                    let shown = ToolCall::new(id.clone(), title)
                        .name(call.tool.clone())
                        .kind(titles::kind(&call.tool))
                        .raw_input(call.arguments.clone());
                    client.tell(SessionUpdate::ToolCall(shown));
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
                client.tell(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields)));
            }
            Record::Begun { .. } | Record::Summary { .. } => {}
        }
    }
}
