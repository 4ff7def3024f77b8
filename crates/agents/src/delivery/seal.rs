//! A reply that is not written yet: a notification in it can be removed again, if a wait will report the same end.

use std::sync::{Arc, Mutex, PoisonError};

use meanwhile::engine::Delivery;
use mw_model::{Notice, TaskId};
use serde_json::Value;

use super::teller::Told;

/// What may still be removed from a reply. Shared by the writer of the reply and the delivery thread.
#[derive(Clone, Default)]
pub(crate) struct Seal(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Whether it is being written.
    is_closed: bool,
    /// What stays in it.
    fixed: Vec<i64>,
    /// What was taken out: numbers, and the texts as they stand in the reply.
    taken: Vec<(i64, String)>,
}

impl Seal {
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes a notification out; false when it is too late for that.
    pub(crate) fn take(&self, number: i64, block: &str) -> bool {
        self.change(|state| {
            let may_go = !state.is_closed && !state.fixed.contains(&number);
            if may_go {
                state.taken.push((number, block.to_owned()));
            }
            may_go
        })
    }

    /// Composes the reply of notifications: without those that were taken out already. Those that the reply refers to
    /// stay.
    pub(crate) fn compose(&self, mut notices: Vec<Told>, stays: impl Fn(&Told) -> bool) -> Vec<Told> {
        self.change(|state| {
            notices.retain(|told| !state.taken.iter().any(|(number, _)| *number == told.notice.number));
            state.taken.clear();
            state.fixed.extend(notices.iter().filter(|told| stays(told)).map(|told| told.notice.number));
        });
        notices
    }

    /// The reply is being written: returns what was taken out since it was composed. Nothing is taken out from now on.
    pub(crate) fn close(&self) -> Vec<String> {
        self.change(|state| {
            state.is_closed = true;
            std::mem::take(&mut state.taken).into_iter().map(|(_, block)| block).collect()
        })
    }
}

/// The notifications of a reply that is being sent.
pub(super) struct Open<'host> {
    pub(super) delivery: Delivery<'host>,
    /// Their texts in the reply.
    pub(super) blocks: Vec<String>,
    pub(super) seal: Seal,
}

impl Open<'_> {
    /// Removes the ends of these tasks from the reply, unless it is already being written.
    pub(super) fn leave(&mut self, tasks: &[TaskId]) {
        let of_tasks = |notice: &Notice| notice.is_ending() && tasks.contains(&notice.task);
        let notices = self.delivery.notices().iter().zip(&self.blocks);
        let taken =
            notices.filter(|(notice, block)| of_tasks(notice) && self.seal.take(notice.number, block));
        let taken: Vec<_> = taken.map(|(notice, _)| notice.number).collect();
        if !taken.is_empty() {
            let is_left = |notice: &Notice| !taken.contains(&notice.number);
            let kept = self.delivery.notices().iter().map(is_left).collect::<Vec<_>>();
            let mut kept = kept.into_iter();
            self.blocks.retain(|_| kept.next().unwrap_or(true));
            // If this fails, the notification is delivered again after this server has ended.
            let _ = self.delivery.leave(&taken);
        }
    }
}

/// Writes a message without these notifications.
pub(crate) fn without(message: &[u8], blocks: &[String]) -> Option<Vec<u8>> {
    let mut message = serde_json::from_slice(message).ok()?;
    take_out(&mut message, blocks);
    serde_json::to_vec(&message).ok()
}

/// Takes them out of the list of texts and out of that in the data. No other text is like one: see
/// [`Excerpt`](mw_tools::operations::Excerpt).
fn take_out(value: &mut Value, blocks: &[String]) {
    let is_one = |text: &Value| text.as_str().is_some_and(|text| blocks.iter().any(|block| block == text));
    match value {
        Value::Array(items) => {
            items.retain(|item| !is_one(item) && !item.get("text").is_some_and(is_one));
            items.iter_mut().for_each(|item| take_out(item, blocks));
        }
        Value::Object(members) => {
            members.values_mut().for_each(|member| take_out(member, blocks));
            if members.get("notices").is_some_and(|notices| *notices == Value::Array(Vec::new())) {
                members.remove("notices");
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
    fn what_is_taken_out_is_in_neither_list() {
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
    fn what_is_being_written_stays() {
        let seal = Seal::default();
        assert!(seal.take(1, "<a>"));
        assert_eq!(seal.close(), ["<a>"]);
        assert!(!seal.take(2, "<b>"));
    }
}
