//! Waiting for tasks.

use std::time::Duration;

use meanwhile::{Condition, Error, Task, WaitRequest};
use mw_model::TaskId;

use crate::call::Refusal;
use crate::call::{Desk, Patience};

/// A wait.
#[derive(Clone, Debug)]
pub struct WaitCall {
    /// For which tasks.
    pub tasks: Vec<String>,
    /// Whether one is enough.
    pub any: bool,
    /// For what.
    pub condition: Condition,
    /// For how long; absent = as long as a call may take.
    pub timeout: Option<Duration>,
}

/// How a wait ended.
#[derive(Clone, Debug)]
pub struct Waited {
    /// The tasks as they are now, in the order asked for.
    pub tasks: Vec<Task>,
    /// Those for which the condition came true.
    pub met: Vec<TaskId>,
    /// Handles that no task answers to.
    pub unknown: Vec<String>,
    /// Whether the time was up.
    pub timed_out: bool,
}

impl Waited {
    /// Returns the tasks that are over.
    pub fn ended(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| task.status.is_terminal())
    }
}

/// Waits. A wait that is broken off touches no task.
///
/// # Errors
/// When a handle fits several tasks, or the engine fails.
pub fn wait(call: WaitCall, desk: &Desk<'_>) -> Result<Waited, Refusal> {
    let (mut ids, mut unknown) = (Vec::new(), Vec::new());
    for handle in call.tasks {
        match desk.resolve(&handle) {
            Ok(id) if ids.contains(&id) => {}
            Ok(id) => ids.push(id),
            Err(Error::NotFound(_)) => unknown.push(handle),
            Err(error) => return Err(error.into()),
        }
    }
    if ids.is_empty() {
        return Ok(Waited { tasks: Vec::new(), met: Vec::new(), unknown, timed_out: false });
    }
    desk.caller.awaits(&ids);
    let longest = desk.premises.longest_call;
    let request = WaitRequest {
        tasks: ids,
        any: call.any,
        condition: call.condition,
        timeout: Some(call.timeout.map_or(longest, |timeout| timeout.min(longest))),
        look_every: Some(desk.caller.look_every()),
    };
    let waited = desk.runtime.wait_with(&request, |tasks| desk.caller.meanwhile(tasks) == Patience::GoOn)?;
    Ok(Waited { tasks: waited.tasks, met: waited.met, unknown, timed_out: waited.timed_out })
}
