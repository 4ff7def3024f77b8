//! What the server answers.

use std::sync::Arc;

use meanwhile::{Runtime, Settings, Teller};
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
use crate::delivery::calls::{Call, Calls};
use crate::delivery::instructions::{AtEnd, instructions};
use crate::delivery::receipts::{Receipt, Receipts};
use crate::delivery::teller::Member;
use crate::delivery::teller::{Drained, Held, Manner, Reserved, Tellers, Told};
use crate::hosts::{Clues, session_of};
use mw_tools::call::{Caller, Desk, Premises, Reply};
use mw_tools::dialects::{Dialect, Speaks};
use mw_tools::{Form, Toolset};

/// Most bytes of arguments in one call.
const MOST_ARGUMENTS: usize = 1 << 20;

/// Longest name of a session or a message that a host may give.
pub(super) const MOST_SESSION: usize = 200;

/// Where a host says which message of its conversation a call belongs to; the first that is there counts.
const MESSAGE: [&str; 3] = ["parentMessage", "messageId", "claudecode/toolUseId"];

/// An MCP server. Its clones serve the same offer.
#[derive(Clone)]
pub struct Server {
    pub(super) inner: Arc<Inner>,
    /// Set where it serves one of several clients.
    pub(super) seat: Option<Arc<Seat>>,
}

pub(super) struct Inner {
    pub(super) settings: Arc<Settings>,
    premises: Premises,
    toolset: Toolset,
    dialect: Dialect,
    pub(super) clues: Clues,
    structured: bool,
    pub(super) tellers: Tellers,
    pub(super) receipts: Receipts,
    /// Cancelled when the server is about to end.
    pub(super) closing: CancellationToken,
    pub(super) calls: Calls,
    subscriptions: Subscriptions,
    /// Which sessions each client over HTTP works for.
    pub(super) clients: Clients,
    /// When questions were put by a reply.
    put: elicitation::Put,
}

/// A call that was carried out.
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
    /// A server for an offer.
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
                subscriptions: Subscriptions::new(Arc::clone(&settings)),
                clients: Clients::default(),
                put: elicitation::Put::default(),
                settings,
            }),
            seat: None,
        }
    }

    /// Returns the premises of a call: whose it is, is told by the call itself where the host says so.
    pub(super) fn premises(&self, context: &RequestContext<RoleServer>) -> Premises {
        let member = |name: &str| context.meta.get(name).and_then(Value::as_str).map(str::to_owned);
        let clues = self.inner.clues.clone().of_call(member);
        let session = self.session_of(clues, &context.extensions);
        Premises { session, ..self.inner.premises.clone() }
    }

    /// Does something with the engine on a thread of its own.
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

    /// Carries a call out on a thread of its own.
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

    /// The same on premises of its own.
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
            // A host may have laid down how much is asked about, and may change its mind.
            let house = runtime.house_rules(&premises.session)?;
            Ok((runtime, house))
        });
        let (runtime, house) = match opened {
            Ok(opened) => opened,
            Err(error) => return Ok(self.inner.dialect.refuse_unopened(&error.into())),
        };
        if let Some(house) = house {
            premises.policy.mode = house.mode_beside(premises.policy.mode);
        }
        let desk = Desk { teller, parent_message, ..Desk::new(&runtime, &premises, caller) };
        self.inner.toolset.call(name, arguments, &desk).ok_or_else(|| {
            let names: Vec<_> =
                self.inner.toolset.specs(premises.background).into_iter().map(|spec| spec.name).collect();
            ErrorData::new(
                ErrorCode::INVALID_PARAMS,
                format!("there is no tool {name:?}; there are {}", names.join(", ")),
                None,
            )
        })
    }

    /// Adds what the session was not told yet.
    pub(super) async fn with_news(
        &self,
        reply: Reply,
        member: &Member,
        call: Call,
        awaited: &Awaited,
    ) -> Answer {
        let Drained { held, mut notices, left, own } = self.inner.tellers.drain(member, &reply.told).await;
        // What the reply tells itself need not be told in front of it.
        notices.retain(|told| !(told.notice.is_ending() && reply.told.contains(&told.notice.task)));
        let teller = if reply.told.is_empty() { None } else { self.inner.tellers.name(member).await };
        let reserved = awaited.take().into_iter().chain(own).collect();
        Answer { reply, notices, left, held, teller, reserved, call }
    }

    /// Writes an answer, and notes what is told once it has been written. The text is what a model reads: what it
    /// was not told yet, then the reply. Hosts that find data beside it show their models that instead, escaped and in
    /// another order, so only a client that wants data gets it.
    pub(super) fn written(&self, answer: Answer, context: &RequestContext<RoleServer>) -> CallToolResult {
        let Answer { mut reply, notices, left, held, teller, reserved, call } = answer;
        // What the reply says was started is read before how that ended.
        let (after, before): (Vec<_>, Vec<_>) =
            notices.into_iter().partition(|told| reply.starts(&told.notice));
        if after.iter().any(|told| told.notice.is_ending()) {
            reply.is_over_already();
        }
        let mut blocks: Vec<_> = before.into_iter().map(|told| told.block).collect();
        let after: Vec<_> = after.into_iter().map(|told| told.block).collect();
        if left > 0 {
            blocks.push(format!("[{left} more notices come with the next reply]"));
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
        meanwhile::fail_point("reply-ready");
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
                // No reply is sent to a call that was cancelled, and nobody asks for its receipt.
                if context.ct.is_cancelled() {
                    drop(self.inner.receipts.take(&context.id));
                }
            }
        }
        result
    }
}

/// What a client declares, or a call has in its `_meta`, for replies as data beside the text.
const DATA: &str = "meanwhile/structured";

impl Server {
    /// Tells whether a client gets data beside the text.
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
            // Who has a schema expects data.
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
        let call = self.inner.calls.begin().await;
        let session = self.premises(&context).session;
        let awaited = Awaited::default();
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
            let hint = "put the text into a file and name it".to_owned();
            self.inner.dialect.refuse_unopened(&meanwhile::Error::Invalid { message, hint }.into())
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
                reply.text.push_str(" (The question was closed without an answer.)");
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
            // A reply that nobody will see has told nothing.
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
            let message = format!("there is no resource {}", request.uri);
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
        // None of our tasks asks anything.
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
