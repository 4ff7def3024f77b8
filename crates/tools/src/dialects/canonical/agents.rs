//! `agent` and `task_resume`: work for other agents.

use meanwhile::Task;
use mw_model::Status;
use serde_json::json;

use super::lines::outcome;
use super::shell::why_it_goes_on;
use crate::call::{Arguments, CallContext, CallRefusal, Over, Reply, RunEnd};
use crate::operations::{AgentRequest, await_answer, delegate, follow_up};
use mw_model::{millis, seconds};

pub(super) fn agent(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    let text = |name: &str| arguments.text(name).map(str::to_owned);
    let wanted = AgentRequest {
        agent: text("agent"),
        prompt: arguments.required("prompt").to_owned(),
        title: text("description"),
        cwd: text("cwd").map(Into::into),
        batch: text("batch_id"),
        worktree: arguments.flag("worktree") == Some(true),
        parent_message: None,
    };
    let task = delegate(wanted, cx)?;
    if arguments.flag("run_in_background") == Some(true) {
        return Ok(asked(&task, cx));
    }
    let ran = await_answer(&task, cx)?;
    let task = &ran.task;
    if !task.status.is_terminal() {
        let took = seconds(millis(ran.took));
        let why = why_it_goes_on(ran.returned, &took);
        let why = format!("[{why}, the time limit of a call; it continues in the background]\n");
        return Ok(ran.with_output_so_far(asked(task, cx).prepend(&why)));
    }
    let answer = ran.output.text.clone();
    let data = json!({
        "task_id": task.id, "status": task.status, "answer": answer, "output_path": task.output_path,
    });
    let text = format!("{answer}\n[{} {}]", task.id, outcome(task));
    let failed = task.status != Status::Completed;
    Ok(Reply { failed, ..Reply::new(text, data) }.reporting([task.id.clone()]))
}

pub(super) fn task_resume(arguments: &Arguments, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
    Ok(asked(&follow_up(arguments.required("task_id"), arguments.required("message"), cx)?, cx))
}

/// Creates the reply to a message for an agent. It says what happens at the end of the session.
fn asked(task: &Task, cx: &CallContext<'_>) -> Reply {
    let data = json!({
        "task_id": task.id, "status": task.status, "answer": null, "output_path": task.output_path,
        "ends_with_session": cx.ends_with_session(task),
    });
    let text = format!(
        "Started {} ({}). You get a notification with its answer; do not poll. {}",
        task.id,
        task.status.word(),
        cx.end_in_words(task)
    );
    let over = format!("Started {}. It has already ended, see below.", task.id);
    let data_of = |end: RunEnd| json!({"status": end.word});
    Reply::new(text, data).starting(task, move |end| Over { text: over.clone(), data: data_of(end) })
}
