//! Explains why a task is queued.

use std::io::IsTerminal;

use meanwhile::engine::Runtime;
use meanwhile::model::{Status, TaskKind};
use meanwhile::{Scope, Task, TaskFilter};

use crate::context::Context;
use crate::render;

/// How many blocking tasks are named.
const NAMED: usize = 5;

/// Explains on stderr what a queued task waits for, and what to do.
pub(crate) fn explain_queue(context: &Context, runtime: &Runtime, task: &Task) {
    if task.status != Status::Pending {
        return;
    }
    // Facts that cannot be found are omitted.
    let task = runtime.tasks().task(task.id.as_str(), &context.scope()).unwrap_or_else(|_| task.clone());
    if task.status != Status::Pending {
        return;
    }
    let name = task.short_name();
    let leaves = if std::io::stdin().is_terminal() {
        "press Ctrl-B to leave it in the queue, Ctrl-C to cancel it"
    } else {
        "press Ctrl-C to cancel it"
    };
    if let Some(others) = &task.waiting_for {
        render::note(&format!("{name} is queued: it starts when {others} has completed; {leaves}"));
        return;
    }
    let filter = TaskFilter {
        statuses: vec![Status::Running, Status::Resumed, Status::Cancelling],
        kind: Some(task.kind),
        limit: NAMED as u32,
        ..TaskFilter::new(Scope::Session(task.session.clone()))
    };
    let Ok(page) = runtime.tasks().list(&filter) else { return };
    let names: Vec<_> = page.tasks.iter().map(Task::short_name).collect();
    let more = page.total.saturating_sub(names.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let queue = &context.config.settings.queue;
    let (limit, setting) = match task.kind {
        TaskKind::Agent => (queue.max_agents, "MEANWHILE_SUBAGENT_MAX_RUNNING"),
        TaskKind::Shell | TaskKind::Remote => (queue.max_running, "MEANWHILE_QUEUE_MAX_RUNNING"),
    };
    let place = task.queue_position.map(|place| format!(", position {place}")).unwrap_or_default();
    render::note(&format!(
        "{name} is queued{place}: {} of {limit} slots are in use ({}{more})",
        page.total,
        names.join(", ")
    ));
    // The tasks before it start first.
    let enough = limit + task.queue_position.unwrap_or(1);
    render::note(&format!("{leaves}; to start it at once, put {setting}={enough} in front of the command"));
}
