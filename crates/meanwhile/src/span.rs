//! The spans of a task, computed from its records. The same records always give the same spans.
//!
//! ```text
//! requested ──── background_task_start ────▶ first process ──── background_task_execute ────▶ ended
//! ```
//!
//! A task that ends without having run has only the first span. Every later run has its own second span.

use std::collections::BTreeMap;

use mw_model::{Cause, Event, SpanId, Status, TaskId, TaskState, TaskTrace, Timestamp, TraceId, first_bytes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::task::Task;

/// The name of the span from the request to the first process.
pub const START_SPAN: &str = "background_task_start";
/// The name of the span of a run.
pub const EXECUTE_SPAN: &str = "background_task_execute";

/// A run that begins later than this after the request is not a child of the request's span, because the caller has
/// long finished. It is still linked to it.
pub(crate) const LONG_WAIT_MS: u64 = 60_000;

/// Maximum length of a shown text in a span, in bytes.
const MAX_BYTES: usize = 4096;

/// Attributes whose texts this program generates.
pub(crate) const FACTS: [&str; 6] =
    ["task.id", "task.kind", "task.session", "task.status", "task.approved_by", "task.approved_at"];

/// One span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The trace.
    pub trace_id: TraceId,
    /// The span.
    pub span_id: SpanId,
    /// The parent span.
    pub parent_span_id: Option<SpanId>,
    /// [`START_SPAN`], [`EXECUTE_SPAN`], or a front end's own name for its work.
    pub name: String,
    /// The task; `None` for a session's own work.
    pub task: Option<TaskId>,
    /// The run; 0 for the start.
    pub run: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended, if it has.
    pub ended_at: Option<Timestamp>,
    /// Spans of the same trace that led to it.
    pub links: Vec<SpanId>,
    /// The error, if there was one.
    pub error: Option<String>,
    /// Further attributes: texts and whole numbers.
    pub attributes: BTreeMap<String, Value>,
}

/// One run, from the records of a task.
pub(crate) struct RunFacts<'record> {
    pub(crate) run: u32,
    pub(crate) pid: Option<u32>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ended: Option<(Timestamp, &'record Cause)>,
}

/// Returns the span that an event ended, given the task after the event.
pub(crate) fn ended_by(task: &Task, trace: &TaskTrace, event: &Event) -> Option<Span> {
    let run = task.state.run();
    match event {
        Event::Started { .. } if run == 1 => Some(start_span(task, trace, &present_run(task))),
        Event::Ended { cause, ended_at, .. } => {
            let facts = RunFacts { ended: Some((*ended_at, cause)), ..present_run(task) };
            Some(last_span(task, trace, &facts))
        }
        Event::Reserved { .. }
        | Event::Released
        | Event::Started { .. }
        | Event::KillRequested { .. }
        | Event::Requeued { .. }
        | Event::Stalled { .. }
        | Event::Ready { .. }
        | Event::Progress { .. }
        | Event::MovedToBackground { .. }
        | Event::Reassigned { .. }
        | Event::TreeEmpty => None,
    }
}

/// Returns the current span of a live task.
pub(crate) fn open_span(task: &Task, trace: &TaskTrace) -> Option<Span> {
    let is_over = matches!(task.state, TaskState::Ended { .. });
    (!is_over).then(|| last_span(task, trace, &present_run(task)))
}

/// Returns all spans of an earlier run.
pub(crate) fn of_earlier_run(task: &Task, trace: &TaskTrace, facts: &RunFacts<'_>) -> Vec<Span> {
    let start = (facts.run == 1 && facts.started_at.is_some()).then(|| start_span(task, trace, facts));
    start.into_iter().chain([last_span(task, trace, facts)]).collect()
}

fn present_run(task: &Task) -> RunFacts<'_> {
    let run = task.state.run();
    RunFacts { run, pid: task.pid, started_at: task.state.started_at(), ended: None }
}

/// Returns the last or current span of a run. For a run that never began this is the start span or, if it was not the
/// first run, a span of zero length.
fn last_span(task: &Task, trace: &TaskTrace, facts: &RunFacts<'_>) -> Span {
    if facts.run == 1 && facts.started_at.is_none() {
        start_span(task, trace, facts)
    } else {
        execute_span(task, trace, facts)
    }
}

/// Returns the start span, which ends with the first process, or with the task if it never had one.
fn start_span(task: &Task, trace: &TaskTrace, facts: &RunFacts<'_>) -> Span {
    let without_process = facts.ended.filter(|_| facts.started_at.is_none());
    Span {
        span_id: trace.start_span,
        parent_span_id: trace.parent,
        name: START_SPAN.to_owned(),
        run: 0,
        started_at: task.created_at,
        ended_at: facts.started_at.or(without_process.map(|(at, _)| at)),
        links: Vec::new(),
        ..span(task, trace, facts, without_process.map(|(_, cause)| cause))
    }
}

