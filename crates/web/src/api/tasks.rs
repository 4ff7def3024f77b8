//! Queries of tasks: the list, one task, its history.

use std::sync::Arc;

use axum::extract::State;
use meanwhile::engine::model::TaskKind;
use meanwhile::engine::model::wire::{SentSignal, Survivor};
use meanwhile::model::Status;
use mw_desk::query::{Query, Sort, States, TaskListQuery};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json as value};
use utoipa::{IntoParams, ToSchema};

use super::extract::{Id, Params, in_range};
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
    let key = query.clone();
    let read = Arc::clone(&api).read(move |api| {
        let page = api.desk.tasks(&query)?;
        json(&PageReply { tasks: &page.tasks, total: page.total, live: page.live })
    });
    api.lists.read(key, read).await.map(sent)
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

/// The last steps of an agent.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a type of the desk")]
struct Transcript {
    /// The steps, oldest first: what it said (`text`), thought (`thought`), called (`tool`) and planned (`plan`).
    #[schema(value_type = Vec<Object>)]
    steps: Vec<Value>,
    /// Whether there were earlier ones.
    truncated: bool,
}

/// Returns what an agent said and did, step by step. Secrets are redacted, and long texts shortened.
#[utoipa::path(get, path = "/tasks/{id}/transcript", tag = "tasks", params(("id" = String, Path, description = "The task")), responses(
    (status = 200, description = "The last steps; none if it is not the task of an agent", body = Transcript),
    (status = "4XX", description = "No such task", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn transcript(State(api): State<Arc<Api>>, Id(id): Id) -> Reply {
    api.read(move |api| json(&api.desk.transcript(&id)?)).await.map(sent)
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
    /// The signals that it got from meanwhile until it ended, with their times.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<Object>, required = false)]
    signals: Vec<SentSignal>,
    /// The processes that it left behind, with their commands.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<Object>, required = false)]
    left_behind: Vec<Survivor>,
}

impl Run {
    pub(super) fn of(run: &meanwhile::engine::TaskRun) -> Self {
        Self {
            run: run.number,
            started_at: run.started_at.to_string(),
            ended_at: run.ended_at.map(|at| at.to_string()),
            status: run.status.word(),
            signals: run.signals.clone(),
            left_behind: run.left_behind.clone(),
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
