//! Traces as front ends see them: ended spans, and the current spans of live tasks.

use mw_model::{SpanId, TaskId, TraceId};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::read::Tasks;
use crate::reconcile::Reconciler;
use crate::redact::Redaction;
use crate::span;
use crate::span::Span;
use crate::task::Scope;
use crate::trace::Traces;

/// The known spans of one trace.
#[derive(Clone, Debug, Serialize)]
pub struct Trace {
    /// The trace.
    pub trace_id: TraceId,
    /// The requested span, if any.
    pub asked: Option<SpanId>,
    /// All spans, by start time.
    pub spans: Vec<Span>,
}

impl Traces<'_> {
    /// Returns the trace for a span id, a trace id or any handle of a task.
    ///
    /// # Errors
    /// When nothing has that id or name.
    pub fn trace(&self, name: &str, scope: &Scope) -> Result<Trace> {
        Reconciler::on(self.base).reconcile()?;
        let live = self.open_spans(scope)?;
        let found = match (name.parse::<SpanId>(), name.parse::<TraceId>()) {
            (Ok(span), _) => self.trace_of_span(span, &live)?.map(|trace| (trace, Some(span))),
            (_, Ok(trace)) => Some((trace, None)),
            _ => {
                let task = Tasks::on(self.base).task(name, scope)?;
                task.trace.map(|trace| (trace.trace_id, task.span_id))
            }
        };
        let (trace_id, asked) = found.ok_or_else(|| Error::NoTrace(name.to_owned()))?;
        let trace = Trace { asked, ..self.whole_trace(trace_id, scope, &live)? };
        if trace.spans.is_empty() { Err(Error::NoTrace(name.to_owned())) } else { Ok(trace) }
    }

    /// Returns the newest traces, those of live tasks first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn list(&self, scope: &Scope, most: u32) -> Result<Vec<Trace>> {
        Reconciler::on(self.base).reconcile()?;
        let live = self.open_spans(scope)?;
        let ended = self.base.database.store()?.recent_traces(scope, most)?;
        let mut ids: Vec<TraceId> = Vec::new();
        for id in live.iter().map(|span| span.trace_id).chain(ended) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids.into_iter().take(most as usize).map(|id| self.whole_trace(id, scope, &live)).collect()
    }

    /// Returns the variables of a task's command whose names begin with `prefix`.
    ///
    /// # Errors
    /// When the task's spec is missing or damaged.
    pub fn variables_of(&self, id: &TaskId, prefix: &str) -> Result<Vec<(String, String)>> {
        let spec = self.base.home.task(id).spec()?;
        let named = spec.env.iter().filter(|var| var.name.as_bytes().starts_with(prefix.as_bytes()));
        Ok(named.map(|var| (var.name.to_lossy(), var.value.to_lossy())).collect())
    }

    fn whole_trace(&self, trace_id: TraceId, scope: &Scope, live: &[Span]) -> Result<Trace> {
        let mut spans = self.base.database.store()?.spans_of_trace(trace_id, scope)?;
        spans.extend(live.iter().filter(|span| span.trace_id == trace_id).cloned());
        spans.sort_by_key(|span| (span.started_at, span.run));
        Ok(Trace { trace_id, asked: None, spans: Redaction::on(self.base).spans_without_secrets(spans) })
    }

    fn trace_of_span(&self, id: SpanId, live: &[Span]) -> Result<Option<TraceId>> {
        let is_it = |span: &&Span| span.span_id == id || span.parent_span_id == Some(id);
        match live.iter().find(is_it) {
            Some(span) => Ok(Some(span.trace_id)),
            None => Ok(self.base.database.store()?.trace_of_span(id)?),
        }
    }

    fn open_spans(&self, scope: &Scope) -> Result<Vec<Span>> {
        let live = self.base.database.store()?.live(scope)?;
        Ok(live.iter().filter_map(|task| span::open_span(task, task.trace.as_ref()?)).collect())
    }
}
