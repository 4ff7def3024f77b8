//! Runs a tool call: on a separate thread, as a task of the protocol, or not at all.

use meanwhile::engine::Runtime;
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorCode};
use serde_json::{Map, Value};

use super::caller::WaitingClient;
use super::recipient::Awaited;
use super::server::{Answered, Context, Server};
use super::{elicitation, tasks};
use mw_tools::ToolSpec;
use mw_tools::call::{CallContext, CallSettings, Reply};
use mw_tools::dialects::{Dialect, DialectTools};

/// Maximum size of the arguments of a call, in bytes.
const MAX_ARGUMENTS: usize = 1 << 20;

/// Maximum length of the name of a message, in characters.
const LONGEST_MESSAGE: usize = 200;

/// Fields in which hosts name the message of the conversation that a call belongs to. The first one present is used.
const MESSAGE: [&str; 3] = ["parentMessage", "messageId", "claudecode/toolUseId"];

impl Server {
    /// Runs a call and returns its reply with the notifications of the session.
    pub(super) async fn answer_call(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Answered<CallToolResponse> {
        let arguments = request.arguments.unwrap_or_default();
        let awaited = self.awaited(&request.name, &context);
        let call = match self.inner.calls.begin_at_once() {
            Some(call) => call,
            None => {
                // It may wait long for its turn. Other replies must not wait for it.
                awaited.complete();
                self.inner.calls.begin().await
            }
        };
        let session = self.call_settings(&context).session;
        let mut closed = Vec::new();
        if let Some(responses) = request.input_responses {
            let (session, server) = (session.clone(), self.clone());
            let take_in = move |runtime: &Runtime| {
                elicitation::take_in(runtime, &session, &responses, &server.inner.asked_at)
            };
            closed = self.with_engine(take_in).await?;
        }
        let size = serde_json::to_vec(&arguments).map_or(usize::MAX, |text| text.len());
        let mut reply = if size > MAX_ARGUMENTS {
            let message = format!("the arguments take {size} bytes, at most {MAX_ARGUMENTS} are accepted");
            let error = meanwhile::Error::invalid(message, "put the text into a file and pass its path");
            DialectTools::of(self.inner.options.dialect).refuse_unopened(&error.into())
        } else if self.inner.options.dialect == Dialect::Canonical
            && tasks::are_wanted(&request.name, &arguments, &context)
        {
            match self.call_as_task(arguments, &context, &awaited).await? {
                tasks::Begun::Task(task) => return Ok(CallToolResponse::Task(task)),
                tasks::Begun::Over(reply) => reply,
            }
        } else {
            let call_settings = self.call_settings(&context);
            self.carry_out(request.name.into_owned(), arguments, call_settings, &context, &awaited).await?
        };
        if let Some(proposal) = &reply.asks
            && elicitation::ElicitationMode::of(&context) == elicitation::ElicitationMode::InTheReply
        {
            if closed.contains(&proposal.id) {
                reply.text.push_str(" (The request was closed without an answer.)");
            } else if let Some(question) = elicitation::reply(proposal, &self.inner.asked_at) {
                return Ok(question.into());
            }
        }
        let recipient = self.recipient(&context, &session);
        Ok(self.result(reply, &recipient, call, &awaited, &context).await.into())
    }

    /// Runs a call on a separate thread.
    pub(super) async fn carry_out(
        &self,
        name: String,
        arguments: Map<String, Value>,
        call_settings: CallSettings,
        context: &Context,
        awaited: &Awaited,
    ) -> Answered<Reply> {
        let recipient = self.recipient(context, &call_settings.session);
        let holder = self.inner.deliveries.lease(&recipient).await;
        let caller = WaitingClient::of(context, self, recipient, awaited.clone());
        let message = MESSAGE.iter().find_map(|name| context.meta.get(*name)?.as_str());
        let message: Option<String> = message.map(|message| message.chars().take(LONGEST_MESSAGE).collect());
        let server = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let options = &server.inner.options;
            let background = call_settings.background;
            server.answer_tasks(&call_settings.session);
            let called = options.home.with(|runtime| {
                let call_settings = call_settings.in_mode_of_session(runtime)?;
                let cx = CallContext {
                    holder: holder.as_ref(),
                    parent_message: message.as_deref(),
                    ..CallContext::new(runtime, &call_settings, &caller)
                };
                Ok(options.toolset.call(&name, &arguments, &cx))
            });
            match called {
                Ok(reply) => reply.ok_or_else(|| no_tool(&name, &options.toolset.specs(background))),
                Err(error) => Ok(DialectTools::of(options.dialect).refuse_unopened(&error.into())),
            }
        });
        done.await.map_err(|error| ErrorData::internal_error(error.to_string(), None))?
    }
}

fn no_tool(name: &str, specs: &[ToolSpec]) -> ErrorData {
    let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let message = format!("no tool {name:?}; available tools: {}", names.join(", "));
    ErrorData::new(ErrorCode::INVALID_PARAMS, message, None)
}
