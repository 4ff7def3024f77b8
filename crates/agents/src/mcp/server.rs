//! The handlers of the server.

use std::sync::Arc;

use meanwhile::Settings;
use meanwhile::engine::{Runtime, Teller};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CancelledNotificationParam,
    CompleteRequestMethod, CompleteRequestParams, CompleteResult, ContentBlock, ErrorCode, GetTaskParams,
    GetTaskResult, Implementation, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::caller::Client;
use super::clients::Clients;
use super::delivery::HttpReceipts;
use super::elicitation;
use super::member::{Awaited, Seat};
use super::offer::Offer;
use super::subscriptions::Subscriptions;
use super::{resources, tasks};
use crate::delivery::arrivals::Arrivals;
use crate::delivery::calls::{Call, Calls};
use crate::delivery::instructions::{AtEnd, instructions};
use crate::delivery::receipts::{Receipt, Receipts};
use crate::delivery::teller::Member;
use crate::delivery::teller::{Drained, Held, Manner, Reserved, Tellers, Told};
use crate::hosts::{Clues, session_of};
use mw_tools::call::{CallContext, Caller, Premises, Reply};
use mw_tools::dialects::{Dialect, Speaks};
use mw_tools::{Form, Toolset};

/// Maximum size of the arguments of a call, in bytes.
const MOST_ARGUMENTS: usize = 1 << 20;

/// Maximum length of the name of a session or message that a host gives.
pub(super) const MOST_SESSION: usize = 200;

/// Fields in which hosts name the message of the conversation that a call belongs to. The first one present counts.
const MESSAGE: [&str; 3] = ["parentMessage", "messageId", "claudecode/toolUseId"];

/// An MCP server. Clones share the same configuration.
#[derive(Clone)]
pub struct Server {
    pub(super) inner: Arc<Inner>,
    /// Set if this clone serves one of several clients.
    pub(super) seat: Option<Arc<Seat>>,
}

pub(super) struct Inner {
    pub(super) settings: Arc<Settings>,
    premises: Premises,
    pub(super) toolset: Toolset,
    dialect: Dialect,
    pub(super) clues: Clues,
    structured: bool,
    pub(super) tellers: Tellers,
    pub(super) receipts: Receipts,
    /// Cancelled when the server shuts down.
    pub(super) closing: CancellationToken,
    pub(super) calls: Calls,
    /// Calls that may wait but have not yet said for which tasks.
    pub(super) arrivals: Arrivals,
    subscriptions: Subscriptions,
    /// The sessions of each HTTP client.
    pub(super) clients: Clients,
    /// When a question was asked by a reply, by request.
    put: elicitation::Put,
}

/// A call that was run.
pub(super) struct Answer {
    pub(super) reply: Reply,
    pub(super) notices: Vec<Told>,
    pub(super) left: usize,
    pub(super) held: Option<Held>,
    pub(super) teller: Option<Teller>,
    pub(super) reserved: Vec<Reserved>,
    pub(super) call: Call,
}

impl Server {
    /// Creates a server.
    #[must_use]
    pub fn new(offer: Offer) -> Self {
        let settings = Arc::new(offer.settings);
        let manner = Manner {
            dialect: offer.dialect,
            context: Some(offer.premises.context_stamp.clone()),
            session_end: offer.premises.session_end,
            longest_call: offer.premises.longest_call,
        };
        Self {
            inner: Arc::new(Inner {
                premises: offer.premises,
                toolset: offer.toolset,
                dialect: offer.dialect,
                clues: offer.clues,
                structured: offer.structured,
                tellers: Tellers::new(Arc::clone(&settings), manner, offer.tells),
                receipts: Receipts::default(),
                closing: CancellationToken::new(),
                calls: Calls::default(),
                arrivals: Arrivals::default(),
                subscriptions: Subscriptions::new(Arc::clone(&settings)),
                clients: Clients::default(),
                put: elicitation::Put::default(),
                settings,
            }),
            seat: None,
        }
    }

    /// Returns the settings of a call. The session is taken from the call, if the host names it there.
    pub(super) fn premises(&self, context: &RequestContext<RoleServer>) -> Premises {
        let member = |name: &str| context.meta.get(name).and_then(Value::as_str).map(str::to_owned);
        let clues = self.inner.clues.clone().of_call(member);
        let session = self.session_of(clues, &context.extensions);
        Premises { session, ..self.inner.premises.clone() }
    }

