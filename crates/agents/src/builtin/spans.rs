//! The trace spans of turns and calls. The span of a task is a child of the call that started it. The span of a turn is
//! a child of the agent's caller.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::StopReason;
use meanwhile::engine::{Outcome, OwnSpan, Runtime};
use mw_model::{EnvVar, TRACEPARENT_VARIABLE, TraceParent};
use serde_json::{Value, json};

use super::model::Usage;
use super::session::Session;

/// The name of the span of a turn.
const TURN: &str = "chat_turn";

impl Session {
    /// Begins the span of a turn. If this fails, the turn runs without a span.
    pub(super) fn begin_turn_span(&self) -> Option<OwnSpan> {
        let told = self.call_settings.env.iter().rfind(|var| is_parent(var));
        let parent = told.and_then(|var| std::str::from_utf8(var.value.as_bytes()).ok()?.parse().ok());
        self.begin_span(TURN, parent)
    }

    /// Begins the span of a call.
    pub(super) fn begin_call_span(&self, tool: &str, turn: Option<&OwnSpan>) -> Option<OwnSpan> {
        self.begin_span(&format!("tool_{tool}"), Some(turn?.as_parent()))
    }

    fn begin_span(&self, name: &str, parent: Option<TraceParent>) -> Option<OwnSpan> {
        let begin = || Runtime::open(self.settings.as_ref().clone())?.traces().begin_span(name, parent);
        tokio::task::block_in_place(begin).ok()
    }

    /// Ends a span. If this fails, it is missing from the trace.
    fn end_span(&self, span: Option<OwnSpan>, outcome: Outcome) -> Option<Runtime> {
        let span = span?;
        tokio::task::block_in_place(|| {
            let runtime = Runtime::open(self.settings.as_ref().clone()).ok()?;
            runtime
                .traces()
                .end_span(span, &self.call_settings.session, &self.call_settings.env, outcome)
                .ok()?;
            Some(runtime)
        })
    }

    /// Ends the span of a call and records the tool and the reason of a failure. The span of a call that started a
    /// background task becomes a child of the task's span.
    pub(super) fn end_call_span(
        &self,
        span: Option<OwnSpan>,
        tool: &str,
        failure: Option<&str>,
        started: Option<TraceParent>,
    ) {
        let span = span.map(|span| started.into_iter().fold(span, OwnSpan::below));
        let error = failure.map(str::to_owned);
        let attributes = [("tool.name".to_owned(), Value::from(tool))].into();
        let _ = self.end_span(span, Outcome { error, attributes });
    }

    /// Ends the span of a turn, and exports all spans if an exporter is set.
    pub(super) fn end_turn_span(
        &self,
        span: Option<OwnSpan>,
        model: &str,
        ended: Result<StopReason, &Error>,
        usage: Option<Usage>,
    ) {
        let mut outcome =
            Outcome { error: ended.err().map(|error| error.message.clone()), ..Outcome::default() };
        let mut add = |name: &str, value: Value| _ = outcome.attributes.insert(name.to_owned(), value);
        add("agent.model", model.into());
        if let Ok(reason) = ended {
            add("agent.stop_reason", json!(reason));
        }
        if let Some(usage) = usage {
            add("agent.input_tokens", usage.input.into());
            add("agent.output_tokens", usage.output.into());
        }
        if let Some(runtime) = self.end_span(span, outcome) {
            tokio::task::block_in_place(|| runtime.traces().send_spans_on());
        }
    }
}

fn is_parent(var: &EnvVar) -> bool {
    var.name.as_bytes() == TRACEPARENT_VARIABLE.as_bytes()
}
