//! Tasks: list, look at, start, kill, restart, remove, type to.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use meanwhile::engine::model::signal::SIGTERM;
use meanwhile::engine::model::{TaskKind, signal_number};
use meanwhile::model::Status;
use mw_desk::action::{Removal, StartOrder};
use mw_desk::query::{Query, Sort, States, TaskListQuery};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json as value};
use utoipa::{IntoParams, ToSchema};

use super::extract::{Id, Json, Params, in_range};
use super::reply::{Reply, Task, json, sent};
use super::state::Api;
use crate::problem::Problem;

/// The maximum number of tasks of one page.
const MOST: u32 = 1000;
/// The maximum number of last lines.
const MOST_LINES: u64 = 1000;

/// The filters of a list, its order, and the part to return.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListParams {
    /// Only tasks in these states, separated by commas; `live` and `ended` stand for several.
    status: Option<String>,
    /// Only tasks of this kind: `shell`, `agent` or `remote`.
    kind: Option<String>,
    /// Only tasks of this session.
    session: Option<String>,
    /// Only tasks of this batch.
    batch: Option<String>,
    /// Only tasks with this name.
    name: Option<String>,
    /// Only tasks with this text in id, name, description, command, session or batch.
    text: Option<String>,
    /// The order: `state`, `newest`, `longest` or `name`.
    #[serde(default)]
    #[param(inline)]
    sort: SortBy,
    /// Whether the order is reversed.
    #[serde(default)]
    reverse: bool,
    /// How many tasks to skip.
    #[serde(default)]
    offset: u32,
    /// How many tasks to return, at most 1000.
    #[serde(default = "usual_limit")]
    #[param(default = 50, maximum = 1000)]
    limit: u32,
}

const fn usual_limit() -> u32 {
    50
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SortBy {
    /// Running tasks, then queued ones, then recent failures, then the others.
    #[default]
    State,
    /// Newest first.
    Newest,
    /// Longest duration first.
    Longest,
    /// By name.
    Name,
}

/// A page of the list.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the reply, which is written without copying the tasks")]
struct TaskPage {
    /// The tasks.
    tasks: Vec<Task>,
    /// How many tasks match.
    total: u64,
    /// How many of those have not ended.
    live: u64,
}

#[derive(Serialize)]
struct PageReply<'a> {
    tasks: &'a [meanwhile::Task],
    total: u64,
    live: u64,
}

impl ListParams {
    fn query(self) -> Result<TaskListQuery, Problem> {
        let sort = match self.sort {
            SortBy::State => Sort::State,
            SortBy::Newest => Sort::Newest,
            SortBy::Longest => Sort::Longest,
            SortBy::Name => Sort::Name,
        };
        let query = Query {
            session: self.session,
            batch: self.batch,
            states: States::Any,
            text: self.text.unwrap_or_default(),
            sort,
            is_reversed: self.reverse,
        };
        let statuses = self.status.as_deref().map(statuses).transpose()?.unwrap_or_default();
        let kind = self.kind.as_deref().map(kind).transpose()?;
        let (name, offset, limit) = (self.name, self.offset, in_range("limit", self.limit, 0..=MOST)?);
        Ok(TaskListQuery { query, statuses, kind, name, offset, limit })
    }
}

fn statuses(text: &str) -> Result<Vec<Status>, Problem> {
    let mut all = Vec::new();
    for word in text.split(',') {
        match (word, Status::from_word(word)) {
            (_, Some(status)) => all.push(status),
            ("live", None) => all.extend(Status::ALL.into_iter().filter(|status| !status.is_terminal())),
            ("ended", None) => all.extend(Status::ALL.into_iter().filter(|status| status.is_terminal())),
            (_, None) => {
                let known = Status::ALL.map(Status::word).join(", ");
                return Err(Problem::invalid(format!("{word:?} is not one of {known}, live, ended")));
            }
        }
    }
    Ok(all)
}