    /// Runs a function with the engine on a separate thread.
    pub(super) async fn with_engine<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Runtime) -> Result<T, meanwhile::Error> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let settings = Arc::clone(&self.inner.settings);
        let done = tokio::task::spawn_blocking(move || {
            let runtime = Runtime::open(settings.as_ref().clone())?;
            work(&runtime)
        });
        let done = done.await.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        done.map_err(|error| {
            ErrorData::internal_error(error.to_string(), Some(json!({"hint": error.hint()})))
        })
    }

    /// Runs a call on a separate thread.
    async fn carry_out(
        &self,
        name: String,
        arguments: Map<String, Value>,
        context: &RequestContext<RoleServer>,
        awaited: &Awaited,
    ) -> Result<Reply, ErrorData> {
        let premises = self.premises(context);
        self.carry_out_within(name, arguments, premises, context, awaited).await
    }

    /// The same with other settings.
    pub(super) async fn carry_out_within(
        &self,
        name: String,
        arguments: Map<String, Value>,
        premises: Premises,
        context: &RequestContext<RoleServer>,
        awaited: &Awaited,
    ) -> Result<Reply, ErrorData> {
        let member = self.member(context, &premises.session);
        let teller = self.inner.tellers.name(&member).await;
        let caller = Client::of(context, self, member, awaited.clone());
        let message = MESSAGE.iter().find_map(|name| context.meta.get(*name)?.as_str());
        let message: Option<String> = message.map(|message| message.chars().take(MOST_SESSION).collect());
        let server = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            server.call(&name, &arguments, premises, message.as_deref(), teller.as_ref(), &caller)
        });
        done.await.map_err(|error| ErrorData::internal_error(error.to_string(), None))?
    }

    fn call(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        mut premises: Premises,
        parent_message: Option<&str>,
        teller: Option<&Teller>,
        caller: &dyn Caller,
    ) -> Result<Reply, ErrorData> {
        let opened = Runtime::open(self.inner.settings.as_ref().clone()).and_then(|runtime| {
            // The host of the session may have set the approval mode, and may change it.
            let house = runtime.approvals().house_rules(&premises.session)?;
            Ok((runtime, house))
        });
        let (runtime, house) = match opened {
            Ok(opened) => opened,
            Err(error) => return Ok(self.inner.dialect.refuse_unopened(&error.into())),
        };
        if let Some(house) = house {
            premises.policy.mode = house.mode_beside(premises.policy.mode);
        }
        let cx = CallContext { teller, parent_message, ..CallContext::new(&runtime, &premises, caller) };
        self.inner.toolset.call(name, arguments, &cx).ok_or_else(|| {
            let names: Vec<_> =
                self.inner.toolset.specs(premises.background).into_iter().map(|spec| spec.name).collect();
            ErrorData::new(
                ErrorCode::INVALID_PARAMS,
                format!("no tool {name:?}; available tools: {}", names.join(", ")),
                None,
            )
        })
    }

    /// Adds the notifications that were not delivered yet.
    pub(super) async fn with_news(
        &self,
        reply: Reply,
        member: &Member,
        call: Call,
        awaited: &Awaited,
    ) -> Answer {
        awaited.is_known();
        let Drained { held, mut notices, left, own } = self.inner.tellers.drain(member, &reply.told).await;
        // An end that the reply itself reports needs no notification.
        notices.retain(|told| !(told.notice.is_ending() && reply.told.contains(&told.notice.task)));
        let teller = if reply.told.is_empty() { None } else { self.inner.tellers.name(member).await };
        let reserved = awaited.take().into_iter().chain(own).collect();
        Answer { reply, notices, left, held, teller, reserved, call }
    }

    /// Writes an answer, and records what is delivered once it has been written. The text is for the model: first the
    /// notifications, then the reply. Hosts that get structured data show that to their models instead, escaped and in
    /// another order, so only a client that requests data gets it.
    pub(super) fn written(&self, answer: Answer, context: &RequestContext<RoleServer>) -> CallToolResult {
        let Answer { mut reply, notices, left, held, teller, reserved, call } = answer;
        let notices = match &held {
            Some(held) => held.compose(notices, |told| reply.starts(&told.notice)),
            None => notices,
        };
        // The model should read that a task was started before it reads how the task ended.
        let (after, before): (Vec<_>, Vec<_>) =
            notices.into_iter().partition(|told| reply.starts(&told.notice));
        after.iter().for_each(|told| reply.tell_over(&told.notice));
        let mut blocks: Vec<_> = before.into_iter().map(|told| told.block).collect();
        let after: Vec<_> = after.into_iter().map(|told| told.block).collect();
        if left > 0 {
            blocks.push(format!("[{left} more notifications follow with the next reply]"));
        }
        let mut data = reply.data;
        if !blocks.is_empty() || !after.is_empty() {
            data["notices"] = json!(blocks.iter().chain(&after).collect::<Vec<_>>());
        }
        let texts = blocks.into_iter().chain([reply.text]).chain(after);
        let content: Vec<_> = texts.map(ContentBlock::text).collect();
        let mut result =
            if reply.failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
        if self.gives_data(context) {
            result.structured_content = Some(data);
        }
        meanwhile::engine::fail_point("reply-ready");
        let receipt = Receipt {
            notices: held,
            told: reply.told,
            teller,
            spent: reply.spent,
            settings: Arc::clone(&self.inner.settings),
            _reserved: reserved,
            _call: call,
        };
        let parts = context.extensions.get::<http::request::Parts>();
        match parts.and_then(|parts| parts.extensions.get::<HttpReceipts>()) {
            Some(receipts) => receipts.keep(receipt),
            None => {
                self.inner.receipts.keep(context.id.clone(), receipt);
                // A cancelled call gets no reply, so its receipt is not needed.
                if context.ct.is_cancelled() {
                    drop(self.inner.receipts.take(&context.id));
                }
            }
        }
        result
    }
}

