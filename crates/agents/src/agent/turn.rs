//! One turn: the user's words, the model's, and the calls in between.

use std::sync::Arc;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    ContentBlock, EmbeddedResourceResource, SessionUpdate, StopReason, ToolCall, ToolCallContent,
    ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, UsageUpdate,
};
use genai::chat::{ChatRequest, Tool};
use mw_model::policy::Decision;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::conversation::{Answered, Call, Record};
use super::files::FileTool;
use super::gate::Wanted;
use super::model::{Failure, Model, Said, Stop, Usage};
use super::serve::Agent;
use super::session::{Session, Work};
use super::store::StoreError;
use super::talk::{self, Talk};
use super::tools::Carried;
use super::words;
use crate::toolset::ToolSpec;

/// A turn under way.
pub(super) struct Turn<'a> {
    pub(super) agent: &'a Agent,
    pub(super) session: &'a Session,
    pub(super) model: &'a Model,
    pub(super) talk: &'a Talk,
    pub(super) work: &'a mut Work,
    pub(super) cancelled: CancellationToken,
    /// What this turn has used so far.
    pub(super) usage: Usage,
}

/// Why a turn goes no further.
pub(super) enum Broken {
    Cancelled,
    /// The client is gone, or this process was told to end.
    Closing,
    Failed(Error),
}

impl From<StoreError> for Broken {
    fn from(error: StoreError) -> Self {
        Self::Failed(failed("store", &error.to_string(), "check the disk and the rights of MEANWHILE_HOME"))
    }
}

/// Makes an error of the protocol that says what to do next.
pub(super) fn failed(code: &str, message: &str, hint: &str) -> Error {
    let whole = if hint.is_empty() { message.to_owned() } else { format!("{message}. {hint}") };
    Error::new(-32603, whole).data(json!({"code": code, "hint": hint}))
}

