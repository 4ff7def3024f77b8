//! Converts messages and requests of an agent into entries of a chat.

use agent_client_protocol::v1::schema::{
    RequestPermissionRequest, SessionUpdate, ToolCallContent, ToolCallStatus,
};
use mw_desk::chat_protocol::{ChatEntry, ToolContent, ToolState, ToolUpdate};
use mw_model::both_ends;
use serde_json::Value;

use crate::acp::content::{block_text, word};

/// Returns the entry of an update, if it has one. `tail` returns the last lines of a terminal.
pub(super) fn entry(update: &SessionUpdate, tail: &dyn Fn(&str) -> String) -> Option<ChatEntry> {
    match update {
        SessionUpdate::AgentMessageChunk(chunk) => Some(ChatEntry::Said { text: block_text(&chunk.content) }),
        SessionUpdate::AgentThoughtChunk(chunk) => {
            Some(ChatEntry::Thought { text: block_text(&chunk.content) })
        }
        SessionUpdate::ToolCall(call) => Some(ChatEntry::Tool(ToolUpdate {
            id: call.tool_call_id.0.to_string(),
            title: Some(call.title.clone()),
            state: Some(state(call.status)),
            content: Some(contents(&call.content, tail)).filter(|content| !content.is_empty()),
        })),
        SessionUpdate::ToolCallUpdate(update) => Some(ChatEntry::Tool(ToolUpdate {
            id: update.tool_call_id.0.to_string(),
            title: update.fields.title.clone(),
            state: update.fields.status.map(state),
            content: update.fields.content.as_deref().map(|content| contents(content, tail)),
        })),
        SessionUpdate::Plan(plan) => {
            let steps = plan.entries.iter();
            let steps = steps.map(|step| (step.content.clone(), word(&step.status))).collect();
            Some(ChatEntry::Plan { steps })
        }
        SessionUpdate::CurrentModeUpdate(update) => {
            Some(ChatEntry::Mode { mode: update.current_mode_id.0.to_string() })
        }
        // Messages of the user are already shown. Other updates are not shown.
        _ => None,
    }
}

/// Returns the short title and the full text of a permission request.
pub(super) fn question(request: &RequestPermissionRequest) -> (String, Vec<String>) {
    let fields = &request.tool_call.fields;
    let title = fields.title.clone().unwrap_or_else(|| request.tool_call.tool_call_id.0.to_string());
    let exact = fields.raw_input.as_ref().and_then(exact).unwrap_or_else(|| title.clone());
    let mut lines: Vec<_> = exact.lines().map(|line| format!("  {line}")).collect();
    if !exact.starts_with(&title) {
        lines.insert(0, title.clone());
    }
    for content in fields.content.iter().flatten() {
        lines.push(String::new());
        match shown(content) {
            Some(ToolContent::Text { text }) => {
                let text = beside(&text, fields.raw_input.as_ref());
                lines.extend(both_ends(text, MAX_BESIDE).lines().map(str::to_owned));
            }
            Some(ToolContent::Diff { path, .. }) => lines.push(format!("changes {path}")),
            None => {}
        }
    }
    // Control characters are made visible, because they are part of what is approved.
    (title, lines.iter().map(|line| mw_model::visible(line)).collect())
}

/// Removes the command from the beginning of a text that repeats it.
fn beside<'t>(text: &'t str, input: Option<&Value>) -> &'t str {
    let command = input.and_then(|input| input.get("command")?.as_str()).unwrap_or_default();
    text.strip_prefix(command).and_then(|rest| rest.strip_prefix('\n')).unwrap_or(text)
}

/// Returns the command of a call and its other arguments, or all arguments of a call without a command.
fn exact(input: &Value) -> Option<String> {
    match input.get("command") {
        Some(Value::String(command)) => {
            let others = input.as_object()?.iter().filter(|(name, _)| *name != "command");
            let others: Vec<_> = others.map(|(name, value)| format!("{name}: {value}")).collect();
            Some(std::iter::once(command.clone()).chain(others).collect::<Vec<_>>().join("\n"))
        }
        Some(Value::Array(words)) => {
            Some(words.iter().map(|word| word.as_str().unwrap_or("?")).collect::<Vec<_>>().join(" "))
        }
        _ => match input {
            Value::Object(fields) if fields.is_empty() => None,
            Value::Null => None,
            other => serde_json::to_string_pretty(other).ok(),
        },
    }
}

const fn state(status: ToolCallStatus) -> ToolState {
    match status {
        ToolCallStatus::InProgress => ToolState::Running,
        ToolCallStatus::Completed => ToolState::Done,
        ToolCallStatus::Failed => ToolState::Failed,
        _ => ToolState::Pending,
    }
}

fn contents(content: &[ToolCallContent], tail: &dyn Fn(&str) -> String) -> Vec<ToolContent> {
    let shown = |one: &ToolCallContent| match one {
        ToolCallContent::Terminal(terminal) => {
            Some(ToolContent::Text { text: tail(&terminal.terminal_id.0) })
        }
        other => shown(other),
    };
    content.iter().filter_map(shown).collect()
}

/// The maximum size of one part of a call's result, in bytes.
const MAX_PART: usize = 256 << 10;
/// The maximum size of the text next to a request, in bytes. The command itself is shown whole.
const MAX_BESIDE: usize = 16 << 10;

fn shown(content: &ToolCallContent) -> Option<ToolContent> {
    match content {
        ToolCallContent::Content(content) => {
            Some(ToolContent::Text { text: both_ends(&block_text(&content.content), MAX_PART) })
        }
        ToolCallContent::Diff(diff) => Some(ToolContent::Diff {
            path: diff.path.to_string_lossy().into_owned(),
            old: both_ends(diff.old_text.as_deref().unwrap_or_default(), MAX_PART),
            new: both_ends(&diff.new_text, MAX_PART),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_does_not_repeat_the_command() {
        let question_lines = |title: &str, text: &str| {
            let request = serde_json::json!({"sessionId": "s", "options": [], "toolCall": {
                "toolCallId": "1", "title": title, "rawInput": {"command": "rm -rf build", "expected": "~2 s"},
                "content": [{"type": "content", "content": {"type": "text", "text": text}}]}});
            question(&serde_json::from_value(request).unwrap()).1
        };
        let expected_lines = ["  rm -rf build", "  expected: \"~2 s\"", "", "it deletes build"];
        assert_eq!(question_lines("rm -rf build", "rm -rf build\nit deletes build"), expected_lines);
        assert_eq!(
            question_lines("Clean up", "it deletes build"),
            [&["Clean up"], &expected_lines[..]].concat()
        );
        assert_eq!(
            question_lines("rm -rf build", "rm -rf build/x")[3],
            "rm -rf build/x",
            "a different command is shown"
        );
    }
}
