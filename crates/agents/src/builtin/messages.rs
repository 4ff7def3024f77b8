//! Converts the records of a conversation into the messages of a model request.

use genai::chat::{ChatMessage, ContentPart, MessageContent, ToolCall, ToolResponse};
use serde_json::{Map, Value};

use super::conversation::{ModelAnswer, ModelToolCall, Record};

/// Converts records to the messages of a model request. Calls and their results stay together.
pub(super) fn messages_of(records: &[Record]) -> Vec<ChatMessage> {
    let mut messages = Vec::new();
    let mut results: Vec<ToolResponse> = Vec::new();
    for record in records {
        if let Record::Result(answered) = record {
            let notices = |after: bool| {
                let wanted = answered.notices.iter().filter(move |block| block.after == after);
                wanted.map(|block| block.text.as_str())
            };
            let blocks: Vec<_> =
                notices(false).chain([answered.text.as_str()]).chain(notices(true)).collect();
            let response = ToolResponse::new(answered.call.as_str(), blocks.join("\n\n"));
            results.push(response.with_fn_name(answered.tool.as_str()));
            continue;
        }
        flush(&mut results, &mut messages);
        match record {
            Record::User { text, notices } => {
                let blocks =
                    notices.iter().map(|block| &block.text).chain([text]).filter(|text| !text.is_empty());
                let parts: Vec<_> = blocks.map(|text| ContentPart::Text(text.clone())).collect();
                messages.push(ChatMessage::user(MessageContent::from_parts(parts)));
            }
            Record::Assistant(spoken) => messages.extend(spoken.written()),
            Record::Begun { .. } | Record::Summary { .. } | Record::Result(_) => {}
        }
    }
    flush(&mut results, &mut messages);
    messages
}

fn flush(results: &mut Vec<ToolResponse>, messages: &mut Vec<ChatMessage>) {
    if !results.is_empty() {
        messages.push(ChatMessage::tool(MessageContent::from_tool_responses(std::mem::take(results))));
    }
}

impl ModelAnswer {
    /// Converts the answer to a message of a model request. Returns `None` if it is empty.
    fn written(&self) -> Option<ChatMessage> {
        let mut parts = Vec::new();
        let mut unsigned = Vec::new();
        for thought in &self.thoughts {
            match &thought.signature {
                Some(signature) => {
                    parts.push(ContentPart::ThoughtSignature(signature.clone()));
                    parts.push(ContentPart::ReasoningContent(thought.text.clone()));
                }
                None => unsigned.push(thought.text.as_str()),
            }
        }
        if !self.text.is_empty() {
            parts.push(ContentPart::Text(self.text.clone()));
        }
        let call = |call: &ModelToolCall| {
            ContentPart::ToolCall(ToolCall {
                call_id: call.id.clone(),
                fn_name: call.tool.clone(),
                // Endpoints refuse arguments that are not a JSON object. The result of the call describes the error.
                fn_arguments: if call.arguments.is_object() {
                    call.arguments.clone()
                } else {
                    Value::Object(Map::new())
                },
                thought_signatures: None,
            })
        };
        parts.extend(self.calls.iter().map(call));
        if self.text.is_empty() && self.calls.is_empty() {
            return None;
        }
        let reasoning = Some(unsigned.concat()).filter(|text| !text.is_empty() && !self.calls.is_empty());
        Some(ChatMessage::assistant(MessageContent::from_parts(parts)).with_reasoning_content(reasoning))
    }
}