impl Turn<'_> {
    /// Runs the turn to its end.
    pub(super) async fn run(&mut self, prompt: &[ContentBlock]) -> Result<StopReason, Error> {
        match self.go(prompt).await {
            Ok(reason) => Ok(reason),
            Err(Broken::Cancelled | Broken::Closing) => Ok(StopReason::Cancelled),
            Err(Broken::Failed(error)) => Err(error),
        }
    }

    async fn go(&mut self, prompt: &[ContentBlock]) -> Result<StopReason, Broken> {
        let mut receipt = None;
        let conversation = &self.work.conversation;
        let notices =
            self.agent.news(self.session, |number| conversation.has_notice(number), &mut receipt).await;
        for block in &notices {
            self.talk.user(block.text.clone());
        }
        let text = self.model.choice.key.hide(&in_words(prompt));
        self.work.note(Record::User { text, notices })?;
        self.told(receipt).await;
        let specs = self.agent.specs(self.session).await;
        for _ in 0..self.agent.limits.max_requests {
            self.trim().await?;
            let (spoken, stop) = self.ask_model(&specs).await?;
            let calls = spoken.calls.clone();
            self.work.note(Record::Assistant(spoken))?;
            if stop == Stop::Refusal {
                self.leave_out(&calls, "not carried out: the answer ended in a refusal")?;
                return Ok(StopReason::Refusal);
            }
            if calls.is_empty() {
                return Ok(if stop == Stop::Length { StopReason::MaxTokens } else { StopReason::EndTurn });
            }
            for (at, call) in calls.iter().enumerate() {
                if let Err(broken) = self.carry_out(call).await {
                    self.leave_out(&calls[at + 1..], "not carried out: the turn ended before")?;
                    return Err(broken);
                }
            }
        }
        Ok(StopReason::MaxTurnRequests)
    }

    /// Answers calls that will not be carried out: no endpoint takes a conversation with open ones.
    fn leave_out(&mut self, calls: &[Call], why: &str) -> Result<(), Broken> {
        for call in calls {
            let (id, tool, text) = (call.id.clone(), call.tool.clone(), why.to_owned());
            self.work.note(Record::Result(Answered {
                call: id,
                tool,
                text,
                failed: true,
                notices: Vec::new(),
            }))?;
        }
        Ok(())
    }

    /// Notes that what a record tells has been told.
    async fn told(&self, receipt: Option<crate::mcp::receipts::Receipt>) {
        if let Some(receipt) = receipt {
            let _ = tokio::task::spawn_blocking(move || receipt.confirm()).await;
        }
    }

    async fn ask_model(&mut self, specs: &[ToolSpec]) -> Result<(super::conversation::Spoken, Stop), Broken> {
        let tools = specs.iter().map(|spec| {
            Tool::new(spec.name.as_str())
                .with_description(spec.description.as_str())
                .with_schema(spec.input_schema.clone())
        });
        let request = ChatRequest::from_messages(self.work.conversation.messages())
            .with_system(self.session.system.as_str())
            .with_tools(tools);
        let talk = self.talk;
        let hear = |said| match said {
            Said::Text(text) => talk.text(text),
            Said::Thought(text) => talk.thought(text),
            Said::Pause(text) => talk.thought(format!("[{text}]\n")),
        };
        let answer = tokio::select! {
            answer = self.model.ask(&request, hear) => answer,
            () = self.cancelled.cancelled() => return Err(Broken::Cancelled),
            () = self.agent.closing.cancelled() => return Err(Broken::Closing),
        };
        match answer {
            Ok(reply) => {
                self.count(reply.usage);
                Ok((reply.spoken, reply.stop))
            }
            Err((Failure { code, message, hint, .. }, spoken)) => {
                // What the user saw is kept, so that the model can be told to go on.
                if !spoken.text.is_empty() {
                    self.work.note(Record::Assistant(super::conversation::Spoken {
                        calls: Vec::new(),
                        ..spoken
                    }))?;
                }
                Err(Broken::Failed(failed(code, &message, &hint)))
            }
        }
    }

    /// Notes what an answer cost, and tells the client.
    fn count(&mut self, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        self.usage.input += usage.input;
        self.usage.output += usage.output;
        // The answer itself is the next record.
        let records = self.work.conversation.records().len() + 1;
        self.work.counted = Some((records, usage.input + usage.output));
        let size = self.agent.limits.context_tokens;
        self.talk.tell(SessionUpdate::UsageUpdate(UsageUpdate::new(usage.input + usage.output, size)));
    }

    /// Carries one call out and notes its result.
    async fn carry_out(&mut self, call: &Call) -> Result<(), Broken> {
        let id = format!("call-{}", self.work.conversation.records().len());
        let empty = Map::new();
        let arguments = call.arguments.as_object();
        let title = words::title(&call.tool, arguments.unwrap_or(&empty));
        let begun = ToolCall::new(id.clone(), title)
            .name(call.tool.clone())
            .kind(words::kind(&call.tool))
            .status(ToolCallStatus::InProgress)
            .locations(self.locations(call))
            .raw_input(call.arguments.clone());
        self.talk.tell(SessionUpdate::ToolCall(begun.clone()));
        let (mut carried, broken) = match arguments {
            None => (Carried::refused("the arguments are no JSON object; send them again"), None),
            Some(_) if self.cancelled.is_cancelled() => {
                (Carried::refused("cancelled by the user"), Some(Broken::Cancelled))
            }
            Some(arguments) => self.decided(call, arguments, begun).await,
        };
        let conversation = &self.work.conversation;
        let notices = match broken {
            None => {
                self.agent
                    .news(self.session, |number| conversation.has_notice(number), &mut carried.receipt)
                    .await
            }
            Some(_) => Vec::new(),
        };
        let text = self.model.choice.key.hide(&carried.text);
        let shown =
            if carried.shown.is_empty() { vec![ToolCallContent::from(text.clone())] } else { carried.shown };
        let status = if carried.failed { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
        self.work.note(Record::Result(Answered {
            call: call.id.clone(),
            tool: call.tool.clone(),
            text,
            failed: carried.failed,
            notices,
        }))?;
        self.talk.tell(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(
            id,
            ToolCallUpdateFields::new().status(status).content(shown),
        )));
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

    /// Asks the policy, and the user where that wants it; then does it.
    async fn decided(
        &self,
        call: &Call,
        arguments: &Map<String, Value>,
        begun: ToolCall,
    ) -> (Carried, Option<Broken>) {
        let session = self.session;
        let file = FileTool::named(&call.tool);
        let path = match file {
            None => None,
            Some(_) => {
                let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
                match session.place.find(path) {
                    Ok(path) => Some(path),
                    Err(why) => return (Carried::refused(why), None),
                }
            }
        };
        let shell = session.premises.shell.to_lossy();
        let foreign = session.servers.read().await.reads(&call.tool);
        let wanted = match (file, &path, foreign) {
            (Some(tool), Some(path), _) => Wanted::File { tool, path },
            (_, _, Some(reads)) => Wanted::Foreign { name: &call.tool, reads },
            _ => Wanted::Own { name: &call.tool, arguments, shell: &shell },
        };
        let specs = self.agent.specs(session).await;
        if !specs.iter().any(|spec| spec.name == call.tool) {
            let names: Vec<_> = specs.into_iter().map(|spec| spec.name).collect();
            let text = format!("there is no tool {:?}; there are {}", call.tool, names.join(", "));
            return (Carried::refused(text), None);
        }
        let ruling = session.policy.rule(session.mode(), &wanted, &session.place);
        match ruling.decision {
            Decision::Allow => {}
            Decision::Deny => {
                let text = format!("refused by policy: {}. Do not try to get around it.", ruling.why);
                return (Carried::refused(text), None);
            }
            Decision::Ask => {
                let said = tokio::select! {
                    said = self.talk.ask(question(begun, &ruling.why)) => said,
                    () = self.cancelled.cancelled() => talk::Said::Cancelled,
                };
                match said {
                    talk::Said::Yes => {}
                    talk::Said::No => {
                        let text = format!(
                            "the user refused it ({}). Do something else, or ask what they want.",
                            ruling.why
                        );
                        return (Carried::refused(text), None);
                    }
                    talk::Said::Cancelled => {
                        return (Carried::refused("cancelled by the user"), Some(Broken::Cancelled));
                    }
                    talk::Said::Nothing(why) => {
                        let text = format!(
                            "refused: it has to be asked about ({}), and the client cannot ask: {why}",
                            ruling.why
                        );
                        return (Carried::refused(text), None);
                    }
                }
            }
        }
        let carried = match (file, path) {
            _ if foreign.is_some() => {
                self.agent.call_foreign(session, &call.tool, arguments, &self.cancelled).await
            }
            (Some(tool), Some(path)) => {
                self.agent.call_file(session, self.talk, tool, path, arguments, &self.cancelled).await
            }
            _ => {
                let carried = self.agent.call_engine(session, &call.tool, arguments, &self.cancelled).await;
                carried.unwrap_or_else(|| Carried::refused(format!("there is no tool {:?}", call.tool)))
            }
        };
        (carried, None)
    }
}

