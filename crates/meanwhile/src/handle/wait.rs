//! Waiting for tasks.

use std::time::{Duration, Instant};

use mw_model::TaskId;

use super::home::Meanwhile;
use crate::error::Result;
use crate::read::condition::{Condition, WaitRequest};
use crate::task::Task;
use mw_model::millis;

/// What to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Until {
    /// The end of the task.
    Exit,
    /// The readiness of the task, as [`TaskDraft::ready_when`](super::TaskDraft::ready_when) defines it.
    Ready,
    /// A line of output that matches this regular expression.
    Line(String),
    /// A port of this machine that accepts connections.
    Port(u16),
    /// No output for this long.
    Silent(Duration),
}

/// How a wait for a task ended, and the task at that moment. A wait never affects the task.
#[derive(Clone, Debug)]
pub enum Waited {
    /// The condition came true.
    Met(Task),
    /// The condition has not come true yet: the time is up, or another task was first.
    NotYet(Task),
    /// The task ended before the condition came true.
    Never(Task),
}

impl Waited {
    /// Returns whether the condition came true.
    #[must_use]
    pub const fn is_met(&self) -> bool {
        matches!(self, Self::Met(_))
    }

    /// Returns the task.
    #[must_use]
    pub const fn task(&self) -> &Task {
        match self {
            Self::Met(task) | Self::NotYet(task) | Self::Never(task) => task,
        }
    }

    /// Returns the task.
    #[must_use]
    pub fn into_task(self) -> Task {
        match self {
            Self::Met(task) | Self::NotYet(task) | Self::Never(task) => task,
        }
    }
}

/// A wait for one or several tasks.
pub(super) struct Wait<'home> {
    pub(super) home: &'home Meanwhile,
    pub(super) tasks: Vec<TaskId>,
    /// Whether one of them is enough.
    pub(super) any: bool,
    pub(super) until: Until,
    pub(super) timeout: Duration,
}

impl Wait<'_> {
    /// Waits and returns the tasks in the given order. `goes_on` is called from time to time and returns whether the
    /// caller still waits.
    pub(super) fn run(self, goes_on: impl Fn() -> bool) -> Result<Vec<Waited>> {
        let condition = match self.until {
            Until::Exit => Condition::Exit,
            Until::Ready => Condition::Ready,
            Until::Line(pattern) => Condition::matching(&pattern)?,
            Until::Port(port) => Condition::Port(port),
            Until::Silent(time) => Condition::Silence(millis(time)),
        };
        // A timeout beyond the range of the clock means no limit.
        let timeout = Instant::now().checked_add(self.timeout).map(|_| self.timeout);
        let request =
            WaitRequest { tasks: self.tasks, any: self.any, condition, timeout, poll_interval: None };
        let reply = self.home.with(|runtime| runtime.reader().wait_with(&request, |_| goes_on()))?;
        let waited = reply.tasks.into_iter().map(|task| {
            if reply.met.contains(&task.id) {
                Waited::Met(task)
            } else if task.status.is_terminal() {
                Waited::Never(task)
            } else {
                Waited::NotYet(task)
            }
        });
        Ok(waited.collect())
    }
}
