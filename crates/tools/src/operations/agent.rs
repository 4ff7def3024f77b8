//! Asking another agent.

use std::path::{Path, PathBuf};

use meanwhile::{Approval, Condition, Error, Task, WaitRequest};

use crate::call::Refusal;
use crate::call::{Desk, Patience};
use crate::delegation::{AgentCall, order};

/// What is wanted of another agent.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Who; the default one unless said.
    pub agent: Option<String>,
    /// What it is asked.
    pub prompt: String,
    /// A line for people.
    pub title: Option<String>,
    /// Where it works; relative to where the session works.
    pub cwd: Option<PathBuf>,
    /// The batch it belongs to.
    pub batch: Option<String>,
    /// Whether it gets a worktree of its own.
    pub worktree: bool,
    /// The message that led to it, where the call names one.
    pub parent_message: Option<String>,
}

/// Asks another agent in the background.
///
/// # Errors
/// When there are no agents here, or this one cannot be started; nothing is left of it then.
pub fn delegate(wish: Wish, desk: &Desk<'_>) -> Result<Task, Refusal> {
    let premises = desk.premises;
    let Some(settings) = &premises.agents else {
        let hint = "do it yourself".to_owned();
        return Err(Error::Invalid { message: "no agents can be asked here".to_owned(), hint }.into());
    };
    let mut env = premises.env.clone();
    desk.place(&mut env);
    let call = AgentCall {
        agent: wish.agent,
        prompt: wish.prompt,
        description: wish.title,
        name: None,
        dialect: desk.dialect,
        context: desk.context().map(str::to_owned),
        session: premises.session.clone(),
        cwd: premises.cwd.join(wish.cwd.as_deref().unwrap_or(Path::new(""))),
        env,
        umask: premises.umask,
        limits: premises.limits.clone(),
        lifetime: desk.lifetime(),
        at_capacity: premises.at_capacity,
        batch: wish.batch,
        worktree: wish.worktree,
        mode: None,
        parent_message: wish.parent_message.or_else(|| desk.parent_message.map(str::to_owned)),
        starter: desk.teller.cloned(),
        // The call itself has passed the gate.
        approval: Approval::Auto,
    };
    let task = order(call, settings, desk.runtime)?.task;
    desk.note_started(&task);
    Ok(task)
}

/// Waits for an answer as long as a call may take. An agent that takes longer goes on.
///
/// # Errors
/// When the engine fails.
pub fn await_answer(task: &Task, desk: &Desk<'_>) -> Result<Task, Refusal> {
    desk.caller.awaits(std::slice::from_ref(&task.id));
    let request = WaitRequest {
        tasks: vec![task.id.clone()],
        any: false,
        condition: Condition::Exit,
        timeout: Some(desk.premises.longest_call),
        look_every: Some(desk.caller.look_every()),
    };
    desk.runtime.wait_with(&request, |tasks| desk.caller.meanwhile(tasks) == Patience::GoOn)?;
    Ok(desk.task(task.id.as_str())?)
}

/// Sends a follow-up to an agent that has answered.
///
/// # Errors
/// When the task has no answer, is being resumed, or its session is gone.
pub fn follow_up(handle: &str, message: &str, desk: &Desk<'_>) -> Result<Task, Refusal> {
    Ok(desk.runtime.resume(desk.resolve(handle)?.as_str(), &desk.scope(), message)?)
}
