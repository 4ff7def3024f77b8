//! The Tasks extension: a foreground command that takes long becomes a task of the protocol. Its state is in the
//! engine, so it survives this server.

use std::time::Duration;

use meanwhile::engine::{KillReport, KillRequest, Runtime};
use meanwhile::{Scope, Task};
use mw_model::{Requester, Status};
use rmcp::ErrorData;
use rmcp::model::{
    CreateTaskResult, DetailedTask, ExtensionCapabilities, GetTaskResult, ProtocolVersion,
    ServerCapabilities, TASKS_EXTENSION_ID, TaskPayload, TaskStatus,
};
use serde_json::{Map, Value, json};

use super::recipient::Awaited;
use super::server::{Answered, Context, Server};
use mw_tools::call::{CallContext, CallSettings, PatientCaller, Reply};
use mw_tools::dialects::canonical;
use mw_tools::operations::{Excerpt, ForegroundRun};

/// How long a command may take before it becomes a task.
const AT_ONCE: Duration = Duration::from_secs(2);
/// How often a client should poll.
const POLL_MS: u64 = 1000;

/// The beginning of a call.
pub(super) enum Begun {
    /// It has already ended.
    Over(Reply),
    /// It continues as a task.
    Task(CreateTaskResult),
}

/// Declares the extension.
pub(super) fn declare(capabilities: &mut ServerCapabilities) {
    let extensions = capabilities.extensions.get_or_insert_with(ExtensionCapabilities::new);
    extensions.insert(TASKS_EXTENSION_ID.to_owned(), Map::new());
}

/// Returns whether a call may become a task: a command in the foreground, from a client that knows tasks. One that
/// declares them in an older revision cannot use them.
pub(super) fn are_wanted(tool: &str, arguments: &Map<String, Value>, context: &Context) -> bool {
    let knows = context.client_capabilities().is_some_and(|declared| declared.supports_tasks());
    let speaks = context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    let waits = arguments.get("run_in_background").and_then(Value::as_bool) != Some(true);
    knows && speaks && waits && tool == "shell"
}

impl Server {
    /// Runs a command in the foreground. If it has not ended after a moment, it becomes a task.
    pub(super) async fn call_as_task(
        &self,
        arguments: Map<String, Value>,
        context: &Context,
        awaited: &Awaited,
    ) -> Answered<Begun> {
        let mut call_settings = self.call_settings(context);
        call_settings.longest_call = call_settings.longest_call.min(AT_ONCE);
        let scope = Scope::Session(call_settings.session.clone());
        let reply = self.carry_out("shell".to_owned(), arguments, call_settings, context, awaited).await?;
        let id = reply.data["task_id"].as_str().map(str::to_owned);
        let Some(id) = id.filter(|_| !reply.failed && reply.reported.is_empty()) else {
            return Ok(Begun::Over(reply));
        };
        let task = self.with_engine(move |runtime| runtime.tasks().task(&id, &scope)).await?;
        Ok(Begun::Task(CreateTaskResult::new(described(&task))))
    }

    /// Returns the state of a task, with its result once it has ended.
    pub(super) async fn task(&self, id: String, context: &Context) -> Answered<GetTaskResult> {
        let call_settings = self.call_settings(context);
        let session = call_settings.session.clone();
        let found = self
            .with_engine(move |runtime| {
                let scope = Scope::Session(call_settings.session.clone());
                let task = match runtime
                    .lookup()
                    .resolve_exact(&id, &scope)
                    .and_then(|id| runtime.tasks().task(id.as_str(), &scope))
                {
                    Err(meanwhile::Error::NotFound(_)) => return Ok(None),
                    other => other?,
                };
                let reply = match task.status.is_terminal() {
                    true => Some(finished(runtime, &call_settings, &task)?),
                    false => None,
                };
                Ok(Some((task, reply)))
            })
            .await?;
        let (task, reply) = found.ok_or_else(|| ErrorData::invalid_params("no such task", None))?;
        let payload = match (task.status, reply) {
            (Status::Cancelled, _) => TaskPayload::Cancelled,
            (Status::Lost, _) => TaskPayload::Failed { error: failure(&task) },
            (_, Some(reply)) => {
                let call = self.inner.calls.begin().await;
                let recipient = self.recipient(context, &session);
                let result = self.result(reply, &recipient, call, &Awaited::default(), context).await;
                let result = serde_json::to_value(result);
                let result = result.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                TaskPayload::Completed { result: result.as_object().cloned().unwrap_or_default() }
            }
            (_, None) => TaskPayload::Working,
        };
        Ok(GetTaskResult::new(DetailedTask::new(described(&task), payload)))
    }

    /// Ends a task for its client.
    pub(super) async fn end_task(&self, id: String, context: &Context) -> Answered<()> {
        let session = self.call_settings(context).session;
        let found = self
            .with_engine(move |runtime| {
                let kill = KillRequest::term(Requester::Session(&session).to_string());
                match runtime
                    .notifications()
                    .kill_as_owner(&[&id], &session, &kill)
                    .and_then(KillReport::all_done)
                {
                    Err(meanwhile::Error::NotFound(_)) => Ok(false),
                    other => other.map(|_| true),
                }
            })
            .await?;
        if found { Ok(()) } else { Err(ErrorData::invalid_params("no such task", None)) }
    }
}

fn finished(runtime: &Runtime, call_settings: &CallSettings, task: &Task) -> Result<Reply, meanwhile::Error> {
    let cx = CallContext::new(runtime, call_settings, &PatientCaller);
    let output = Excerpt::of(task, &cx)?;
    Ok(canonical::ran(&ForegroundRun::over(task.clone(), output)))
}

fn described(task: &Task) -> rmcp::model::Task {
    let status = if task.status.is_terminal() { TaskStatus::Completed } else { TaskStatus::Working };
    let changed = task.ended_at.or(task.started_at).unwrap_or(task.created_at);
    let mut described =
        rmcp::model::Task::new(task.id.to_string(), status, task.created_at.to_string(), changed.to_string());
    described.poll_interval_ms = Some(POLL_MS);
    described.status_message = Some(match &task.progress {
        Some(progress) => format!("{} {}", task.status.word(), progress.to_words()),
        None => task.status.word().to_owned(),
    });
    described
}

fn failure(task: &Task) -> Map<String, Value> {
    let error = json!({"code": -32603, "message": task.cause.as_deref().unwrap_or("its outcome is unknown")});
    error.as_object().cloned().unwrap_or_default()
}
