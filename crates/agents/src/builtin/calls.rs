//! The tool calls of a turn: checks, runs and records them.

use agent_client_protocol::v1::schema::{
    SessionUpdate, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields,
};
use meanwhile::engine::OwnSpan;
use serde_json::{Map, Value};

use super::conversation::{Answered, Call, Record};
use super::files::FileTool;
use super::gate::Wanted;
use super::tools;
use super::tools::{Carried, News};
use super::turn::{Broken, Turn};
use super::waiting::Waiting;
use super::words;

impl Turn<'_> {
    /// Carries one call out and notes its result.
    pub(super) async fn carry_out(&mut self, call: &Call) -> Result<(), Broken> {
        let id = format!("call-{}", self.work.conversation.records().len());
        let empty = Map::new();
        let arguments = call.arguments.as_object();
        let title = words::title(&call.tool, arguments.unwrap_or(&empty));
        let begun = ToolCall::new(id.clone(), title.clone())
            .name(call.tool.clone())
            .kind(words::kind(&call.tool))
            .status(ToolCallStatus::Pending)
            .locations(self.locations(call))
            .raw_input(call.arguments.clone());
        self.talk.tell(SessionUpdate::ToolCall(begun.clone()));
        let span = self.session.begin_call_span(&call.tool, self.span.as_ref());
        let (mut carried, broken) = match arguments {
            None => (Carried::refused("the arguments are not a JSON object; send them again"), None),
            Some(_) if self.cancelled.is_cancelled() => {
                (Carried::refused("cancelled by the user"), Some(Broken::Cancelled))
            }
            Some(arguments) => self.decided(call, arguments, begun, span.as_ref()).await,
        };
        let conversation = &self.work.conversation;
        let News { blocks: notices, over } = match broken {
            None => {
                let known = |number| conversation.has_notice(number);
                let started = carried.starts.as_ref();
                self.agent.news(self.session, known, &mut carried.receipt, started).await
            }
            Some(_) => News::default(),
        };
        let has_started = carried.starts.is_some() && over.is_none();
        if let Some(over) = over {
            over.put_into(&mut carried.text, &mut carried.data);
        }
        let text = self.model.choice.key.hide(&carried.text);
        let failure = carried.failed.then_some(text.as_str());
        self.session.end_call_span(span, &call.tool, failure, carried.started);
        let shown =
            if carried.shown.is_empty() { vec![ToolCallContent::from(text.clone())] } else { carried.shown };
        let ran_badly = words::ran_badly(&call.tool, &carried.data);
        let status =
            if carried.failed || ran_badly { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
        let mut fields = ToolCallUpdateFields::new().status(status).content(shown);
        if let Some(task) = words::left_running(&call.tool, has_started, &carried.data) {
            fields = fields.title(format!("in the background as {task}: {title}"));
        }
        self.work.note(Record::Result(Answered {
            call: call.id.clone(),
            tool: call.tool.clone(),
            text,
            failed: carried.failed,
            ran_badly,
            notices,
        }))?;
        self.talk.tell(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields)));
        self.told(carried.receipt).await;
        match broken {
            Some(broken) => Err(broken),
            None if self.cancelled.is_cancelled() => Err(Broken::Cancelled),
            None if self.agent.closing.is_cancelled() => Err(Broken::Closing),
            None => Ok(()),
        }
    }

    fn locations(&self, call: &Call) -> Vec<ToolCallLocation> {
        let path = FileTool::named(&call.tool).and_then(|_| call.arguments.get("path")?.as_str());
        let found = path.and_then(|path| self.session.place.find(path).ok());
        found.map(|path| vec![ToolCallLocation::new(path)]).unwrap_or_default()
    }

    /// Lets the call pass the gate, which asks the user where policy wants it; then does it.
    async fn decided(
        &self,
        call: &Call,
        arguments: &Map<String, Value>,
        begun: ToolCall,
        span: Option<&OwnSpan>,
    ) -> (Carried, Option<Broken>) {
        let (session, id) = (self.session, begun.tool_call_id.clone());
        let specs = self.agent.specs(session).await;
        if !specs.iter().any(|spec| spec.name == call.tool) {
            let names: Vec<_> = specs.into_iter().map(|spec| spec.name).collect();
            let text = format!("no tool {:?}; available tools: {}", call.tool, names.join(", "));
            return (Carried::refused(text), None);
        }
        let running = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
        self.talk.tell(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, running)));
        let (cancelled, closing) = (self.cancelled.clone(), self.agent.closing.clone());
        let caller = Waiting::new(cancelled, closing, self.talk.clone(), begun);
        let text = format!("{} {}", call.tool, call.arguments);
        let foreign = session.servers.read().await.reads(&call.tool);
        let carried = match (FileTool::named(&call.tool), foreign) {
            (Some(tool), _) => self.file(tool, arguments, &text, &caller).await,
            (None, Some(reads)) => {
                let wanted = Wanted::Foreign { name: &call.tool, reads };
                match tools::pass(session, &wanted, &text, &caller) {
                    Ok(()) => self.agent.call_foreign(session, &call.tool, arguments, &self.cancelled).await,
                    Err(why) => Carried::refused(why),
                }
            }
            (None, None) => {
                let carried = self
                    .agent
                    .call_engine(session, call, arguments, caller, (self.span.as_ref(), span))
                    .await;
                carried.unwrap_or_else(|| Carried::refused(format!("no tool {:?}", call.tool)))
            }
        };
        if carried.failed && self.cancelled.is_cancelled() {
            return (
                Carried { text: "cancelled by the user".to_owned(), ..carried },
                Some(Broken::Cancelled),
            );
        }
        (carried, None)
    }

    async fn file(
        &self,
        tool: FileTool,
        arguments: &Map<String, Value>,
        text: &str,
        caller: &Waiting,
    ) -> Carried {
        let session = self.session;
        let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
        let path = match session.place.find(path) {
            Ok(path) => path,
            Err(why) => {
                let own = session.place.real(path).ok().filter(|_| tool == FileTool::Read);
                let Some(own) = own else { return Carried::refused(why) };
                let read = self.agent.read_own(session, own, arguments).await;
                return read.unwrap_or_else(|| Carried::refused(why));
            }
        };
        let wanted = Wanted::File { tool, path: &path, root: session.place.root() };
        match tools::pass(session, &wanted, text, caller) {
            Ok(()) => self.agent.call_file(session, self.talk, tool, path, arguments, &self.cancelled).await,
            Err(why) => Carried::refused(why),
        }
    }
}
