//! Traces for people: a waterfall of spans, one line each, with a bar for the time of each.

use meanwhile::engine::{ExportState, Span, Trace};
use meanwhile::model::{SpanId, Timestamp};
use mw_desk::text::{ago, cell, columns as width_of, count, duration, shortened};

use super::text::paint;
use crate::foreground::terminal;

/// The widths of the columns of a trace.
struct Columns {
    name: usize,
    state: usize,
    bar: usize,
    /// The time of the whole trace: its first start and its last end.
    from: Timestamp,
    to: Timestamp,
}

/// Returns one trace as a waterfall: a tree of spans, each with a bar for its time. A parent span of another program is shown
/// with its id.
pub(crate) fn trace(trace: &Trace, now: Timestamp, colour: bool) -> String {
    const BAR: usize = 24;
    let mut text = format!("trace {}\n", trace.trace_id);
    let is_ours = |id: SpanId| trace.spans.iter().any(|span| span.span_id == id);
    let mut rows: Vec<(Option<&Span>, usize, String)> = Vec::new();
    let mut above = None;
    for root in trace.spans.iter().filter(|span| !span.parent_span_id.is_some_and(is_ours)) {
        if root.parent_span_id.is_some() && root.parent_span_id != above {
            above = root.parent_span_id;
            let asked = mark(above.is_some() && trace.asked == above);
            rows.extend(above.map(|id| (None, 0, format!("{asked} span {id} of the caller\n"))));
        }
        let mut open = vec![(root, usize::from(root.parent_span_id.is_some()))];
        while let Some((span, depth)) = open.pop() {
            rows.push((Some(span), depth, String::new()));
            let children = trace.spans.iter().filter(|child| child.parent_span_id == Some(span.span_id));
            open.extend(children.rev().map(|child| (child, depth + 1)));
        }
    }
    let spans = || rows.iter().filter_map(|(span, depth, _)| Some(((*span)?, *depth)));
    let columns = Columns {
        name: spans().map(|(span, depth)| 2 * depth + span.name.len()).max().unwrap_or(0),
        state: spans().map(|(span, _)| width_of(&state_of(span))).max().unwrap_or(0),
        bar: BAR.min(terminal::width() / 4),
        from: trace.spans.iter().map(|span| span.started_at).min().unwrap_or(now),
        to: trace.spans.iter().map(|span| span.ended_at.unwrap_or(now)).max().unwrap_or(now),
    };
    for (span, depth, caller) in &rows {
        match span {
            Some(span) => {
                text.push_str(&line(span, *depth, trace.asked == Some(span.span_id), &columns, colour));
            }
            None => text.push_str(caller),
        }
    }
    text
}

const fn mark(asked: bool) -> &'static str {
    if asked { "▶" } else { " " }
}

fn line(span: &Span, depth: usize, asked: bool, columns: &Columns, colour: bool) -> String {
    let name = cell(&format!("{}{}", "  ".repeat(depth), span.name), columns.name);
    let state = cell(&state_of(span), columns.state);
    let bar = bar(span, columns);
    let took = took(span.started_at, span.ended_at);
    let plain =
        format!("{} {name}  {bar}  {took:>9}  {state}  {}  {}", mark(asked), span.span_id, whose(span));
    let command = command(span, &plain);
    let code = code_of(span);
    let head = format!(
        "{} {name}  {}  {took:>9}  {}  {}  {}",
        mark(asked),
        paint(&bar, code, colour),
        paint(&state, code, colour),
        paint(&span.span_id.to_string(), "2", colour),
        whose(span)
    );
    format!("{head}{command}\n")
}

/// Returns the bar of a span within the time of its trace. An open span ends with an arrow.
fn bar(span: &Span, columns: &Columns) -> String {
    let whole = columns.to.ms_since(columns.from).max(1) as f64;
    let at = |moment: Timestamp| {
        let part = moment.ms_since(columns.from) as f64 / whole;
        ((part * columns.bar as f64) as usize).min(columns.bar.saturating_sub(1))
    };
    let (begin, end) = (at(span.started_at), at(span.ended_at.unwrap_or(columns.to)));
    let tip = if span.ended_at.is_some() { "━" } else { "▸" };
    let length = end.max(begin) - begin;
    format!(
        "{}{}{tip}{}",
        "·".repeat(begin),
        "━".repeat(length),
        "·".repeat(columns.bar.saturating_sub(begin + length + 1))
    )
}

/// Returns the colour of a span.
fn code_of(span: &Span) -> &'static str {
    match (&span.error, span.ended_at) {
        (Some(_), _) => "31",
        (None, Some(_)) => "32",
        (None, None) => "36",
    }
}

/// Returns how a span has ended.
fn state_of(span: &Span) -> String {
    let word = |name: &str| span.attributes.get(name).and_then(|value| value.as_str()).unwrap_or_default();
    span.ended_at.map_or_else(|| "open".to_owned(), |_| how(span, word("task.status")))
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

/// Returns the cells of a trace, and its first span.
fn row(trace: &Trace, now: Timestamp) -> Option<([String; 6], &Span)> {
    let first = trace.spans.first()?;
    let ended = trace.spans.iter().map(|span| span.ended_at).collect::<Option<Vec<_>>>();
    let last = ended.and_then(|moments| moments.into_iter().max());
    let errors = trace.spans.iter().filter(|span| span.error.is_some()).count();
    let failed = if errors > 0 { count(errors, "error", "errors") } else { String::new() };
    let cells = [
        trace.trace_id.to_string(),
        ago(now.ms_since(first.started_at)),
        took(first.started_at, last),
        trace.spans.len().to_string(),
        failed,
        whose(first).to_owned(),
    ];
    Some((cells, first))
}

/// Traces as a table, the newest first.
pub(crate) fn traces(traces: &[Trace], now: Timestamp, colour: bool) -> String {
    if traces.is_empty() {
        return "No traces.\n".to_owned();
    }
    let heading = ["TRACE", "WHEN", "TIME", "SPANS", "ERRORS", "TASK"].map(str::to_owned);
    let rows: Vec<_> = traces.iter().filter_map(|trace| row(trace, now)).collect();
    let width = |at: usize| {
        let cells = std::iter::once(&heading).chain(rows.iter().map(|(cells, _)| cells));
        cells.map(|cells| width_of(&cells[at])).max().unwrap_or(0)
    };
    let widths: [usize; 6] = std::array::from_fn(width);
    let joined = |cells: &[String; 6]| {
        let cells = cells.iter().zip(widths).map(|(text, width)| cell(text, width));
        cells.collect::<Vec<_>>().join("  ")
    };
    let mut text = paint(&format!("{}  COMMAND", joined(&heading)), "1", colour) + "\n";
    for (cells, first) in &rows {
        let head = joined(cells);
        let code = if cells[4].is_empty() { "" } else { "31" };
        text.push_str(&format!(
            "{}{}\n",
            paint(&head, code, colour && !code.is_empty()),
            command(first, &head)
        ));
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
