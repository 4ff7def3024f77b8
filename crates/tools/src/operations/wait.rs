//! Waits for tasks.

use std::time::Duration;

use meanwhile::engine::{Condition, WaitRequest};
use meanwhile::{Error, Task};
use mw_model::TaskId;

use crate::call::Refusal;
use crate::call::{CallContext, WaitDecision};

/// A request to wait for tasks.
#[derive(Clone, Debug)]
pub(crate) struct WaitCall {
    /// The tasks.
    pub(crate) tasks: Vec<String>,
    /// Whether the wait ends with the first task that meets the condition.
    pub(crate) any: bool,
    /// The condition to wait for.
    pub(crate) condition: Condition,
    /// The timeout. If absent, the time limit of a call is used.
    pub(crate) timeout: Option<Duration>,
}

impl WaitCall {
    /// Creates a request to wait until all of these tasks have ended.
    pub(crate) const fn exit(tasks: Vec<String>, timeout: Duration) -> Self {
        Self { tasks, any: false, condition: Condition::Exit, timeout: Some(timeout) }
    }
}

/// The result of a wait.
#[derive(Clone, Debug)]
pub(crate) struct Waited {
    /// The current state of the tasks, in the requested order.
    pub(crate) tasks: Vec<Task>,
    /// The tasks that met the condition.
    pub(crate) met: Vec<TaskId>,
    /// Handles of unknown tasks.
    pub(crate) unknown: Vec<String>,
    /// Whether the wait timed out.
    pub(crate) timed_out: bool,
}

impl Waited {
    /// Returns the tasks that have ended.
    pub(crate) fn ended(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| task.status.is_terminal())
    }
}

/// Waits for tasks. Cancelling a wait changes no task.
/// Fails if a handle matches several tasks, or the engine fails.
pub(crate) fn wait(call: WaitCall, cx: &CallContext<'_>) -> Result<Waited, Refusal> {
    let (mut ids, mut unknown) = (Vec::new(), Vec::new());
    for handle in call.tasks {
        match cx.resolve(&handle) {
            Ok(id) if ids.contains(&id) => {}
            Ok(id) => ids.push(id),
            Err(Error::NotFound(_)) => unknown.push(handle),
            Err(error) => return Err(error.into()),
        }
    }
    if ids.is_empty() {
        return Ok(Waited { tasks: Vec::new(), met: Vec::new(), unknown, timed_out: false });
    }
    cx.caller.awaits(&ids);
    let longest = cx.call_settings.longest_call;
    let request = WaitRequest {
        tasks: ids,
        any: call.any,
        condition: call.condition,
        timeout: Some(call.timeout.map_or(longest, |timeout| timeout.min(longest))),
        poll_interval: Some(cx.caller.poll_interval()),
    };
    let waited = cx
        .runtime
        .reader()
        .wait_with(&request, |tasks| cx.caller.while_waiting(tasks) == WaitDecision::Continue)?;
    Ok(Waited { tasks: waited.tasks, met: waited.met, unknown, timed_out: waited.timed_out })
}
