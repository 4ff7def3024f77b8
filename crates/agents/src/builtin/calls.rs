//! Checks, runs and records the tool calls of a turn.

use agent_client_protocol::v1::schema::{
    SessionUpdate, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields,
};
use meanwhile::engine::OwnSpan;
use mw_model::{Status, TraceParent};
use serde_json::{Map, Value};

use super::caller::TurnCaller;
use super::conversation::{Answered, ModelToolCall, Record};
use super::files::{FileCall, FileTool};
use super::gate::Wanted;
use super::notices::Notices;
use super::turn::{Interrupted, ModelTurn};
use super::{engine_tools, files, gate, notices, titles};
use crate::delivery::receipts::Receipt;
use mw_tools::ToolSpec;
use mw_tools::call::StartedTask;

/// The result of a call that was run or refused.
#[derive(Default)]
pub(super) struct CallResult {
    /// The text for the model.
    pub(super) text: String,
    pub(super) failed: bool,
    /// The outcome of the call's command, if it ran to its end.
    pub(super) ended: Option<Status>,
    /// The content for the client, if it differs from the text.
    pub(super) shown: Vec<ToolCallContent>,
    /// The receipt to confirm after the result was recorded.
    pub(super) receipt: Option<Receipt>,
    /// The task that the call has started.
    pub(super) started: Option<StartedTask>,
    /// The trace span of the started run.
    pub(super) started_span: Option<TraceParent>,
}

impl CallResult {
    pub(super) fn done(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self { failed: true, ..Self::done(text.into()) }
    }
}