/// The capability, or the field in the `_meta` of a call, that requests structured data beside the text.
const DATA: &str = "meanwhile/structured";

impl Server {
    /// Returns whether a client gets structured data beside the text.
    fn gives_data(&self, context: &RequestContext<RoleServer>) -> bool {
        let experimental = context.client_capabilities().and_then(|declared| declared.experimental);
        self.inner.structured
            || self.inner.dialect.replies_with_objects()
            || experimental.is_some_and(|declared| declared.contains_key(DATA))
            || context.meta.get(DATA).and_then(Value::as_bool) == Some(true)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .build();
        tasks::declare(&mut capabilities);
        let session = session_of(&self.inner.clues);
        let premises = Premises { session, ..self.inner.premises.clone() };
        let at_end = AtEnd::of(&premises, &self.inner.settings);
        let background = premises.background;
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("meanwhile", env!("CARGO_PKG_VERSION")).with_title("meanwhile"),
            )
            .with_instructions(instructions(self.inner.dialect, background, at_end))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut specs = self.inner.toolset.specs(self.inner.premises.background);
        if !self.gives_data(&context) {
            // A client that gets a schema expects data.
            specs.iter_mut().for_each(|spec| spec.output_schema = None);
        }
        let tools: Result<Vec<Tool>, _> =
            specs.iter().map(|spec| serde_json::from_value(spec.written(Form::Mcp))).collect();
        let tools = tools.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let awaited = self.awaited(&request.name, &context);
        let call = match self.inner.calls.begin_at_once() {
            Some(call) => call,
            None => {
                // It may wait long for its turn, and other calls must not wait for it.
                awaited.is_known();
                self.inner.calls.begin().await
            }
        };
        let session = self.premises(&context).session;
        let mut closed = Vec::new();
        if let Some(responses) = request.input_responses {
            let (session, server) = (session.clone(), self.clone());
            let take_in = move |runtime: &Runtime| {
                elicitation::take_in(runtime, &session, &responses, &server.inner.put)
            };
            closed = self.with_engine(take_in).await?;
        }
        let size = serde_json::to_vec(&arguments).map_or(usize::MAX, |text| text.len());
        let mut reply = if size > MOST_ARGUMENTS {
            let message = format!("the arguments take {size} bytes, at most {MOST_ARGUMENTS} are accepted");
            let error = meanwhile::Error::invalid(message, "put the text into a file and pass its path");
            self.inner.dialect.refuse_unopened(&error.into())
        } else if self.inner.dialect == Dialect::Canonical
            && tasks::are_wanted(&request.name, &arguments, &context)
        {
            match self.call_as_task(arguments, &context, &awaited).await? {
                tasks::Begun::Task(task) => return Ok(CallToolResponse::Task(task)),
                tasks::Begun::Over(reply) => reply,
            }
        } else {
            self.carry_out(request.name.into_owned(), arguments, &context, &awaited).await?
        };
        if let Some(proposal) = &reply.asks
            && elicitation::Manner::of(&context) == elicitation::Manner::InTheReply
        {
            if closed.contains(&proposal.id) {
                reply.text.push_str(" (The request was closed without an answer.)");
            } else if let Some(question) = elicitation::reply(proposal, &self.inner.put) {
                return Ok(question.into());
            }
        }
        let member = self.member(&context, &session);
        let answer = self.with_news(reply, &member, call, &awaited).await;
        Ok(self.written(answer, &context).into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let session = self.session_of(self.inner.clues.clone(), &context.extensions);
        self.inner.tellers.hold(&session);
    }

    async fn on_cancelled(&self, cancelled: CancelledNotificationParam, _: NotificationContext<RoleServer>) {
        if let Some(id) = cancelled.request_id {
            // A reply that is not sent has delivered nothing.
            drop(self.inner.receipts.take(&id));
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let session = self.premises(&context).session;
        self.with_engine(move |runtime| resources::list(runtime, &session)).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let premises = self.premises(&context);
        let uri = request.uri.clone();
        let read = self.with_engine(move |runtime| resources::read(runtime, &premises, &uri)).await?;
        read.map(Into::into).ok_or_else(|| {
            let message = format!("no resource {}", request.uri);
            ErrorData::resource_not_found(message, Some(json!({"uri": request.uri})))
        })
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.inner.subscriptions.listen(context).await;
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.subscriptions.add(request.uri, &context.peer);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.subscriptions.remove(&request.uri, &context.peer);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.task(request.task_id, &context).await
    }

    async fn update_task(&self, _: UpdateTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        // Our tasks never ask for input.
        Ok(())
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.end_task(request.task_id, &context).await
    }
}