fn execute_span(task: &Task, trace: &TaskTrace, facts: &RunFacts<'_>) -> Span {
    let ended_at = facts.ended.map(|(at, _)| at);
    let started_at = facts.started_at.or(ended_at).unwrap_or(task.created_at);
    let soon = facts.run == 1 && started_at.ms_since(task.created_at) <= LONG_WAIT_MS;
    let first_run = (facts.run > 1).then_some(trace.execute_span);
    Span {
        span_id: trace.execute_span(facts.run),
        parent_span_id: soon.then_some(trace.start_span),
        name: EXECUTE_SPAN.to_owned(),
        run: facts.run,
        started_at,
        ended_at,
        links: [trace.start_span].into_iter().chain(first_run).collect(),
        ..span(task, trace, facts, facts.ended.map(|(_, cause)| cause))
    }
}

/// Returns a span with the fields that all spans of a task share. The caller fills in the rest.
fn span(task: &Task, trace: &TaskTrace, facts: &RunFacts<'_>, cause: Option<&Cause>) -> Span {
    let status = match (cause, facts.started_at) {
        (Some(cause), _) => cause.status(),
        (None, Some(_)) => Status::Running,
        (None, None) => Status::Pending,
    };
    let mut attributes = BTreeMap::new();
    let mut add = |name: &str, value: Option<Value>| {
        attributes.extend(value.map(|value| (name.to_owned(), value)));
    };
    add("task.id", Some(task.id.as_str().into()));
    add("task.kind", Some(task.kind.word().into()));
    add("task.session", Some(task.session.as_str().into()));
    add("task.command", Some(task.command.as_str().into()));
    add("task.status", Some(status.word().into()));
    add("task.pid", facts.pid.filter(|pid| *pid > 0).map(Value::from));
    add("task.exit_code", cause.and_then(Cause::exit_code).map(Value::from));
    add("task.cause", cause.map(|cause| cause.to_words().into()));
    add("task.approved_by", Some(task.approved_by.as_str().into()));
    add("task.approved_at", Some(task.approved_at.to_string().into()));
    Span {
        trace_id: trace.trace_id,
        span_id: trace.start_span,
        parent_span_id: None,
        name: String::new(),
        task: Some(task.id.clone()),
        run: facts.run,
        started_at: task.created_at,
        ended_at: None,
        links: Vec::new(),
        error: cause.filter(|_| status.is_error()).map(Cause::to_words),
        attributes,
    }
}

/// Shortens a text for a span. The task has the whole text.
pub(crate) fn cap(text: &mut String) {
    if let (kept, left_out @ 1..) = first_bytes(text, MAX_BYTES) {
        *text = format!("{kept}… ({left_out} bytes omitted)");
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use mw_model::{Process, RunOrigin, TaskSpec};

    use super::*;

    const REQUESTED_AT: i64 = 1_000_000_000;

    fn task_started_after(ms: u64) -> Task {
        let at = Timestamp::from_micros(REQUESTED_AT);
        let spec = serde_json::json!({
            "version": 1, "id": "bash-k3f9x2ab", "kind": "shell", "session": "default", "number": 1,
            "command": {"argv": ["true"]}, "cwd": "/", "env": [],
            "limits": mw_model::Limits::default(), "created_at": at, "approved_by": "auto", "approved_at": at,
            "trace": TaskTrace::new(std::array::from_fn(|at| at as u8), None, mw_model::Sampler::default()),
        });
        let spec: TaskSpec = serde_json::from_value(spec).unwrap();
        let process = Process { pid: 7, start_ticks: 0, boot_id: String::new() };
        let started_at = at.plus_ms(ms);
        let state = TaskState::Running { run: 1, origin: RunOrigin::First, process, started_at, ready: None };
        Task::new(&spec, state, Path::new("/log"))
    }

    #[test]
    fn a_run_that_starts_long_after_the_request_is_linked_but_not_a_child() {
        for (ms, is_child) in [(0, true), (LONG_WAIT_MS, true), (LONG_WAIT_MS + 1, false)] {
            let task = task_started_after(ms);
            let trace = task.trace.unwrap();
            let span = open_span(&task, &trace).unwrap();
            assert_eq!(span.parent_span_id, is_child.then_some(trace.start_span), "{ms}");
            assert_eq!(span.links, [trace.start_span], "{ms}");
        }
    }

    #[test]
    fn a_long_command_is_cut_between_characters_with_a_note() {
        let mut whole = "é".repeat(2048);
        cap(&mut whole);
        assert_eq!(whole, "é".repeat(2048));
        let mut long = format!("x{}", "é".repeat(2100));
        cap(&mut long);
        assert_eq!(long, format!("x{}… (106 bytes omitted)", "é".repeat(2047)));
    }

    #[test]
    fn an_unknown_process_has_no_pid_attribute() {
        let mut task = task_started_after(0);
        task.pid = Some(0);
        let span = open_span(&task, &task.trace.unwrap()).unwrap();
        assert_eq!(span.attributes.get("task.pid"), None);
    }
}
