//! The result of a call: text for the model, structured data, and the notifications that it makes superfluous.

use std::fmt;
use std::sync::Arc;

use meanwhile::Task;
use mw_model::approval::Proposal;
use mw_model::{Notice, NoticeKind, RunOrigin, Status, TaskId};
use serde_json::Value;

/// The result of a call: text for the model, the same as data, and what the model knows after reading it.
#[derive(Clone, Debug)]
pub struct Reply {
    /// For the model.
    pub text: String,
    /// The same for programs; an object.
    pub data: Value,
    /// Whether the call was refused or failed.
    pub failed: bool,
    /// The tasks whose ends this reply reports. Their notifications are acknowledged only after the reply was written.
    pub reported: Vec<TaskId>,
    /// The outcome of the call's command, if it ran to its end.
    pub ended: Option<Status>,
    /// The tasks whose whole output is in this reply. A server may remove them after the reply was written, because a
    /// model runs thousands of them.
    pub removable: Vec<TaskId>,
    /// The task that the call has started, if any.
    pub started: Option<StartedTask>,
    /// The approval request, if the call needs approval and was not run.
    pub asks: Option<Box<Proposal>>,
}

/// A task that a call has started.
#[derive(Clone, Debug)]
pub struct StartedTask {
    /// The id of the task.
    pub task: TaskId,
    /// The number of the run.
    pub run: u32,
    origin: RunOrigin,
    if_over: IfOver,
    /// The text before and after the reply. It is kept if the reply is replaced.
    around: [String; 2],
}

/// A function that creates the reply to a start of a task that has already ended.
#[derive(Clone)]
struct IfOver(Arc<dyn Fn(RunEnd) -> Over + Send + Sync>);

impl fmt::Debug for IfOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IfOver")
    }
}

/// The outcome of a started task.
#[derive(Clone, Copy, Debug)]
pub struct RunEnd {
    /// The state in the dialect's word, or in ours if the dialect has none.
    pub word: &'static str,
    /// The exit code in the form of the dialect.
    pub exit_code: Option<i32>,
}

impl RunEnd {
    /// Returns the outcome in a notification. Returns `None` if the notification is not about the end of a run.
    fn of(notice: &Notice, origin: RunOrigin) -> Option<Self> {
        let NoticeKind::Ended { cause } = &notice.kind else { return None };
        let dialect = notice.dialect.unwrap_or_default();
        let status = match origin {
            // An agent that has answered counts as completed, regardless of its follow-ups.
            RunOrigin::Resume => Status::Completed,
            RunOrigin::First | RunOrigin::Restart | RunOrigin::Retry { .. } | RunOrigin::Repetition => {
                cause.status()
            }
        };
        let word = dialect.word(status, Some(cause));
        Some(Self { word, exit_code: dialect.exit_code(cause) })
    }
}

/// The alternative reply to a start, for when the notification of the task's end follows it.
#[derive(Clone, Debug)]
pub struct Over {
    /// The text, which does not announce a notification.
    pub text: String,
    /// The fields of the data that differ.
    pub data: Value,
}

impl StartedTask {
    /// Returns the alternative reply, if this notification reports the end of the started task. Returns `None`
    /// otherwise.
    #[must_use]
    pub fn over(&self, notice: &Notice) -> Option<Over> {
        let end = RunEnd::of(notice, self.origin).filter(|_| self.is_of(notice))?;
        let Over { text, data } = (self.if_over.0)(end);
        let [first, last] = &self.around;
        Some(Over { text: format!("{first}{text}{last}"), data })
    }

    /// Returns whether a notification is about this run.
    #[must_use]
    pub fn is_of(&self, notice: &Notice) -> bool {
        self.task == notice.task && self.run <= notice.run
    }
}

impl Over {
    /// Replaces the text and data of a reply.
    pub fn put_into(self, text: &mut String, data: &mut Value) {
        *text = self.text;
        if let (Value::Object(data), Value::Object(changed)) = (data, self.data) {
            data.extend(changed);
        }
    }
}

impl Reply {
    /// Creates a reply that reports no end.
    #[must_use]
    pub const fn new(text: String, data: Value) -> Self {
        Self {
            text,
            data,
            failed: false,
            reported: Vec::new(),
            ended: None,
            removable: Vec::new(),
            started: None,
            asks: None,
        }
    }

    /// Creates the reply to a refused call.
    #[must_use]
    pub fn failure(text: String, data: Value) -> Self {
        Self { failed: true, ..Self::new(text, data) }
    }

    /// Sets the task that was started, and the alternative reply in case it has already ended.
    #[must_use]
    pub fn starting(mut self, task: &Task, if_over: impl Fn(RunEnd) -> Over + Send + Sync + 'static) -> Self {
        self.started = Some(StartedTask {
            task: task.id.clone(),
            run: task.state.run(),
            origin: task.state.origin(),
            if_over: IfOver(Arc::new(if_over)),
            around: Default::default(),
        });
        self
    }

    /// Adds text before the reply.
    #[must_use]
    pub fn prepend(mut self, first: &str) -> Self {
        self.text.insert_str(0, first);
        if let Some(started) = &mut self.started {
            started.around[0].insert_str(0, first);
        }
        self
    }

    /// Adds text after the reply.
    #[must_use]
    pub fn append(mut self, last: &str) -> Self {
        self.text.push_str(last);
        if let Some(started) = &mut self.started {
            started.around[1].push_str(last);
        }
        self
    }

    /// Returns whether this reply has started the run of a notification. Such a notification follows the reply.
    #[must_use]
    pub fn starts(&self, notice: &Notice) -> bool {
        self.started.as_ref().is_some_and(|started| started.is_of(notice))
    }

    /// Switches to the alternative reply, if a notification that follows reports the end of the started task.
    pub fn replace_if_over(&mut self, notice: &Notice) {
        if let Some(over) = self.started.as_ref().and_then(|started| started.over(notice)) {
            over.put_into(&mut self.text, &mut self.data);
        }
    }

    /// Adds tasks whose ends the reply reports.
    #[must_use]
    pub fn reporting(mut self, tasks: impl IntoIterator<Item = TaskId>) -> Self {
        self.reported.extend(tasks);
        self
    }
}
