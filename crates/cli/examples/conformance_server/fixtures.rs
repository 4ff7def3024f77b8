//! The handler that adds the tools, resources and prompts of the suite and passes everything else to the server.
#![expect(deprecated, reason = "the suite checks what older revisions have")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mw_agents::mcp::Server;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
    CompleteRequestParams, CompleteResult, CompletionInfo, GetPromptRequestParams, GetPromptResponse,
    GetTaskParams, GetTaskResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
    Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::calls::failed;
use crate::jobs::Jobs;
use crate::questions::{States, answer, form};
use crate::specs::{ASIDE, input_schema};

/// A picture of one pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The fixtures, in front of a server.
#[derive(Clone)]
pub(crate) struct Fixtures {
    server: Server,
    jobs: Jobs,
    pub(crate) states: States,
    pub(crate) listening: Arc<Mutex<Vec<SubscriptionSink>>>,
}

pub(crate) fn written<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(failed)
}

pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tool(name: &str) -> Result<Tool, ErrorData> {
    written(json!({"name": name, "description": "A fixture of the suite", "inputSchema": input_schema(name)}))
}

pub(crate) fn resource(uri: &str, kind: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}})
}

impl Fixtures {
    /// Puts the fixtures in front of a server.
    pub(crate) fn before(server: Server) -> Self {
        Self { jobs: Jobs::new(server.clone()), server, states: States::default(), listening: Arc::default() }
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.server.get_info();
        let declared = ServerCapabilities::builder()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        info.capabilities.prompts = declared.prompts;
        info.capabilities.tools = declared.tools;
        info.capabilities.logging = Some(Default::default());
        info.capabilities.completions = Some(Default::default());
        info
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "test_custom_header").then(|| tool(name).ok()).flatten()
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.server.list_tools(page, context).await?;
        listed.tools.append(&mut ASIDE.iter().map(|name| tool(name)).collect::<Result<_, _>>()?);
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
            listed.resources.push(written(json!({"uri": uri, "name": uri, "mimeType": kind}))?);
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
        listed.resource_templates.push(written(template)?);
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
        let mut read = rmcp::model::ReadResourceResult::new(vec![written(content)?]);
        read.ttl_ms = Some(0);
        Ok(read.into())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.server.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        held(&self.listening).push(context.sink().clone());
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
        ]))?))
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
                        let question = form("Which context?", &json!({"context": {"type": "string"}}))?;
                        let questions = [("user_context".to_owned(), question)].into();
                        return Ok(rmcp::model::InputRequiredResult::from_input_requests(questions).into());
                    }
                }
            }
            other => return Err(ErrorData::invalid_params(format!("there is no prompt {other}"), None)),
        };
        Ok(rmcp::model::GetPromptResult::new(written(messages)?).into())
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
