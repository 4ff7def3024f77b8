//! The calls of a turn: decided, carried out, noted.

use agent_client_protocol::v1::schema::{
    SessionUpdate, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields,
};
use mw_model::policy::Decision;
use serde_json::{Map, Value};

use super::conversation::{Answered, Call, Record};
use super::files::FileTool;
use super::gate::Wanted;
use super::talk;
use super::tools::Carried;
use super::turn::{Broken, Turn};
use super::words;

impl Turn<'_> {
    /// Carries one call out and notes its result.
    pub(super) async fn carry_out(&mut self, call: &Call) -> Result<(), Broken> {
        let id = format!("call-{}", self.work.conversation.records().len());
        let empty = Map::new();
        let arguments = call.arguments.as_object();
        let title = words::title(&call.tool, arguments.unwrap_or(&empty));
        let begun = ToolCall::new(id.clone(), title)
            .name(call.tool.clone())
            .kind(words::kind(&call.tool))
            .status(ToolCallStatus::Pending)
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
        let (session, id) = (self.session, begun.tool_call_id.clone());
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
        self.talk.tell(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(
            id,
            ToolCallUpdateFields::new().status(ToolCallStatus::InProgress),
        )));
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
    update.fields.content = Some(vec![ToolCallContent::from(why.to_owned())]);
    update
}
