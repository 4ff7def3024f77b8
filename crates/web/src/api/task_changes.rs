//! Changes of tasks: start, kill, restart, remove, type to.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use meanwhile::engine::model::signal::SIGTERM;
use meanwhile::engine::model::signal_number;
use mw_desk::action::{Removal, StartOrder};
use mw_desk::query::Query;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json as value};
use utoipa::ToSchema;

use super::extract::{Id, Json};
use super::reply::{Reply, Task, json, sent};
use super::state::Api;
use crate::problem::Problem;

/// A task to start: `command`, a script for the shell, or `argv`, a program with its arguments.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartBody {
    /// A script for the shell.
    command: Option<String>,
    /// A program with its arguments, which runs without a shell.
    #[serde(default)]
    argv: Vec<String>,
    /// The working directory [default: that of the server].
    cwd: Option<String>,
    /// A name, unique among the user's live tasks.
    name: Option<String>,
    /// A description for people.
    description: Option<String>,
    /// The batch.
    batch: Option<String>,
    /// Variables to add to the environment.
    #[serde(default)]
    env: std::collections::BTreeMap<String, String>,
    /// The time limit of the run, such as `10m`.
    timeout: Option<String>,
    /// The latest end, counted from now, such as `2h`.
    deadline: Option<String>,
    /// Tasks that must complete first.
    #[serde(default)]
    after: Vec<String>,
    /// Whether standard input stays open.
    #[serde(default)]
    stdin: bool,
    /// The priority in the queue; higher starts earlier.
    #[serde(default)]
    priority: i32,
    /// Ready when a line matches this regular expression.
    ready_when: Option<String>,
    /// Ready when the task listens on this port.
    ready_port: Option<u16>,
}

/// Starts a task for the user. It is queued if no slot is free.
#[utoipa::path(post, path = "/tasks", tag = "tasks", request_body = StartBody, responses(
    (status = 201, description = "The task", body = Task),
    (status = "4XX", description = "Not started", body = Problem, content_type = "application/problem+json"),
    (status = 503, description = "No slot is free", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn start(State(api): State<Arc<Api>>, Json(body): Json<StartBody>) -> Reply {
    let order = StartOrder {
        script: body.command,
        argv: body.argv,
        cwd: body.cwd.map(PathBuf::from),
        name: body.name,
        description: body.description,
        batch: body.batch,
        env: body.env.into_iter().collect(),
        timeout: body.timeout,
        deadline: body.deadline,
        after: body.after,
        stdin: body.stdin,
        priority: body.priority,
        ready_when: body.ready_when,
        ready_port: body.ready_port,
    };
    if order.cwd.as_ref().is_some_and(|cwd| !cwd.is_absolute()) {
        return Err(Problem::invalid("cwd is not an absolute path"));
    }
    let started = api.change(move |api| json(&api.desk.start(&order, &api.start)?.task)).await?;
    Ok((StatusCode::CREATED, sent(started)).into_response())
}

/// Tasks to kill.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KillBody {
    /// The tasks.
    #[schema(min_items = 1)]
    ids: Vec<String>,
    /// The first signal, such as `INT` or `9` [default: TERM].
    signal: Option<String>,
    /// The time until SIGKILL [default: that of the task].
    grace_ms: Option<u64>,
}

/// What was killed.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the reply, which consists of records of the engine")]
struct KillReply {
    /// A receipt for each task: signals, killed processes, survivors.
    #[schema(value_type = Vec<Object>)]
    receipts: Vec<Value>,
    /// Tasks that may not have ended, with the reasons.
    #[schema(value_type = Vec<Object>)]
    failures: Vec<Value>,
}

