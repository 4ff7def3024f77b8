//! The details of a task, one per line.

use meanwhile::engine::model::{RestartPolicy, short_handle};
use meanwhile::engine::{DeliveryState, TaskNotice};
use meanwhile::model::{Progress, Status, Timestamp};
use meanwhile::{Task, TaskConfinement};

use super::state::{state_words, waits};
use crate::text::{bytes, duration};

/// A detail of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The name of the detail.
    pub name: &'static str,
    /// The value.
    pub value: String,
}

/// Returns the details of a task, the most important first.
#[must_use]
pub fn facts(task: &Task) -> Vec<Fact> {
    let mut facts = vec![
        Fact { name: "name", value: task.name.clone().unwrap_or_else(|| task.command.clone()) },
        Fact { name: "task", value: task.id.to_string() },
        Fact { name: "status", value: state_words(task) },
    ];
    let mut add = |name: &'static str, value: Option<String>| {
        facts.extend(value.map(|value| Fact { name, value }));
    };
    add("handle", task.handle_number.map(|number| short_handle(task.kind, number)));
    add("waiting", waiting_for(task));
    let after = task.after.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    add("after", (!after.is_empty()).then_some(after));
    add("starts", task.not_before.map(moment));
    let last_run = task.last_run.as_ref();
    add(
        "last run",
        last_run.map(|last| format!("run {}: {} at {}", last.run, last.cause, moment(last.ended_at))),
    );
    add("repeat", task.repeat.as_ref().map(|repeat| repeat.due.to_words()));
    add("restart", task.restart.map(RestartPolicy::to_words));
    add("about", task.description.clone());
    add("command", task.name.as_ref().map(|_| task.command.clone()));
    add("shell", task.shell.clone());
    add("directory", Some(task.cwd.clone()));
    add("place", place(task));
    add("session", Some(task.session.clone()));
    let proposal = task.proposal.as_ref().map_or_else(String::new, |id| format!(" ({id})"));
    // What the user starts needs no approval.
    let is_own = task.approved_by == "user" && task.proposal.is_none();
    let approved = || format!("by {} at {}{proposal}", task.approved_by, moment(task.approved_at));
    add("approved", (!is_own).then(approved));
    add("batch", task.batch_id.clone());
    add("pid", task.pid.map(|pid| pid.to_string()));
    add("started", task.started_at.map(moment));
    add("ready", task.ready.map(moment));
    add("ended", task.ended_at.map(moment));
    add("duration", task.duration_ms.map(duration));
    add("outcome", task.outcome.clone());
    add("exit code", task.exit_code.map(|code| code.to_string()));
    add("signal", task.signal.clone());
    add("progress", task.progress.as_ref().map(Progress::to_words));
    let ports = task.ports.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    add("ports", (!ports.is_empty()).then_some(ports));
    add("deadline", task.deadline.map(moment));
    add("confined", task.confined.as_ref().map(TaskConfinement::to_words));
    add("refused", task.confined.as_ref().and_then(TaskConfinement::advice));
    add("limits", task.limits.map(|limits| limits.to_words()));
    add("survivors", (task.survivors > 0).then(|| task.survivors.to_string()));
    add("runs", (task.runs > 1).then(|| task.runs.to_string()));
    let dropped = if task.dropped_bytes > 0 {
        format!(", {} dropped", bytes(task.dropped_bytes))
    } else {
        String::new()
    };
    let missing = if task.output_complete { "" } else { ", may be incomplete" };
    add("output", Some(format!("{} ({}{dropped}{missing})", task.output_path, bytes(task.output_bytes))));
    add("untended", task.untended.clone());
    let trace = task.trace_id.zip(task.span_id);
    add("trace", trace.map(|(trace, span)| format!("{trace}, span {span}")));
    facts
}

/// Describes where a task runs, if it is no process of this machine.
fn place(task: &Task) -> Option<String> {
    let name = task.place.as_ref()?;
    let there = task.place_state.as_ref().and_then(|state| state.to_words());
    Some(there.map_or_else(|| name.clone(), |there| format!("{name}, {there}")))
}

/// Formats a moment to the second.
fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    match text.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => text,
    }
}

/// Describes what a task waits for.
fn waiting_for(task: &Task) -> Option<String> {
    if let Some(note) = task.place_state.as_ref().and_then(|state| state.note.clone()) {
        return Some(note);
    }
    let what = task.waiting_for.as_deref()?;
    Some(match (task.status, waits(task)) {
        (Status::Pending, _) => format!("{what} to complete"),
        (_, Some("input")) => format!("input: {what}"),
        (_, _) => what.to_owned(),
    })
}

/// Describes which notifications were delivered to the owner.
#[must_use]
pub fn notice_facts(notices: &[TaskNotice]) -> Vec<Fact> {
    let words = |notice: &TaskNotice| {
        let delivery = match notice.state {
            DeliveryState::Waiting => "not delivered to its owner yet",
            DeliveryState::HandedOver => "delivered to its owner, not acknowledged yet",
            DeliveryState::Known => "acknowledged by its owner",
        };
        format!("run {} {}: {delivery}", notice.run, notice.kind)
    };
    notices.iter().map(|notice| Fact { name: "notice", value: words(notice) }).collect()
}
