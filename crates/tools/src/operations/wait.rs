//! Waits for tasks.

use std::time::Duration;

use meanwhile::engine::{Condition, WaitRequest};
use meanwhile::{Error, Task};
use mw_model::TaskId;

use crate::call::{CallContext, CallRefusal, WaitDecision};

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
pub(crate) struct WaitOutcome {
    /// The current state of the tasks, in the requested order.
    pub(crate) tasks: Vec<Task>,
    /// The tasks that met the condition.
    pub(crate) met: Vec<TaskId>,
    /// Handles of unknown tasks.
    pub(crate) unknown: Vec<String>,
    /// Whether the wait timed out.
    pub(crate) timed_out: bool,
}

impl WaitOutcome {
    /// Returns the tasks that have ended.
    pub(crate) fn ended(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| task.status.is_terminal())
    }
}

/// Waits for tasks. Cancelling a wait changes no task.
/// Fails if a handle matches several tasks, or the engine fails.
pub(crate) fn wait(call: WaitCall, cx: &CallContext<'_>) -> Result<WaitOutcome, CallRefusal> {
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
        return Ok(WaitOutcome { tasks: Vec::new(), met: Vec::new(), unknown, timed_out: false });
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
    Ok(WaitOutcome { tasks: waited.tasks, met: waited.met, unknown, timed_out: waited.timed_out })
}

/// Waits for the end of a task up to the time limit of a call, until the caller decides otherwise or `leaves` returns
/// true. Returns the task and the caller's last decision.
/// Fails if the engine fails.
pub(super) fn await_end(
    task: Task,
    cx: &CallContext<'_>,
    mut leaves: impl FnMut() -> bool,
) -> Result<(Task, WaitDecision), CallRefusal> {
    let request = cx.wait_for_end(&task);
    let mut decision = WaitDecision::Continue;
    let waited = cx.runtime.reader().wait_with(&request, |tasks| {
        decision = cx.caller.while_waiting(tasks);
        decision == WaitDecision::Continue && !leaves()
    })?;
    Ok((waited.tasks.into_iter().next().unwrap_or(task), decision))
}