/// Puts a call and the reason for asking before the user.
fn question(begun: ToolCall, why: &str) -> ToolCallUpdate {
    let mut update = ToolCallUpdate::from(begun);
    update.fields.status = Some(ToolCallStatus::Pending);
    update.fields.content = Some(vec![ToolCallContent::from(why.to_owned())]);
    update
}

/// Reads a prompt; what is no text is named.
fn in_words(prompt: &[ContentBlock]) -> String {
    let words = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => {
                format!("<resource uri={:?}>\n{}\n</resource>", text.uri, text.text)
            }
            _ => "[something that is no text was left out: this agent reads text]".to_owned(),
        },
        ContentBlock::Image(_) => "[an image was left out: this agent reads text]".to_owned(),
        ContentBlock::Audio(_) => "[a recording was left out: this agent reads text]".to_owned(),
        _ => "[something unknown was left out]".to_owned(),
    };
    prompt.iter().map(words).collect::<Vec<_>>().join("\n")
}

/// Runs a turn of a session, if none is under way.
pub(super) async fn run(
    agent: &Arc<Agent>,
    session: &Arc<Session>,
    talk: &Talk,
    prompt: &[ContentBlock],
) -> Result<(StopReason, Usage), Error> {
    let Ok(mut work) = Arc::clone(&session.work).try_lock_owned() else {
        return Err(Error::new(
            -32600,
            "a turn of this session is under way: cancel it, or wait for its end",
        ));
    };
    let cancelled = session.begin();
    let model = agent.model().map_err(|error| failed("model_missing", &error.message, &error.hint))?;
    let usage = Usage { input: 0, output: 0 };
    let mut turn = Turn { agent, session, model: &model, talk, work: &mut work, cancelled, usage };
    let reason = turn.run(prompt).await?;
    Ok((reason, turn.usage))
}
