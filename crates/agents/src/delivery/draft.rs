//! A reply that is not written yet. A notification is removed from it again if a wait will report the same end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use meanwhile::engine::Delivery;
use mw_model::{Notice, TaskId};
use serde_json::Value;

use super::deliveries::Notification;
use crate::lock::Lock;

/// The notifications that were removed from a reply. The writer of the reply and the thread of its session share it.
#[derive(Clone, Default)]
pub(crate) struct Draft(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Whether the reply is being written.
    is_closed: bool,
    /// The numbers of the notifications that must stay in the reply.
    fixed: Vec<i64>,
    /// The removed notifications: number and text.
    taken: Vec<(i64, String)>,
}

impl Draft {
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.locked())
    }

    /// Removes a notification. Returns false if it must stay or the reply is already being written.
    pub(crate) fn take(&self, number: i64, block: &str) -> bool {
        self.change(|state| {
            let may_go = !state.is_closed && !state.fixed.contains(&number);
            if may_go {
                state.taken.push((number, block.to_owned()));
            }
            may_go
        })
    }

    /// Returns the notifications that were not removed. Those for which `stays` holds can no longer be removed, because
    /// the reply refers to them.
    pub(crate) fn compose(
        &self,
        mut notices: Vec<Notification>,
        stays: impl Fn(&Notification) -> bool,
    ) -> Vec<Notification> {
        self.change(|state| {
            notices.retain(|one| !state.taken.iter().any(|(number, _)| *number == one.notice.number));
            state.taken.clear();
            state.fixed.extend(notices.iter().filter(|one| stays(one)).map(|one| one.notice.number));
        });
        notices
    }

    /// Closes the draft when the reply is being written. Returns the texts that were removed after [`Draft::compose`].
    /// Nothing can be removed afterwards.
    pub(crate) fn close(&self) -> Vec<String> {
        self.change(|state| {
            state.is_closed = true;
            std::mem::take(&mut state.taken).into_iter().map(|(_, block)| block).collect()
        })
    }
}

/// The notifications of a reply that is not acknowledged yet.
pub(super) struct OpenReply<'host> {
    pub(super) delivery: Delivery<'host>,
    /// The texts of the notifications in the reply, by number.
    pub(super) blocks: HashMap<i64, String>,
    pub(super) draft: Draft,
}

impl OpenReply<'_> {
    /// Removes the ends of these tasks from the reply, unless it is already being written.
    pub(super) fn take_out(&mut self, tasks: &[TaskId]) {
        let of_tasks = |notice: &&Notice| notice.is_ending() && tasks.contains(&notice.task);
        let ends = self.delivery.notices().iter().filter(of_tasks).map(|notice| notice.number);
        let taken: Vec<_> = ends
            .filter(|number| self.blocks.get(number).is_some_and(|block| self.draft.take(*number, block)))
            .collect();
        if !taken.is_empty() {
            // If this fails, the notification is delivered again after this server has ended.
            let _ = self.delivery.leave(&taken);
        }
    }
}

/// Writes a message without these notifications.
pub(crate) fn without(message: &[u8], blocks: &[String]) -> Option<Vec<u8>> {
    let mut message = serde_json::from_slice(message).ok()?;
    remove_blocks(&mut message, blocks);
    serde_json::to_vec(&message).ok()
}

/// Removes the notifications from the list of texts and from the list in the data. No other text equals one of them:
/// see [`Excerpt`](mw_tools::operations::Excerpt).
fn remove_blocks(value: &mut Value, blocks: &[String]) {
    let is_one = |text: &Value| text.as_str().is_some_and(|text| blocks.iter().any(|block| block == text));
    match value {
        Value::Array(items) => {
            items.retain(|item| !is_one(item) && !item.get("text").is_some_and(is_one));
            items.iter_mut().for_each(|item| remove_blocks(item, blocks));
        }
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| remove_blocks(field, blocks));
            if fields.get("notices").is_some_and(|notices| *notices == Value::Array(Vec::new())) {
                fields.remove("notices");
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn removed_notifications_are_in_neither_list_of_the_reply() {
        let message = json!({"id": 1, "result": {
            "content": [{"type": "text", "text": "<a>"}, {"type": "text", "text": "<b>"}, {"type": "text", "text": "x"}],
            "structuredContent": {"notices": ["<a>", "<b>"], "tasks": []},
        }});
        let written = |blocks: &[&str]| {
            let blocks: Vec<_> = blocks.iter().map(|block| (*block).to_owned()).collect();
            let written = without(message.to_string().as_bytes(), &blocks).unwrap();
            serde_json::from_slice::<Value>(&written).unwrap()["result"].clone()
        };
        let one = written(&["<a>"]);
        assert_eq!(one["content"][0]["text"], "<b>");
        assert_eq!(one["structuredContent"], json!({"notices": ["<b>"], "tasks": []}));
        let none = written(&["<a>", "<b>"]);
        assert_eq!(none["content"], json!([{"type": "text", "text": "x"}]));
        assert_eq!(none["structuredContent"], json!({"tasks": []}));
    }

    #[test]
    fn no_notification_can_be_removed_once_the_reply_is_being_written() {
        let draft = Draft::default();
        assert!(draft.take(1, "<a>"));
        assert_eq!(draft.close(), ["<a>"]);
        assert!(!draft.take(2, "<b>"));
    }
}
