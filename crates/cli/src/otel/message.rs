//! Spans in the format of the protocol.

use meanwhile::engine::Span;
use meanwhile::model::Timestamp;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::{Link, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span as WireSpan, SpanFlags, Status};
use serde_json::Value;

/// Puts spans into one request.
pub(super) fn request(spans: &[Span], resource: &[(String, String)]) -> ExportTraceServiceRequest {
    let attributes = resource.iter().map(|(name, value)| pair(name, text(value))).collect();
    let scope = InstrumentationScope {
        name: "meanwhile".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    };
    let scoped = ScopeSpans {
        scope: Some(scope),
        spans: spans.iter().map(wire_span).collect(),
        ..ScopeSpans::default()
    };
    let resource = Some(Resource { attributes, ..Resource::default() });
    let all = ResourceSpans { resource, scope_spans: vec![scoped], ..ResourceSpans::default() };
    ExportTraceServiceRequest { resource_spans: vec![all] }
}

fn wire_span(span: &Span) -> WireSpan {
    /// Only sampled spans are exported.
    const SAMPLED: u32 = 1;
    // Only the first span of a task has a parent outside of meanwhile: the caller's span.
    let remote = match (span.run, span.parent_span_id) {
        (0, Some(_)) => SpanFlags::ContextIsRemoteMask as u32,
        _ => 0,
    };
    let trace_id = span.trace_id.as_bytes().to_vec();
    let link = |id: &meanwhile::model::SpanId| Link {
        trace_id: trace_id.clone(),
        span_id: id.as_bytes().to_vec(),
        flags: SAMPLED | SpanFlags::ContextHasIsRemoteMask as u32,
        ..Link::default()
    };
    let status = span
        .error
        .as_ref()
        .map(|message| Status { message: message.clone(), code: StatusCode::Error.into() })
        .unwrap_or_default();
    WireSpan {
        links: span.links.iter().map(link).collect(),
        span_id: span.span_id.as_bytes().to_vec(),
        parent_span_id: span.parent_span_id.map(|id| id.as_bytes().to_vec()).unwrap_or_default(),
        flags: SAMPLED | SpanFlags::ContextHasIsRemoteMask as u32 | remote,
        name: span.name.clone(),
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: nanos(span.started_at),
        end_time_unix_nano: nanos(span.ended_at.unwrap_or(span.started_at)),
        attributes: span.attributes.iter().map(|(name, value)| pair(name, any(value))).collect(),
        status: Some(status),
        trace_id,
        ..WireSpan::default()
    }
}

fn nanos(at: Timestamp) -> u64 {
    at.as_micros().max(0).unsigned_abs().saturating_mul(1000)
}

fn pair(name: &str, value: any_value::Value) -> KeyValue {
    KeyValue { key: name.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn text(value: &str) -> any_value::Value {
    any_value::Value::StringValue(value.to_owned())
}

fn any(value: &Value) -> any_value::Value {
    match (value.as_i64(), value.as_str()) {
        (Some(number), _) => any_value::Value::IntValue(number),
        (None, Some(word)) => text(word),
        (None, None) => text(&value.to_string()),
    }
}
