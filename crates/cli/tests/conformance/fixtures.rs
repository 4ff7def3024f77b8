//! A handler that answers what the suite asks for and our server has not, and leaves all else to the server.
#![expect(deprecated, reason = "the suite checks what older revisions have")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mw_agents::mcp::Server;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CancelledNotificationParam,
    ClientCapabilities, CompleteRequestParams, CompleteResult, CompletionInfo, CreateMessageRequestParams,
    ElicitRequestParams, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
    LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResponse, SamplingMessage, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::jobs::Jobs;
use crate::questions::{States, answer, form};
use crate::specs::{ASIDE, input_schema};

/// A picture of one pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// Silence.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

#[derive(Clone)]
pub(crate) struct Fixtures {
    server: Server,
    jobs: Jobs,
    states: States,
    listening: Arc<Mutex<Vec<SubscriptionSink>>>,
}

fn written<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn result(content: Value) -> CallToolResponse {
    CallToolResult::success(written(content)).into()
}

fn said(text: impl Into<String>) -> CallToolResponse {
    result(json!([{"type": "text", "text": text.into()}]))
}

fn tool(name: &str) -> Tool {
    written(json!({"name": name, "description": "A fixture of the suite", "inputSchema": input_schema(name)}))
}

fn resource(uri: &str, kind: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}})
}

impl Fixtures {
    pub(crate) fn before(server: Server) -> Self {
        Self { jobs: Jobs::new(server.clone()), server, states: States::default(), listening: Arc::default() }
    }

    async fn answer(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = Value::Object(request.arguments.clone().unwrap_or_default());
        let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
        Ok(match request.name.as_ref() {
            "test_image_content" => result(json!([image])),
            "test_audio_content" => result(json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}])),
            "test_embedded_resource" => {
                let embedded = "This is an embedded resource content.";
                result(json!([resource("test://embedded-resource", "text/plain", embedded)]))
            }
            "test_multiple_content_types" => {
                let data = resource("test://mixed-content-resource", "application/json", r#"{"value":123}"#);
                result(json!([{"type": "text", "text": "Multiple content types test:"}, image, data]))
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
        self.listening.lock().unwrap().clone()
    }
}

/// Waits a moment: here time itself is what the suite looks at.
async fn pause(ms: u64) {
    tokio::time::interval_at(tokio::time::Instant::now() + Duration::from_millis(ms), Duration::from_secs(1))
        .tick()
        .await;
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
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
        requested_schema: written(schema),
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

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.server.get_info();
        info.capabilities.prompts = Some(written(json!({"listChanged": true})));
        info.capabilities.tools = Some(written(json!({"listChanged": true})));
        info.capabilities.logging = Some(Default::default());
        info.capabilities.completions = Some(Default::default());
        info
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "test_custom_header").then(|| tool(name))
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.server.list_tools(page, context).await?;
        listed.tools.extend(ASIDE.iter().map(|name| tool(name)));
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        if Jobs::has(name) {
            self.jobs.call(request, context).await
        } else if ASIDE.contains(&name) {
            self.answer(request, context).await
        } else {
            self.server.call_tool(request, context).await
        }
    }

    async fn on_cancelled(
        &self,
        cancelled: CancelledNotificationParam,
        context: NotificationContext<RoleServer>,
    ) {
        self.server.on_cancelled(cancelled, context).await;
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut listed = self.server.list_resources(page, context).await?;
        for (uri, kind) in [("test://static-text", "text/plain"), ("test://static-binary", "image/png")] {
            listed.resources.push(written(json!({"uri": uri, "name": uri, "mimeType": kind})));
        }
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut listed = self.server.list_resource_templates(page, context).await?;
        let template = json!({"uriTemplate": "test://template/{id}/data", "name": "data"});
        listed.resource_templates.push(written(template));
        Ok(listed)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let content = match (uri.as_str(), id) {
            ("test://static-text", _) => {
                json!({"uri": uri, "mimeType": "text/plain", "text": "Static text."})
            }
            ("test://static-binary", _) => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
            (_, Some(id)) => {
                let text = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"uri": uri, "mimeType": "application/json", "text": text.to_string()})
            }
            _ => return self.server.read_resource(request, context).await,
        };
        let mut read = rmcp::model::ReadResourceResult::new(vec![written(content)]);
        read.ttl_ms = Some(0);
        Ok(read.into())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.server.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.listening.lock().unwrap().push(context.sink().clone());
        self.server.listen(context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.server.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.server.unsubscribe(request, context).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let argument = |name: &str| json!({"name": name, "description": "for the suite", "required": true});
        Ok(ListPromptsResult::with_all_items(written(json!([
            {"name": "test_simple_prompt", "description": "A simple one"},
            {"name": "test_prompt_with_arguments", "description": "One with arguments",
                "arguments": [argument("arg1"), argument("arg2")]},
            {"name": "test_prompt_with_embedded_resource", "description": "One with a resource",
                "arguments": [argument("resourceUri")]},
            {"name": "test_prompt_with_image", "description": "One with a picture"},
            {"name": "test_input_required_result_prompt", "description": "One that asks"},
        ]))))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = json!(request.arguments);
        let text = |text: String| json!({"role": "user", "content": {"type": "text", "text": text}});
        let messages = match request.name.as_str() {
            "test_simple_prompt" => json!([text("This is a simple prompt for testing.".to_owned())]),
            "test_prompt_with_arguments" => {
                let value = |name: &str| given[name].as_str().unwrap_or_default().to_owned();
                json!([text(format!("arg1='{}', arg2='{}'", value("arg1"), value("arg2")))])
            }
            "test_prompt_with_embedded_resource" => {
                let uri = given["resourceUri"].as_str().unwrap_or("test://static-text");
                let embedded = resource(uri, "text/plain", "Embedded.");
                json!([{"role": "user", "content": embedded}, text("Please process it.".to_owned())])
            }
            "test_prompt_with_image" => {
                let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
                json!([{"role": "user", "content": image}, text("Please look at it.".to_owned())])
            }
            "test_input_required_result_prompt" => {
                match answer(request.input_responses.as_ref(), "user_context") {
                    Some(given) => json!([text(format!("In context: {}", given["content"]["context"]))]),
                    None => {
                        let question = form("Which context?", &json!({"context": {"type": "string"}}));
                        let questions = [("user_context".to_owned(), question)].into();
                        return Ok(rmcp::model::InputRequiredResult::from_input_requests(questions).into());
                    }
                }
            }
            other => return Err(ErrorData::invalid_params(format!("there is no prompt {other}"), None)),
        };
        Ok(rmcp::model::GetPromptResult::new(written(messages)).into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let info = CompletionInfo::new(vec!["paris".to_owned(), "park".to_owned()]).map_err(failed)?;
        Ok(CompleteResult::new(info))
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.jobs.get(request, context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match self.jobs.update(&request.task_id, request.input_responses.clone()) {
            Some(done) => done,
            None => self.server.update_task(request, context).await,
        }
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match self.jobs.cancel(&request.task_id) {
            Some(done) => done,
            None => self.server.cancel_task(request, context).await,
        }
    }
}
