//! Tools of the conformance suite that the server itself does not have.
#![expect(deprecated, reason = "the suite checks what older revisions have")]

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    CreateMessageRequestParams, ElicitRequestParams, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam, SamplingMessage,
};
use rmcp::service::{RequestContext, SubscriptionSink};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::fixtures::{Fixtures, PNG, held, resource, written};

/// Silence.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

fn result(content: Value) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResult::success(written(content)?).into())
}

pub(crate) fn said(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

impl Fixtures {
    pub(crate) async fn answer(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = Value::Object(request.arguments.clone().unwrap_or_default());
        let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
        Ok(match request.name.as_ref() {
            "test_image_content" => result(json!([image]))?,
            "test_audio_content" => result(json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]))?,
            "test_embedded_resource" => {
                let embedded = "This is an embedded resource content.";
                result(json!([resource("test://embedded-resource", "text/plain", embedded)]))?
            }
            "test_multiple_content_types" => {
                let data = resource("test://mixed-content-resource", "application/json", r#"{"value":123}"#);
                result(json!([{"type": "text", "text": "Multiple content types test:"}, image, data]))?
            }
            "test_tool_with_logging" => {
                for step in ["started", "processing data", "completed"] {
                    let said = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(step));
                    let _ = context.peer.notify_logging_message(said).await;
                }
                said("Logged")
            }
            "test_logging_tool" => {
                if let Some(level) = context.meta.log_level() {
                    let said = LoggingMessageNotificationParam::new(level, json!("asked for"));
                    let _ = context.peer.notify_logging_message(said).await;
                }
                said("Logged if asked for")
            }
            "test_tool_with_progress" => {
                for progress in [0.0, 50.0, 100.0] {
                    if let Some(token) = context.meta.get_progress_token() {
                        let told = ProgressNotificationParam::new(token, progress).with_total(100.0);
                        let _ = context.peer.notify_progress(told).await;
                    }
                    // Far enough apart to be told apart.
                    pause(50).await;
                }
                said("Progress told")
            }
            "test_reconnection" => {
                pause(100).await;
                said("Reconnected")
            }
            "test_custom_header" => match given["value"].as_str() {
                Some(value) => said(value),
                None => return Err(ErrorData::invalid_params("value must be a string", None)),
            },
            "json_schema_2020_12_tool" => said("The schema is what counts"),
            "test_sampling" => {
                let asked = SamplingMessage::user_text(given["prompt"].as_str().unwrap_or("Hello"));
                let sampled = context.peer.create_message(CreateMessageRequestParams::new(vec![asked], 100));
                said(format!("LLM response: {}", json!(sampled.await.map_err(failed)?)))
            }
            "test_elicitation" => {
                let message = given["message"].as_str().unwrap_or_default();
                let fields = json!({"username": {"type": "string"}, "email": {"type": "string"}});
                elicit(message, &fields, &["username", "email"], &context).await?
            }
            "test_elicitation_sep1034_defaults" => {
                elicit("All have defaults", &defaults(), &[], &context).await?
            }
            "test_elicitation_sep1330_enums" => {
                elicit("All kinds of choices", &choices(), &[], &context).await?
            }
            "test_trigger_tool_change" => {
                for sink in self.listening() {
                    let _ = sink.notify_tool_list_changed().await;
                }
                said("Told")
            }
            "test_trigger_prompt_change" => {
                for sink in self.listening() {
                    let _ = sink.notify_prompt_list_changed().await;
                }
                said("Told")
            }
            "test_missing_capability" => {
                if context.meta.client_capabilities().unwrap_or_default().sampling.is_none() {
                    let wanted = ClientCapabilities::builder().enable_sampling().build();
                    return Err(ErrorData::missing_required_client_capability(wanted));
                }
                said("It is there")
            }
            _ => self.states.call(&request, &context.meta)?,
        })
    }

    fn listening(&self) -> Vec<SubscriptionSink> {
        held(&self.listening).clone()
    }
}

/// Waits a moment: here time itself is what the suite looks at.
async fn pause(ms: u64) {
    tokio::time::interval_at(tokio::time::Instant::now() + Duration::from_millis(ms), Duration::from_secs(1))
        .tick()
        .await;
}

pub(crate) fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

async fn elicit(
    message: &str,
    fields: &Value,
    required: &[&str],
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let mut schema = json!({"type": "object", "properties": fields});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    let params = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: written(schema)?,
    };
    let given = context.peer.create_elicitation(params).await.map_err(failed)?;
    Ok(said(format!("User response: {}", json!(given))))
}

fn defaults() -> Value {
    json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    })
}

fn choices() -> Value {
    let plain = json!(["option1", "option2", "option3"]);
    let titled = json!([
        {"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"},
        {"const": "value3", "title": "Third"},
    ]);
    json!({
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    })
}