fn kind(word: &str) -> Result<TaskKind, Problem> {
    let all = [TaskKind::Shell, TaskKind::Agent, TaskKind::Remote];
    let found = all.into_iter().find(|kind| kind.word() == word);
    found.ok_or_else(|| Problem::invalid(format!("{word:?} is not one of shell, agent, remote")))
}

/// Lists tasks.
#[utoipa::path(get, path = "/tasks", tag = "tasks", params(ListParams), responses(
    (status = 200, description = "A page of the list", body = TaskPage),
    (status = "4XX", description = "Invalid parameters", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn list(State(api): State<Arc<Api>>, Params(params): Params<ListParams>) -> Reply {
    let query = params.query()?;
    let read = api.read(move |api| {
        let page = api.desk.tasks(&query)?;
        json(&PageReply { tasks: &page.tasks, total: page.total, live: page.live })
    });
    read.await.map(sent)
}

/// How many last lines to return with a task.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct GetParams {
    /// How many last lines of output to return, at most 1000.
    #[serde(default)]
    #[param(default = 0, maximum = 1000)]
    lines: u64,
}

/// Returns a task.
#[utoipa::path(get, path = "/tasks/{id}", tag = "tasks", params(("id" = String, Path, description = "Its id, name, or a unique beginning of its id"), GetParams), responses(
    (status = 200, description = "The task", body = Task),
    (status = "4XX", description = "No such task", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn get(State(api): State<Arc<Api>>, Id(id): Id, Params(params): Params<GetParams>) -> Reply {
    let lines = in_range("lines", params.lines, 0..=MOST_LINES)?;
    let read = api.read(move |api| {
        let task = api.desk.task(&id)?;
        if lines == 0 {
            return json(&task);
        }
        let lines = api.desk.last_lines(task.id.as_str(), lines);
        let mut whole = serde_json::to_value(&task).unwrap_or_default();
        whole["output"] = lines.into();
        json(&whole)
    });
    read.await.map(sent)
}

/// What is known about a task besides its record.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the reply, which consists of records of the engine")]
struct History {
    /// The runs, oldest first.
    runs: Vec<Run>,
    /// The events, oldest first, without reports of progress.
    #[schema(value_type = Vec<Object>)]
    events: Vec<Value>,
    /// The names of the variables in its environment.
    variables: Vec<String>,
    /// Whether it accepts input.
    takes_input: bool,
    /// The messages to its agent and what it did.
    #[schema(value_type = Vec<Object>)]
    turns: Vec<Value>,
}

/// A run of a task.
#[derive(Serialize, ToSchema)]
pub(super) struct Run {
    /// Its number, from 1.
    pub(super) run: u32,
    /// When it began.
    pub(super) started_at: String,
    /// When it ended.
    pub(super) ended_at: Option<String>,
    /// How it ended, or its current state.
    pub(super) status: &'static str,
}

impl Run {
    pub(super) fn of(run: &meanwhile::engine::TaskRun) -> Self {
        Self {
            run: run.number,
            started_at: run.started_at.to_string(),
            ended_at: run.ended_at.map(|at| at.to_string()),
            status: run.status.word(),
        }
    }
}

/// Returns the runs and events of a task, the names of its variables, and what its agent did.
#[utoipa::path(get, path = "/tasks/{id}/history", tag = "tasks", params(("id" = String, Path, description = "The task")), responses(
    (status = 200, description = "Its history", body = History),
    (status = "4XX", description = "No such task", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn history(State(api): State<Arc<Api>>, Id(id): Id) -> Reply {
    let read = api.read(move |api| {
        let history = api.desk.history(&id)?;
        let runs: Vec<_> = history.runs.iter().map(Run::of).collect();
        json(&value!({
            "runs": runs, "events": history.events, "variables": history.variables,
            "takes_input": history.takes_input, "turns": history.turns,
        }))
    });
    read.await.map(sent)
}

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
