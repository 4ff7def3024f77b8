//! Starts another agent, or sends it a follow-up.

use std::path::PathBuf;
use std::time::Instant;

use meanwhile::engine::Approval;
use meanwhile::{Error, Task};

use super::excerpt::Excerpt;
use super::shell::{ForegroundRun, ReturnReason};
use super::wait::await_end;
use crate::call::{CallContext, CallRefusal, WaitDecision};
use crate::delegation::{AgentCall, order};

/// A request to another agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentRequest {
    /// The name of the agent. If absent, the default agent is used.
    pub(crate) agent: Option<String>,
    /// The prompt.
    pub(crate) prompt: String,
    /// A description for people.
    pub(crate) title: Option<String>,
    /// The working directory, relative to that of the session.
    pub(crate) cwd: Option<PathBuf>,
    /// The batch of the task.
    pub(crate) batch: Option<String>,
    /// Whether the agent gets a separate worktree.
    pub(crate) worktree: bool,
    /// The message that led to the request, if the call names one.
    pub(crate) parent_message: Option<String>,
}

/// Starts another agent in the background.
/// Fails if no agents are available, or this one cannot be started.
pub(crate) fn delegate(wanted: AgentRequest, cx: &CallContext<'_>) -> Result<Task, CallRefusal> {
    let Some(settings) = &cx.call_settings.agents else {
        return Err(Error::invalid("no agents are available", "do the work without an agent").into());
    };
    let mut request = cx.request(settings.command(), wanted.cwd.as_deref());
    cx.place(&mut request.env);
    request.description = wanted.title;
    request.batch = wanted.batch;
    request.parent_message = wanted.parent_message.or(request.parent_message);
    // The call itself was already approved.
    request.approval = Approval::Auto;
    let call =
        AgentCall { agent: wanted.agent, prompt: wanted.prompt, worktree: wanted.worktree, mode: None };
    let task = order(call, request, settings, cx.runtime)?.task;
    cx.note_started(&task);
    Ok(task)
}

/// Waits for an answer up to the time limit of a call. An agent that takes longer continues.
/// Fails if the engine fails.
pub(crate) fn await_answer(task: &Task, cx: &CallContext<'_>) -> Result<ForegroundRun, CallRefusal> {
    let begun = Instant::now();
    cx.caller.awaits(std::slice::from_ref(&task.id));
    let (task, decision) = await_end(task.clone(), cx, || false)?;
    let task = cx.task(task.id.as_str())?;
    let returned = match decision {
        _ if task.status.is_terminal() => ReturnReason::Over,
        WaitDecision::Continue => ReturnReason::Late,
        WaitDecision::Cancel | WaitDecision::Detach => ReturnReason::Left,
    };
    let output = Excerpt::of(&task, cx)?;
    Ok(ForegroundRun { task, returned, took: begun.elapsed(), output })
}

/// Sends a follow-up to an agent that has answered.
/// Fails if the task has no answer, is being resumed, or its session no longer exists.
pub(crate) fn follow_up(handle: &str, message: &str, cx: &CallContext<'_>) -> Result<Task, CallRefusal> {
    Ok(cx.runtime.starts().resume(cx.resolve(handle)?.as_str(), &cx.scope(), message)?)
}
