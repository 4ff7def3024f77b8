//! The latest state of running tool calls.
//!
//! An agent that streams a tool's output sends all of it with each update. The screen shows every update, but the
//! transcript contains only the last.

use std::borrow::Cow;
use std::collections::BTreeMap;

use mw_desk::chat_protocol::{ChatEntry, ToolContent, ToolState, ToolUpdate};

/// The contents that are not in the transcript yet, by call.
#[derive(Default)]
pub(super) struct Unwritten(BTreeMap<String, Vec<ToolContent>>);

impl Unwritten {
    /// Adds an entry and returns the entries that can be written now.
    pub(super) fn add<'e>(&mut self, entry: &'e ChatEntry) -> Vec<Cow<'e, ChatEntry>> {
        let mut due = Vec::new();
        match entry {
            ChatEntry::Tool(update) => {
                let is_over = matches!(update.state, Some(ToolState::Done | ToolState::Failed));
                let mut update = update.clone();
                let content = update.content.take();
                if is_over {
                    let earlier = self.0.remove(&update.id);
                    update.content = content.or(earlier);
                } else if let Some(content) = content {
                    self.0.insert(update.id.clone(), content);
                }
                if is_over || update.title.is_some() || update.state.is_some() {
                    due.push(Cow::Owned(ChatEntry::Tool(update)));
                }
            }
            ChatEntry::TurnEnded { .. } => {
                due.extend(self.rest().map(Cow::Owned));
                due.push(Cow::Borrowed(entry));
            }
            other => due.push(Cow::Borrowed(other)),
        }
        due
    }

    /// Returns the remaining entries when the chat ends.
    pub(super) fn rest(&mut self) -> impl Iterator<Item = ChatEntry> {
        std::mem::take(&mut self.0).into_iter().map(|(id, content)| {
            ChatEntry::Tool(ToolUpdate { id, content: Some(content), ..ToolUpdate::default() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(state: Option<ToolState>, text: Option<&str>) -> ChatEntry {
        let content = text.map(|text| vec![ToolContent::Text { text: text.to_owned() }]);
        ChatEntry::Tool(ToolUpdate { id: "1".to_owned(), title: None, state, content })
    }

    fn written(entries: &[ChatEntry]) -> Vec<ChatEntry> {
        let mut unwritten = Unwritten::default();
        entries.iter().flat_map(|entry| unwritten.add(entry)).map(Cow::into_owned).collect()
    }

    #[test]
    fn only_the_last_content_of_a_tool_call_is_written() {
        let running = tool(Some(ToolState::Running), Some("a"));
        let done = tool(Some(ToolState::Done), None);
        let streamed = [running, tool(None, Some("ab")), tool(None, Some("abc")), done];
        let kept = [tool(Some(ToolState::Running), None), tool(Some(ToolState::Done), Some("abc"))];
        assert_eq!(written(&streamed), kept);
    }

    #[test]
    fn content_of_an_unfinished_tool_call_is_written_when_the_turn_ends() {
        let ended = ChatEntry::TurnEnded { early: Some("cancelled".to_owned()) };
        let kept = [tool(None, Some("ab")), ended.clone()];
        assert_eq!(written(&[tool(None, Some("a")), tool(None, Some("ab")), ended]), kept);
    }
}
