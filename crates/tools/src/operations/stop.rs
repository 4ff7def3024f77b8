//! Kills tasks.

use meanwhile::engine::{KillFailure, KillRequest};
use meanwhile::{Error, Task};
use mw_model::TaskId;
use mw_model::wire::KillReceipt;

use crate::call::{CallContext, CallRefusal};

/// A request to kill tasks.
#[derive(Clone, Debug)]
pub(crate) struct StopCall {
    /// The tasks to kill. All of them must exist.
    pub(crate) tasks: Vec<String>,
    /// A batch whose live tasks are killed as well.
    pub(crate) batch: Option<String>,
    /// The first signal.
    pub(crate) signal: i32,
}

/// The result for one task.
#[derive(Clone, Debug)]
pub(crate) struct StopResult {
    /// The task before the kill.
    pub(crate) before: Task,
    /// The task after the kill.
    pub(crate) after: Task,
    /// The receipt of the kill.
    pub(crate) receipt: KillReceipt,
}

impl StopResult {
    /// Returns the task, if the reply reports its end.
    pub(crate) fn reported(&self) -> Option<TaskId> {
        self.after.status.is_terminal().then(|| self.after.id.clone())
    }
}

/// Kills one task with all its processes. An ended task stays unchanged.
/// Fails like [`stop`].
pub(crate) fn stop_one(task: &str, signal: i32, cx: &CallContext<'_>) -> Result<StopResult, CallRefusal> {
    let stopped = stop(&StopCall { tasks: vec![task.to_owned()], batch: None, signal }, cx)?;
    stopped.into_iter().next().ok_or_else(|| Error::NotFound(task.to_owned()).into())
}

/// Kills tasks with all their processes. Ended tasks stay unchanged.
/// Fails if a task is unknown or its supervisor cannot be reached.
pub(crate) fn stop(call: &StopCall, cx: &CallContext<'_>) -> Result<Vec<StopResult>, CallRefusal> {
    let mut tasks = Vec::new();
    for handle in &call.tasks {
        let task = cx.task(handle)?;
        if !tasks.iter().any(|known: &Task| known.id == task.id) {
            tasks.push(task);
        }
    }
    if let Some(batch) = &call.batch {
        let known: Vec<_> = tasks.iter().map(|task| task.id.clone()).collect();
        let live = cx.batch(batch)?.into_iter().filter(|task| !task.status.is_terminal());
        tasks.extend(live.filter(|task| !known.contains(&task.id)));
    }
    let request = KillRequest { by: cx.requester(), signal: call.signal, grace_ms: None };
    let handles: Vec<_> = tasks.iter().map(|task| task.id.as_str()).collect();
    let kills = match cx.by_task {
        None => cx.runtime.notifications().kill_as_owner(&handles, &cx.call_settings.session, &request)?,
        // The owner gets notifications of these ends.
        Some(_) => {
            let ids: Vec<_> = tasks.iter().map(|task| task.id.clone()).collect();
            cx.runtime.live().kill_all(&ids, &request)
        }
    };
    let mut stopped = Vec::new();
    for before in tasks {
        if let Some(receipt) = kills.receipts.iter().find(|receipt| receipt.id == before.id) {
            let after = cx.task(before.id.as_str())?;
            stopped.push(StopResult { before, after, receipt: receipt.clone() });
        }
    }
    match kills.failures.into_iter().next() {
        None => Ok(stopped),
        Some(failure) if stopped.is_empty() => Err(failure.error.into()),
        // The reply must also report the tasks that were killed.
        Some(KillFailure { id, error }) => {
            let each = |one: &StopResult| format!("{} is {}", one.after.id, one.after.status.word());
            let others: Vec<_> = stopped.iter().map(each).collect();
            let message = format!("{error}; {}", others.join(", "));
            Err(Error::Refused { id, message }.into())
        }
    }
}
