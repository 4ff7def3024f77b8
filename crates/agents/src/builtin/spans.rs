//! The trace spans of turns and calls. The span of a task is a child of the call that started it. The span of a turn is
//! a child of the agent's caller.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::StopReason;
use meanwhile::engine::{OwnSpan, Runtime, SpanOutcome};
use mw_model::{EnvVar, TRACEPARENT_VARIABLE, TraceParent};
use serde_json::{Value, json};

use super::model::TokenUsage;
use super::session::AcpSession;
use mw_tools::call::CallSettings;

/// The name of the span of a turn.
const TURN: &str = "chat_turn";

impl AcpSession {
    /// Begins the span of a turn. If this fails, the turn runs without a span.
    pub(super) fn begin_turn_span(&self) -> Option<OwnSpan> {
        let parent_variable = self.call_settings.env.iter().rfind(|var| is_parent(var));
        let parent =
            parent_variable.and_then(|var| std::str::from_utf8(var.value.as_bytes()).ok()?.parse().ok());
        self.begin_span(TURN, parent)
    }

    /// Begins the span of a call.
    pub(super) fn begin_call_span(&self, tool: &str, turn: Option<&OwnSpan>) -> Option<OwnSpan> {
        self.begin_span(&format!("tool_{tool}"), Some(turn?.as_parent()))
    }

    fn begin_span(&self, name: &str, parent: Option<TraceParent>) -> Option<OwnSpan> {
        let begin = |runtime: &Runtime| runtime.traces().begin_span(name, parent);
        tokio::task::block_in_place(|| self.home.with(begin)).ok()
    }

    /// Ends a span. If this fails, it is missing from the trace.
    fn end_span(&self, span: OwnSpan, outcome: SpanOutcome, and_then: impl FnOnce(&Runtime)) {
        let CallSettings { session, env, .. } = &self.call_settings;
        let end = |runtime: &Runtime| {
            runtime.traces().end_span(span, session, env, outcome)?;
            and_then(runtime);
            Ok(())
        };
        let _ = tokio::task::block_in_place(|| self.home.with(end));
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
        let Some(span) = span else { return };
        let span = started.into_iter().fold(span, OwnSpan::below);
        let error = failure.map(str::to_owned);
        let attributes = [("tool.name".to_owned(), Value::from(tool))].into();
        self.end_span(span, SpanOutcome { error, attributes }, |_| {});
    }

    /// Ends the span of a turn, and exports all spans if an exporter is set.
    pub(super) fn end_turn_span(
        &self,
        span: Option<OwnSpan>,
        model: &str,
        ended: Result<StopReason, &Error>,
        usage: Option<TokenUsage>,
    ) {
        let Some(span) = span else { return };
        let mut outcome =
            SpanOutcome { error: ended.err().map(|error| error.message.clone()), ..SpanOutcome::default() };
        let mut add = |name: &str, value: Value| _ = outcome.attributes.insert(name.to_owned(), value);
        add("agent.model", model.into());
        if let Ok(reason) = ended {
            add("agent.stop_reason", json!(reason));
        }
        if let Some(usage) = usage {
            add("agent.input_tokens", usage.input.into());
            add("agent.output_tokens", usage.output.into());
        }
        self.end_span(span, outcome, |runtime| runtime.traces().send_spans_on());
    }
}

fn is_parent(var: &EnvVar) -> bool {
    var.name.as_bytes() == TRACEPARENT_VARIABLE.as_bytes()
}
