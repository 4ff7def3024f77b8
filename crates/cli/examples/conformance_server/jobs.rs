//! Long-running tools of the conformance suite. Those that only run are commands of the engine; those that ask a
//! question are not, because no task of ours does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use mw_agents::mcp::Server;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    CreateTaskResult, DetailedTask, GetTaskParams, GetTaskResult, InputRequest, InputResponses, TaskPayload,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};

use crate::fixtures::held;
use crate::questions::{answer, ask, form};

#[derive(Clone)]
pub(crate) struct Jobs {
    server: Server,
    asking: TaskManager,
    /// What is made of the result of a command: the suite wants failures that no command of ours has.
    ends: Arc<Mutex<HashMap<String, End>>>,
}

#[derive(Clone, Copy)]
enum End {
    ToolError,
    ProtocolError,
}

/// Returns how long a command must take to run for so many seconds after it became a task, which happens after 2 s.
fn as_task(seconds: f64) -> f64 {
    2.0 + seconds
}

impl Jobs {
    pub(crate) fn new(server: Server) -> Self {
        Self { server, asking: TaskManager::new(), ends: Arc::default() }
    }

    pub(crate) fn has(name: &str) -> bool {
        [
            "slow_compute",
            "failing_job",
            "protocol_error_job",
            "confirm_delete",
            "multi_input",
            "test_tool_with_task",
        ]
        .contains(&name)
    }

    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let knows = context.client_capabilities().is_some_and(|declared| declared.supports_tasks());
        let name = request.name.to_string();
        let needs = ["failing_job", "test_tool_with_task", "confirm_delete", "multi_input"];
        if needs.contains(&name.as_str()) && !knows {
            let wanted = ClientCapabilities::builder().enable_tasks().build();
            return Err(ErrorData::missing_required_client_capability(wanted));
        }
        let given = Value::Object(request.arguments.clone().unwrap_or_default());
        match name.as_str() {
            "slow_compute" => {
                let seconds = given["seconds"].as_f64().unwrap_or(1.0);
                let label = given["label"].as_str().unwrap_or("compute").to_owned();
                let seconds = if seconds > 0.0 { as_task(seconds) } else { seconds };
                self.run(&format!("sleep {seconds}; echo '{label} done'"), None, context).await
            }
            "failing_job" => {
                let script = format!("sleep {}; exit 1", as_task(1.0));
                self.run(&script, Some(End::ToolError), context).await
            }
            "protocol_error_job" if knows => {
                let script = format!("sleep {}", as_task(0.2));
                self.run(&script, Some(End::ProtocolError), context).await
            }
            "protocol_error_job" => Err(ErrorData::internal_error("it fails on purpose", None)),
            "confirm_delete" => {
                let file = given["filename"].as_str().unwrap_or("file.txt").to_owned();
                let question = form(&format!("Delete {file}?"), &json!({"confirm": {"type": "boolean"}}))?;
                Ok(self.start(vec![("confirm", question)], move |answers| {
                    format!("{file}: confirmed = {}", answers[0]["content"]["confirm"])
                }))
            }
            "multi_input" => {
                let value = json!({"value": {"type": "string"}});
                let questions =
                    vec![("input-a", form("Value A", &value)?), ("input-b", form("Value B", &value)?)];
                Ok(self.start(questions, |answers| {
                    format!("a = {}, b = {}", answers[0]["content"]["value"], answers[1]["content"]["value"])
                }))
            }
            _ => match answer(request.input_responses.as_ref(), "user_name") {
                None => {
                    Ok(ask([("user_name", form("Your name?", &json!({"name": {"type": "string"}}))?)], None))
                }
                Some(user) => {
                    let user = user["content"]["name"].as_str().unwrap_or("friend").to_owned();
                    Ok(self.start(Vec::new(), move |_| format!("Hello, {user}! (async)")))
                }
            },
        }
    }

    /// Runs a command of ours.
    async fn run(
        &self,
        script: &str,
        end: Option<End>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = json!({"command": script}).as_object().cloned();
        let call = CallToolRequestParams::new("shell").with_arguments(arguments.unwrap_or_default());
        let response = self.server.call_tool(call, context).await?;
        if let (CallToolResponse::Task(created), Some(end)) = (&response, end) {
            held(&self.ends).insert(created.task.task_id.clone(), end);
        }
        Ok(response)
    }

    /// Starts a job that asks.
    fn start(
        &self,
        questions: Vec<(&'static str, InputRequest)>,
        result: impl FnOnce(Vec<Value>) -> String + Send + 'static,
    ) -> CallToolResponse {
        let work = async move |context: TaskContext| -> Result<CallToolResult, TaskExit> {
            let mut asked = tokio::task::JoinSet::new();
            for (index, (key, question)) in questions.into_iter().enumerate() {
                let context = context.clone();
                asked.spawn(async move { (index, context.request_input(key, question).await) });
            }
            let mut answers = Vec::new();
            while let Some(Ok((index, answer))) = asked.join_next().await {
                answers.push((index, answer?));
            }
            answers.sort_by_key(|(index, _)| *index);
            let text = result(answers.into_iter().map(|(_, answer)| json!(answer)).collect());
            Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
        };
        let task = self.asking.spawn(TaskOptions::default(), |context| Box::pin(work(context)));
        CreateTaskResult::new(task).into()
    }

    pub(crate) async fn get(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        if let Ok(task) = self.asking.get_task(&request.task_id) {
            return Ok(GetTaskResult::new(task));
        }
        let end = held(&self.ends).get(&request.task_id).copied();
        let found = self.server.get_task(request, context).await?;
        let DetailedTask { task, payload, .. } = found.task;
        let payload = match (payload, end) {
            (TaskPayload::Completed { mut result }, Some(End::ToolError)) => {
                result.insert("isError".to_owned(), json!(true));
                TaskPayload::Completed { result }
            }
            (TaskPayload::Completed { .. }, Some(End::ProtocolError)) => {
                let error = json!({"code": -32603, "message": "it fails on purpose"});
                TaskPayload::Failed { error: error.as_object().cloned().unwrap_or_default() }
            }
            (payload, _) => payload,
        };
        Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
    }

    /// Hands answers to a job that asked; nothing when it is none of these.
    pub(crate) fn update(&self, task: &str, answers: InputResponses) -> Option<Result<(), ErrorData>> {
        self.asking.get_task(task).is_ok().then(|| self.asking.update_task(task, answers))
    }

    pub(crate) fn cancel(&self, task: &str) -> Option<Result<(), ErrorData>> {
        self.asking.get_task(task).is_ok().then(|| self.asking.cancel_task(task))
    }
}
