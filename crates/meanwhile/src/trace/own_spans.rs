//! Spans of what a front end does itself: a turn of a chat, a tool that was used in it. What it starts meanwhile
//! stands below them.

use std::collections::BTreeMap;

use mw_model::{EnvVar, TaskTrace, Timestamp, TraceParent, first_chars};
use serde_json::Value;

use crate::disk::platform;
use crate::error::{Error, Result};
use crate::redact::Redactor;
use crate::span::Span;
use crate::trace::Traces;

/// Most characters of what went wrong.
const MOST_CHARS: usize = 200;

/// A span under way.
#[derive(Clone, Debug)]
pub struct OwnSpan {
    name: String,
    /// Its ids are those of a start.
    trace: TaskTrace,
    started_at: Timestamp,
}

impl OwnSpan {
    /// Returns what those are told who work for it.
    #[must_use]
    pub const fn as_parent(&self) -> TraceParent {
        let TaskTrace { trace_id, start_span, sampled, .. } = self.trace;
        TraceParent { trace_id, span_id: start_span, sampled }
    }

    /// Puts it below another span of its trace.
    #[must_use]
    pub fn below(mut self, parent: TraceParent) -> Self {
        if parent.trace_id == self.trace.trace_id {
            self.trace.parent = Some(parent.span_id);
        }
        self
    }
}

/// How it went.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What went wrong.
    pub error: Option<String>,
    /// What else is to be known: texts and whole numbers.
    pub attributes: BTreeMap<String, Value>,
}

impl Traces<'_> {
    /// Begins a span, below whoever it is done for.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn begin_span(&self, name: &str, parent: Option<TraceParent>) -> Result<OwnSpan> {
        let random = platform::random_bytes().map_err(Error::io("no random numbers"))?;
        let trace = self.base.settings.traces.place(random, parent);
        Ok(OwnSpan { name: name.to_owned(), trace, started_at: self.base.clock.now() })
    }

    /// Ends a span of a session's work. It is sent on with the spans of tasks. The values of secret variables in the
    /// session's environment are hidden at once: nobody knows them later.
    ///
    /// # Errors
    /// When the database fails.
    pub fn end_span(
        &self,
        span: OwnSpan,
        session: &str,
        environment: &[EnvVar],
        outcome: Outcome,
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
        self.base.transact(|transaction| Ok(transaction.enter_own_span(&span, &trace, session)?))
    }

    /// Has spans that wait sent on, where somebody wants them; the next ending does what is missed here.
    pub fn send_spans_on(&self) {
        if self.base.settings.traces.export {
            let _ = self.base.spawn_runner();
        }
    }
}

/// Returns the beginning of the first line. It is cut after hiding: half a secret looks like none.
fn shortened(error: &str) -> String {
    first_chars(error.lines().next().unwrap_or_default(), MOST_CHARS).to_owned()
}
