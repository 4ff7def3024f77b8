//! The details of a task, one per line.

use meanwhile::Task;
use meanwhile::engine::{DeliveryState, TaskNotice};
use meanwhile::model::{Progress, Status};

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
        Fact { name: "task", value: task.id.to_string() },
        Fact { name: "status", value: state_words(task) },
    ];
    let mut add = |name: &'static str, value: Option<String>| {
        facts.extend(value.map(|value| Fact { name, value }));
    };
    add("waiting", waiting_for(task));
    let after = task.after.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    add("after", (!after.is_empty()).then_some(after));
    add("name", task.name.clone());
    add("about", task.description.clone());
    add("command", Some(task.command.clone()));
    add("directory", Some(task.cwd.clone()));
    add("place", task.place.map(|place| place.to_string()));
    add("session", Some(task.session.clone()));
    let proposal = task.proposal.as_ref().map_or_else(String::new, |id| format!(" ({id})"));
    add("approved", Some(format!("by {} at {}{proposal}", task.approved_by, task.approved_at)));
    add("batch", task.batch_id.clone());
    add("pid", task.pid.map(|pid| pid.to_string()));
    add("started", task.started_at.map(|at| at.to_string()));
    add("ready", task.ready.map(|at| at.to_string()));
    add("ended", task.ended_at.map(|at| at.to_string()));
    add("duration", task.duration_ms.map(duration));
    add("exit code", task.exit_code.map(|code| code.to_string()));
    add("signal", task.signal.clone());
    add("progress", task.progress.as_ref().map(Progress::to_words));
    let ports = task.ports.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    add("ports", (!ports.is_empty()).then_some(ports));
    add("deadline", task.deadline.map(|at| at.to_string()));
    add("limits", task.limits.map(|limits| limits.to_words()));
    add("survivors", (task.survivors > 0).then(|| task.survivors.to_string()));
    let trace = task.trace_id.zip(task.span_id);
    add("trace", trace.map(|(trace, span)| format!("{trace}, span {span}")));
    add("runs", (task.runs > 1).then(|| task.runs.to_string()));
    let dropped = if task.dropped_bytes > 0 {
        format!(", {} dropped", bytes(task.dropped_bytes))
    } else {
        String::new()
    };
    let missing = if task.output_complete { "" } else { ", may be incomplete" };
    add("output", Some(format!("{} ({}{dropped}{missing})", task.output_path, bytes(task.output_bytes))));
    add("untended", task.untended.clone());
    facts
}

/// Describes what a task waits for.
fn waiting_for(task: &Task) -> Option<String> {
    let what = task.waiting_for.as_deref()?;
    Some(match (task.status, waits(task)) {
        (Status::Pending, _) => format!("{what} to complete"),
        (_, Some("input")) => format!("input: {what}"),
        (_, _) => what.to_owned(),
    })
}

/// Describes which notifications were delivered to the owner.
#[must_use]
pub fn news_facts(news: &[TaskNotice]) -> Vec<Fact> {
    let words = |news: &TaskNotice| {
        let delivery = match news.state {
            DeliveryState::Waiting => "not delivered to its owner yet",
            DeliveryState::HandedOver => "delivered to its owner, not acknowledged yet",
            DeliveryState::Known => "acknowledged by its owner",
        };
        format!("run {} {}: {delivery}", news.run, news.kind)
    };
    news.iter().map(|news| Fact { name: "notice", value: words(news) }).collect()
}
