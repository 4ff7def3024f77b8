//! What a call gives back.

use meanwhile::Task;
use mw_model::approval::Proposal;
use mw_model::{Notice, TaskId};
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
    /// The task that this reply says was started, if it does.
    pub started: Option<Started>,
    /// What a person has to be asked before the call can be carried out; it was not, then.
    pub asks: Option<Box<Proposal>>,
}

/// A task that a reply says was started.
#[derive(Clone, Debug)]
pub struct Started {
    /// Which.
    pub task: TaskId,
    /// Which run of it.
    pub run: u32,
    /// The text of the reply where the notice of the task's end comes along below it: it promises none. Nothing where the
    /// usual text does not.
    pub if_over: Option<String>,
}

impl Started {
    /// Tells whether a notice is about this run.
    #[must_use]
    pub fn is_of(&self, notice: &Notice) -> bool {
        self.task == notice.task && self.run <= notice.run
    }
}

impl Reply {
    /// A reply that tells no ending.
    #[must_use]
    pub const fn new(text: String, data: Value) -> Self {
        Self { text, data, failed: false, told: Vec::new(), spent: Vec::new(), started: None, asks: None }
    }

    /// The reply to a call that was refused.
    #[must_use]
    pub const fn failure(text: String, data: Value) -> Self {
        Self { text, data, failed: true, told: Vec::new(), spent: Vec::new(), started: None, asks: None }
    }

    /// Says which task it says was started, and its text should that be over already.
    #[must_use]
    pub fn starting(mut self, task: &Task, if_over: Option<String>) -> Self {
        self.started = Some(Started { task: task.id.clone(), run: task.state.run(), if_over });
        self
    }

    /// Puts something in front of its text, whatever that will be.
    #[must_use]
    pub fn after(mut self, first: &str) -> Self {
        self.texts().for_each(|text| text.insert_str(0, first));
        self
    }

    /// Adds something to its text, whatever that will be.
    #[must_use]
    pub fn before(mut self, last: &str) -> Self {
        self.texts().for_each(|text| text.push_str(last));
        self
    }

    fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let if_over = self.started.as_mut().and_then(|started| started.if_over.as_mut());
        [&mut self.text].into_iter().chain(if_over)
    }

    /// Tells whether it says that a notice's run was started: that notice comes after the reply, not in front of it.
    #[must_use]
    pub fn starts(&self, notice: &Notice) -> bool {
        self.started.as_ref().is_some_and(|started| started.is_of(notice))
    }

    /// Notes that the end of the task that it started is told below it.
    pub fn is_over_already(&mut self) {
        if let Some(text) = self.started.as_mut().and_then(|started| started.if_over.take()) {
            self.text = text;
        }
    }

    /// Adds tasks whose end it tells.
    #[must_use]
    pub fn telling(mut self, tasks: impl IntoIterator<Item = TaskId>) -> Self {
        self.told.extend(tasks);
        self
    }
}
