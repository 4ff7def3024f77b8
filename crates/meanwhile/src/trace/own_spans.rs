//! Spans of a front end's own work: a turn of a chat, or a tool used in it. Tasks that it starts meanwhile become
//! children of these spans.

use std::collections::BTreeMap;

use mw_model::{EnvVar, TaskTrace, Timestamp, TraceParent, first_chars};
use serde_json::Value;

use crate::disk::platform;
use crate::error::{Error, Result};
use crate::redact::Redactor;
use crate::span::Span;
use crate::trace::Traces;

/// Maximum length of an error in characters.
const MAX_CHARS: usize = 200;

/// A span that has not ended.
#[derive(Clone, Debug)]
pub struct OwnSpan {
    name: String,
    /// Ids as for the start of a task.
    trace: TaskTrace,
    started_at: Timestamp,
}

impl OwnSpan {
    /// Returns the trace context to pass on to work below this span.
    #[must_use]
    pub const fn as_parent(&self) -> TraceParent {
        let TaskTrace { trace_id, start_span, sampled, .. } = self.trace;
        TraceParent { trace_id, span_id: start_span, sampled }
    }

    /// Sets the parent, another span of its trace.
    #[must_use]
    pub fn below(mut self, parent: TraceParent) -> Self {
        if parent.trace_id == self.trace.trace_id {
            self.trace.parent = Some(parent.span_id);
        }
        self
    }
}

/// The result of the work.
#[derive(Clone, Debug, Default)]
pub struct SpanOutcome {
    /// The error, if there was one.
    pub error: Option<String>,
    /// Further attributes: texts and whole numbers.
    pub attributes: BTreeMap<String, Value>,
}

impl Traces<'_> {
    /// Begins a span below the caller's span.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn begin_span(&self, name: &str, parent: Option<TraceParent>) -> Result<OwnSpan> {
        let random = platform::random_bytes().map_err(Error::io("no random numbers"))?;
        let trace = self.base.settings.traces.ids(random, parent);
        Ok(OwnSpan { name: name.to_owned(), trace, started_at: self.base.clock.now() })
    }

    /// Ends a span of a session's work. It is exported with the spans of tasks. The values of secret variables in the
    /// session's environment are hidden at once, because they are not known later.
    ///
    /// # Errors
    /// When the database fails.
    pub fn end_span(
        &self,
        span: OwnSpan,
        session: &str,
        environment: &[EnvVar],
        outcome: SpanOutcome,
    ) -> Result<()> {
        let OwnSpan { name, trace, started_at } = span;
        let redactor = Redactor::new(&self.base.settings.redact, environment);
        let mut attributes = outcome.attributes;
        for value in attributes.values_mut() {
            if let Value::String(text) = value {
                *text = redactor.text(text).into_owned();
            }
        }
        attributes.insert("session".to_owned(), session.into());
        let span = Span {
            trace_id: trace.trace_id,
            span_id: trace.start_span,
            parent_span_id: trace.parent,
            name,
            task: None,
            run: 0,
            started_at,
            ended_at: Some(self.base.clock.now()),
            links: Vec::new(),
            error: outcome.error.map(|error| shortened(&redactor.text(&error))),
            attributes,
        };
        self.base.database.transact(|transaction| Ok(transaction.enter_own_span(&span, &trace, session)?))
    }

    /// Starts the export of waiting spans, if it is set up. Best effort: the next end catches up.
    pub fn send_spans_on(&self) {
        if self.base.settings.traces.export {
            let _ = self.base.database.spawn_settle();
        }
    }
}

/// Returns the beginning of the first line. It is cut after hiding, because part of a secret is not recognised.
fn shortened(error: &str) -> String {
    first_chars(error.lines().next().unwrap_or_default(), MAX_CHARS).to_owned()
}
