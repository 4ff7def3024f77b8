//! Traces for people: a tree of spans, one line each.

use meanwhile::engine::{ExportState, Span, Trace};
use meanwhile::model::{SpanId, Timestamp};
use mw_desk::text::{count, duration, shortened};

use crate::foreground::terminal;

/// Returns one trace as a tree. A parent span of another program is shown with its id.
pub(crate) fn trace(trace: &Trace) -> String {
    let mut text = format!("trace {}\n", trace.trace_id);
    let is_ours = |id: SpanId| trace.spans.iter().any(|span| span.span_id == id);
    let mut above = None;
    for root in trace.spans.iter().filter(|span| !span.parent_span_id.is_some_and(is_ours)) {
        if root.parent_span_id.is_some() && root.parent_span_id != above {
            above = root.parent_span_id;
            let asked = mark(above.is_some() && trace.asked == above);
            text.extend(above.map(|id| format!("{asked} span {id} of the caller\n")));
        }
        let mut open = vec![(root, usize::from(root.parent_span_id.is_some()))];
        while let Some((span, depth)) = open.pop() {
            text.push_str(&line(span, depth, trace.asked == Some(span.span_id)));
            let children = trace.spans.iter().filter(|child| child.parent_span_id == Some(span.span_id));
            open.extend(children.rev().map(|child| (child, depth + 1)));
        }
    }
    text
}

const fn mark(asked: bool) -> &'static str {
    if asked { "▶" } else { " " }
}

fn line(span: &Span, depth: usize, asked: bool) -> String {
    let word = |name: &str| span.attributes.get(name).and_then(|value| value.as_str()).unwrap_or_default();
    let state = span.ended_at.map(|_| format!("  {}", how(span, word("task.status")))).unwrap_or_default();
    let head = format!(
        "{} {}{}  {}  {}{state}  {}",
        mark(asked),
        "  ".repeat(depth),
        span.name,
        span.span_id,
        took(span.started_at, span.ended_at),
        whose(span)
    );
    format!("{head}{}\n", command(span, &head))
}

/// Returns the task, or the session of a span without a task.
fn whose(span: &Span) -> &str {
    let session = || span.attributes.get("session").and_then(|value| value.as_str()).unwrap_or_default();
    span.task.as_ref().map_or_else(session, |task| task.as_str())
}

/// Returns the command, cut to the rest of the line.
fn command(span: &Span, head: &str) -> String {
    let command = span.attributes.get("task.command").and_then(|value| value.as_str()).unwrap_or_default();
    let room = terminal::width().saturating_sub(head.chars().count() + 2).max(20);
    format!("  {}", shortened(&command.replace('\n', " ⏎ "), room))
}

/// Returns the duration of a span, in milliseconds if it is short.
fn took(from: Timestamp, to: Option<Timestamp>) -> String {
    match to.map(|to| to.as_micros().saturating_sub(from.as_micros()).max(0)) {
        None => "open".to_owned(),
        Some(micros) if micros < 1_000_000 => format!("{}.{} ms", micros / 1000, micros % 1000 / 100),
        Some(micros) => duration((micros / 1000).unsigned_abs()),
    }
}

/// Returns the outcome of a span; for a successful start not `running`, which would mislead.
fn how(span: &Span, status: &str) -> String {
    match (&span.error, status) {
        (Some(error), _) => shortened(error, 60),
        (None, "running") => "started".to_owned(),
        (None, status) => status.to_owned(),
    }
}

/// Traces, a line each.
pub(crate) fn traces(traces: &[Trace]) -> String {
    if traces.is_empty() {
        return "No traces.\n".to_owned();
    }
    let mut text = String::new();
    for trace in traces {
        let Some(first) = trace.spans.first() else { continue };
        let ended = trace.spans.iter().map(|span| span.ended_at).collect::<Option<Vec<_>>>();
        let last = ended.and_then(|moments| moments.into_iter().max());
        let took = took(first.started_at, last);
        let errors = trace.spans.iter().filter(|span| span.error.is_some()).count();
        let failed =
            if errors > 0 { format!(", {}", count(errors, "error", "errors")) } else { String::new() };
        let spans = count(trace.spans.len(), "span", "spans");
        let head =
            format!("{}  {}  {took}  {spans}{failed}  {}", trace.trace_id, first.started_at, whose(first));
        text.push_str(&format!("{head}{}\n", command(first, &head)));
    }
    text
}

/// Returns the state of the export; none without a receiver.
pub(crate) fn export_state(state: &ExportState, now: Timestamp) -> String {
    let mut text = String::new();
    let spans = |number: u64| count(number as usize, "span", "spans");
    let place = state.endpoint.as_deref().unwrap_or("nowhere yet");
    let ago = state.tried_at.map(|at| duration(now.ms_since(at))).unwrap_or_default();
    if state.waiting > 0 {
        let wait = if state.waiting == 1 { "waits" } else { "wait" };
        let why = state.error.as_ref().map(|error| format!(": {error} ({place}); last tried {ago} ago"));
        text.push_str(&format!("{} {wait} for export{}\n", spans(state.waiting), why.unwrap_or_default()));
    }
    if state.delivered > 0 {
        text.push_str(&format!("{} delivered\n", spans(state.delivered)));
    }
    if state.rejected > 0 {
        let why = state.error.as_ref().filter(|_| state.waiting == 0);
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        text.push_str(&format!("{} rejected by the receiver{why}\n", spans(state.rejected)));
    }
    if state.given_up > 0 {
        text.push_str(&format!("{} dropped: not accepted for a week\n", spans(state.given_up)));
    }
    text
}
