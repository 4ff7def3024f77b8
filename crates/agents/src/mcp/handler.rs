//! The handlers of the protocol's requests.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
    CompleteRequestMethod, CompleteRequestParams, CompleteResult, GetTaskParams, GetTaskResult,
    Implementation, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

use super::server::{Answered, Context, Server};
use super::{resources, tasks};
use crate::delivery::instructions::{AtEnd, instructions};
use crate::hosts::session_of;
use mw_tools::Format;
use mw_tools::call::CallSettings;

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .build();
        tasks::declare(&mut capabilities);
        let session = session_of(&self.inner.options.evidence);
        let call_settings = CallSettings { session, ..self.inner.options.call_settings.clone() };
        let at_end = AtEnd::of(&call_settings, &self.inner.options.home);
        let background = call_settings.background;
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("meanwhile", env!("CARGO_PKG_VERSION")).with_title("meanwhile"),
            )
            .with_instructions(instructions(self.inner.options.dialect, background, at_end))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answered<ListToolsResult> {
        let mut specs = self.inner.options.toolset.specs(self.inner.options.call_settings.background);
        if !self.gives_data(&context) {
            // A client that gets a schema expects data.
            specs.iter_mut().for_each(|spec| spec.output_schema = None);
        }
        let tools: Result<Vec<Tool>, _> =
            specs.iter().map(|spec| serde_json::from_value(spec.to_json(Format::Mcp))).collect();
        let tools = tools.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Answered<CallToolResponse> {
        self.answer_call(request, context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let session = self.session_of(self.inner.options.evidence.clone(), &context.extensions);
        self.inner.deliveries.hold(&session);
        let server = self.clone();
        // Nobody waits for it. If it fails, the first call tries again.
        drop(tokio::task::spawn_blocking(move || server.answer_tasks(&session)));
    }

    async fn on_cancelled(&self, cancelled: CancelledNotificationParam, _: NotificationContext<RoleServer>) {
        if let Some(id) = cancelled.request_id {
            // A reply that is not sent delivers nothing.
            drop(self.inner.receipts.take(&id));
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answered<ListResourcesResult> {
        let session = self.call_settings(&context).session;
        self.with_engine(move |runtime| resources::list(runtime, &session)).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answered<ListResourceTemplatesResult> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Answered<ReadResourceResponse> {
        let call_settings = self.call_settings(&context);
        let uri = request.uri.clone();
        let read = self.with_engine(move |runtime| resources::read(runtime, &call_settings, &uri)).await?;
        read.map(Into::into).ok_or_else(|| {
            let message = format!("no resource {}", request.uri);
            ErrorData::resource_not_found(message, Some(json!({"uri": request.uri})))
        })
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Answered<()> {
        self.inner.subscriptions.listen(context).await;
        Ok(())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: Context) -> Answered<()> {
        self.inner.subscriptions.add(request.uri, &context.peer);
        Ok(())
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, context: Context) -> Answered<()> {
        self.inner.subscriptions.remove(&request.uri, &context.peer);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answered<ListPromptsResult> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn complete(&self, _: CompleteRequestParams, _: Context) -> Answered<CompleteResult> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn get_task(&self, request: GetTaskParams, context: Context) -> Answered<GetTaskResult> {
        self.task(request.task_id, &context).await
    }

    async fn update_task(&self, _: UpdateTaskParams, _: Context) -> Answered<()> {
        // Our tasks never ask for input.
        Ok(())
    }

    async fn cancel_task(&self, request: CancelTaskParams, context: Context) -> Answered<()> {
        self.end_task(request.task_id, &context).await
    }
}
