//! What a call gives back.

use mw_model::TaskId;
use mw_model::approval::Proposal;
use serde_json::Value;

/// What a call gives back: a text for the model, the same as data, and what the model knows once it has it.
#[derive(Clone, Debug)]
pub struct Reply {
    /// For the model.
    pub text: String,
    /// The same for programs; an object.
    pub data: Value,
    /// Whether the call was refused or failed.
    pub failed: bool,
    /// Tasks whose end this reply tells. They are news no more once it has been written, not before.
    pub told: Vec<TaskId>,
    /// Tasks to which there is nothing more than this reply holds. A server may remove them once it has been written:
    /// a model runs thousands.
    pub spent: Vec<TaskId>,
    /// What a person has to be asked before the call can be carried out; it was not, then.
    pub asks: Option<Box<Proposal>>,
}

impl Reply {
    /// A reply that tells no ending.
    #[must_use]
    pub const fn new(text: String, data: Value) -> Self {
        Self { text, data, failed: false, told: Vec::new(), spent: Vec::new(), asks: None }
    }

    /// The reply to a call that was refused.
    #[must_use]
    pub const fn failure(text: String, data: Value) -> Self {
        Self { text, data, failed: true, told: Vec::new(), spent: Vec::new(), asks: None }
    }

    /// Adds tasks whose end it tells.
    #[must_use]
    pub fn telling(mut self, tasks: impl IntoIterator<Item = TaskId>) -> Self {
        self.told.extend(tasks);
        self
    }
}