impl ModelTurn<'_> {
    /// Runs one call and records its result.
    pub(super) async fn carry_out(&mut self, call: &ModelToolCall) -> Result<(), Interrupted> {
        let id = format!("call-{}", self.work.conversation.records().len());
        let empty = Map::new();
        let arguments = call.arguments.as_object();
        let title = titles::title(&call.tool, arguments.unwrap_or(&empty));
        let begun = ToolCall::new(id.clone(), title.clone())
            .name(call.tool.clone())
            .kind(titles::kind(&call.tool))
            .status(ToolCallStatus::Pending)
            .locations(self.locations(call))
            .raw_input(call.arguments.clone());
        self.client.tell(SessionUpdate::ToolCall(begun.clone()));
        let span = self.session.begin_call_span(&call.tool, self.span.as_ref());
        let (mut result, interrupted) = match arguments {
            None => (CallResult::refused("the arguments are not a JSON object; send them again"), None),
            Some(_) if self.cancelled.is_cancelled() => {
                (CallResult::refused("cancelled by the user"), Some(Interrupted::Cancelled))
            }
            Some(arguments) => self.decided(call, arguments, begun, span.as_ref()).await,
        };
        let conversation = &self.work.conversation;
        let Notices { blocks: notices, over } = match interrupted {
            None => {
                let known = |number| conversation.has_notice(number);
                let started = result.started.as_ref();
                notices::take(self.agent, self.session, known, &mut result.receipt, started).await
            }
            Some(_) => Notices::default(),
        };
        if let Some((over, status)) = over {
            result.text = over.text;
            result.ended = titles::runs_a_command(&call.tool).then_some(status);
            result.started = None;
        }
        let text = self.model.choice.key.hide(&result.text);
        let failure = result.failed.then_some(text.as_str());
        self.session.end_call_span(span, &call.tool, failure, result.started_span);
        let shown =
            if result.shown.is_empty() { vec![ToolCallContent::from(text.clone())] } else { result.shown };
        let ran_badly = result.ended.is_some_and(|status| status != Status::Completed);
        let status =
            if result.failed || ran_badly { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
        let mut fields = ToolCallUpdateFields::new().status(status).content(shown);
        if let Some(started) = &result.started {
            let name = self.agent.name_of_task(self.session, &started.task);
            fields = fields.title(format!("in the background as {name}: {title}"));
        }
        self.work.note(Record::Result(Answered {
            call: call.id.clone(),
            tool: call.tool.clone(),
            text,
            failed: result.failed,
            ran_badly,
            notices,
        }))?;
        self.client.tell(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields)));
        self.acknowledge(result.receipt).await;
        match interrupted {
            Some(interrupted) => Err(interrupted),
            None if self.cancelled.is_cancelled() => Err(Interrupted::Cancelled),
            None if self.agent.closing.is_cancelled() => Err(Interrupted::Closing),
            None => Ok(()),
        }
    }

    fn locations(&self, call: &ModelToolCall) -> Vec<ToolCallLocation> {
        let path = FileTool::named(&call.tool).and_then(|_| call.arguments.get("path")?.as_str());
        let found = path.and_then(|path| self.session.roots.find(path).ok());
        found.map(|path| vec![ToolCallLocation::new(path)]).unwrap_or_default()
    }

    /// Checks the call, which may ask the user, and runs it.
    async fn decided(
        &self,
        call: &ModelToolCall,
        arguments: &Map<String, Value>,
        begun: ToolCall,
        span: Option<&OwnSpan>,
    ) -> (CallResult, Option<Interrupted>) {
        let (session, id) = (self.session, begun.tool_call_id.clone());
        let specs = self.specs().await;
        if !specs.iter().any(|spec| spec.name == call.tool) {
            let names: Vec<_> = specs.into_iter().map(|spec| spec.name).collect();
            let text = format!("no tool {:?}; available tools: {}", call.tool, names.join(", "));
            return (CallResult::refused(text), None);
        }
        let running = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
        self.client.tell(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, running)));
        let (cancelled, closing) = (self.cancelled.clone(), self.agent.closing.clone());
        let caller = TurnCaller::new(cancelled, closing, self.client.clone(), begun);
        let text = format!("{} {}", call.tool, call.arguments);
        let foreign = session.servers.read().await.reads(&call.tool);
        let result = match (FileTool::named(&call.tool), foreign) {
            (Some(tool), _) => self.file(tool, arguments, &text, &caller).await,
            (None, Some(reads)) => {
                let wanted = Wanted::Foreign { name: &call.tool, reads };
                match gate::pass_call(session, &wanted, &text, &caller) {
                    Ok(()) => self.call_foreign(&call.tool, arguments).await,
                    Err(why) => CallResult::refused(why),
                }
            }
            (None, None) => {
                let result = engine_tools::call(self, call, arguments, caller, span).await;
                result.unwrap_or_else(|| CallResult::refused(format!("no tool {:?}", call.tool)))
            }
        };
        if result.failed && self.cancelled.is_cancelled() {
            return (
                CallResult { text: "cancelled by the user".to_owned(), ..result },
                Some(Interrupted::Cancelled),
            );
        }
        (result, None)
    }

    async fn file(
        &self,
        tool: FileTool,
        arguments: &Map<String, Value>,
        text: &str,
        caller: &TurnCaller,
    ) -> CallResult {
        let session = self.session;
        let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
        let path = match session.roots.find(path) {
            Ok(path) => path,
            Err(why) => {
                let own = session.roots.real(path).ok().filter(|_| tool == FileTool::Read);
                let Some(own) = own else { return CallResult::refused(why) };
                let read = files::read_own(self.agent, session, own, arguments).await;
                return read.unwrap_or_else(|| CallResult::refused(why));
            }
        };
        let wanted = Wanted::File { tool, path: &path, root: session.roots.root() };
        match gate::pass_call(session, &wanted, text, caller) {
            Ok(()) => {
                let call = FileCall { session, client: self.client, path, arguments };
                call.run(tool, &self.cancelled).await
            }
            Err(why) => CallResult::refused(why),
        }
    }

    /// Runs a call of a tool of an MCP server.
    async fn call_foreign(&self, name: &str, arguments: &Map<String, Value>) -> CallResult {
        let session = self.session;
        let servers = session.servers.read().await;
        let called = servers.call(name, arguments, session.call_settings.longest_call, session.most_bytes());
        let called = tokio::select! {
            called = called => called,
            () = self.cancelled.cancelled() => Err("cancelled by the user".to_owned()),
            () = self.agent.closing.cancelled() => Err("the agent is shutting down".to_owned()),
        };
        match called {
            Ok((text, failed)) => CallResult { failed, ..CallResult::done(text) },
            Err(why) => CallResult::refused(why),
        }
    }

    /// Returns the tools that are offered to the model.
    pub(super) async fn specs(&self) -> Vec<ToolSpec> {
        let mut specs = self.agent.toolset.specs(self.session.call_settings.background);
        specs.extend(FileTool::ALL.map(FileTool::spec));
        specs.extend(self.session.servers.read().await.specs().cloned());
        specs
    }
}