/// Kills tasks with all their processes, and returns when they have ended.
#[utoipa::path(post, path = "/tasks/kill", tag = "tasks", request_body = KillBody, responses(
    (status = 200, description = "The receipts", body = KillReply),
    (status = "4XX", description = "Not killed", body = Problem, content_type = "application/problem+json"),
    (status = 503, description = "A supervisor does not answer", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn kill(State(api): State<Arc<Api>>, Json(body): Json<KillBody>) -> Reply {
    let signal = match body.signal.as_deref() {
        None => SIGTERM,
        Some(word) => {
            signal_number(word).ok_or_else(|| Problem::invalid(format!("{word:?} is not a signal")))?
        }
    };
    named(&body.ids)?;
    let killed = api.change(move |api| {
        let report = api.desk.kill_with(&body.ids, signal, body.grace_ms)?;
        let failure = |failure: &meanwhile::KillFailure| {
            value!({"id": failure.id, "code": failure.error.code().as_str(), "detail": failure.error.to_string()})
        };
        let failures: Vec<_> = report.failures.iter().map(failure).collect();
        json(&value!({"receipts": report.receipts, "failures": failures}))
    });
    killed.await.map(sent)
}

/// Refuses a change of no tasks.
fn named(ids: &[String]) -> Result<(), Problem> {
    if ids.is_empty() { Err(Problem::invalid("ids names no task")) } else { Ok(()) }
}

/// Tasks to change.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IdsBody {
    /// The tasks.
    #[schema(min_items = 1)]
    ids: Vec<String>,
}

/// What was done, in words: counts, then a line for each task that needs one.
#[derive(Serialize, ToSchema)]
pub(super) struct Done {
    /// The lines.
    pub(super) lines: Vec<String>,
}

/// Runs tasks again. A live task is killed first.
#[utoipa::path(post, path = "/tasks/restart", tag = "tasks", request_body = IdsBody, responses(
    (status = 200, description = "What was done", body = Done),
    (status = "4XX", description = "Not restarted", body = Problem, content_type = "application/problem+json"),
    (status = 503, description = "No slot is free", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn restart(State(api): State<Arc<Api>>, Json(body): Json<IdsBody>) -> Reply {
    named(&body.ids)?;
    api.change(move |api| json(&Done { lines: api.desk.restart(&body.ids)? })).await.map(sent)
}

/// Tasks to remove: `ids`, or all ended tasks that match the filters.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClearBody {
    /// The tasks. Live ones are kept.
    #[serde(default)]
    ids: Vec<String>,
    /// Remove all ended tasks instead.
    #[serde(default)]
    ended: bool,
    /// With `ended`: only those of this session.
    session: Option<String>,
    /// With `ended`: only those of this batch.
    batch: Option<String>,
    /// With `ended`: only those with this text.
    text: Option<String>,
}

/// Removes ended tasks with their logs.
#[utoipa::path(post, path = "/tasks/clear", tag = "tasks", request_body = ClearBody, responses(
    (status = 200, description = "What was done", body = Done),
    (status = "4XX", description = "Not removed", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn clear(State(api): State<Arc<Api>>, Json(body): Json<ClearBody>) -> Reply {
    let removal = match (body.ids.is_empty(), body.ended) {
        (false, false) => Removal::These(body.ids),
        (true, true) => Removal::Ended(Query {
            session: body.session,
            batch: body.batch,
            text: body.text.unwrap_or_default(),
            ..Query::default()
        }),
        (_, _) => return Err(Problem::invalid("give either ids or ended")),
    };
    api.change(move |api| json(&Done { lines: api.desk.clear(&removal)? })).await.map(sent)
}

/// A line of input.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct InputBody {
    /// The line. A newline is added.
    text: String,
}

/// Sends a line to the standard input of a task.
#[utoipa::path(post, path = "/tasks/{id}/input", tag = "tasks", params(("id" = String, Path, description = "The task")), request_body = InputBody, responses(
    (status = 200, description = "What was done", body = Done),
    (status = "4XX", description = "Not sent", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn input(State(api): State<Arc<Api>>, Id(id): Id, Json(body): Json<InputBody>) -> Reply {
    let sending = api.change(move |api| json(&Done { lines: vec![api.desk.input(&id, &body.text)?] }));
    sending.await.map(sent)
}
