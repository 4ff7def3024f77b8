//! Sessions, batches, agents, places and traces.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use meanwhile::engine::BackendReport;
use serde::{Deserialize, Serialize};
use serde_json::json as value;
use utoipa::{IntoParams, ToSchema};

use super::extract::{Id, Params, in_range};
use super::reply::{Reply, json, sent};
use super::state::Api;
use crate::problem::Problem;

/// The maximum number of traces of one page.
const MOST_TRACES: u32 = 200;

/// An agent that can be started with `mw agent`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AgentInfo {
    /// Its name.
    pub name: String,
    /// The command that runs it.
    pub command: String,
}

/// Sessions.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the reply, which consists of records of the engine")]
struct Sessions {
    /// The sessions that have tasks.
    sessions: Vec<Session>,
}

/// A session.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a type of the engine")]
struct Session {
    /// Its name.
    id: String,
    /// Tasks that run or are queued.
    live: u64,
    /// All its tasks.
    tasks: u64,
    /// Unacknowledged notifications.
    notices: u64,
    /// The number of live hosts.
    hosts: u64,
}

/// Lists sessions.
#[utoipa::path(get, path = "/sessions", tag = "groups", responses((status = 200, description = "The sessions", body = Sessions)))]
pub(super) async fn sessions(State(api): State<Arc<Api>>) -> Reply {
    api.read(|api| json(&value!({ "sessions": api.desk.sessions()? }))).await.map(sent)
}

/// Batches.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the reply, which consists of records of the desk")]
struct Batches {
    /// The batches among the newest 2000 tasks, newest first: `id`, `session`, `tasks`, `live`, `states`, `created_at`,
    /// `ended_at`.
    #[schema(value_type = Vec<Object>)]
    batches: Vec<serde_json::Value>,
}

/// Lists batches.
#[utoipa::path(get, path = "/batches", tag = "groups", responses((status = 200, description = "The batches", body = Batches)))]
pub(super) async fn batches(State(api): State<Arc<Api>>) -> Reply {
    api.read(|api| json(&value!({ "batches": api.desk.batches()? }))).await.map(sent)
}

/// Agents.
#[derive(Serialize, ToSchema)]
struct Agents {
    /// The agents.
    agents: Vec<AgentInfo>,
}

/// Lists the agents that can be started. Their tasks are those of kind `agent`.
#[utoipa::path(get, path = "/agents", tag = "groups", responses((status = 200, description = "The agents", body = Agents)))]
pub(super) async fn agents(State(api): State<Arc<Api>>) -> Reply {
    json(&Agents { agents: api.agents.clone() }).map(sent)
}

/// A place where tasks run.
#[derive(Serialize, ToSchema)]
struct Backend {
    /// Its name.
    name: String,
    /// What tasks support there, by name.
    capabilities: BTreeMap<&'static str, bool>,
    /// Why tasks cannot run there now.
    problem: Option<String>,
}

/// Places.
#[derive(Serialize, ToSchema)]
struct Backends {
    /// The places.
    backends: Vec<Backend>,
}

/// Lists the places where tasks run.
#[utoipa::path(get, path = "/backends", tag = "groups", responses((status = 200, description = "The places", body = Backends)))]
pub(super) async fn backends(State(api): State<Arc<Api>>) -> Reply {
    let read = api.read(|api| {
        let place = |report: BackendReport| Backend {
            name: report.place.to_string(),
            capabilities: report.capabilities.named().into_iter().collect(),
            problem: report.problem.map(|problem| problem.to_string()),
        };
        json(&Backends { backends: api.desk.backends()?.into_iter().map(place).collect() })
    });
    read.await.map(sent)
}

/// How many traces to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TraceParams {
    /// The maximum number of traces, at most 200.
    #[serde(default = "usual_limit")]
    #[param(default = 20, maximum = 200)]
    limit: u32,
}

const fn usual_limit() -> u32 {
    20
}

/// Traces.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the reply, which consists of records of the engine")]
struct TraceList {
    /// The traces.
    traces: Vec<Trace>,
}

/// The known spans of a trace.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a type of the engine")]
struct Trace {
    /// Its id.
    trace_id: String,
    /// The requested span.
    asked: Option<String>,
    /// The spans, by start time.
    #[schema(value_type = Vec<Object>)]
    spans: Vec<serde_json::Value>,
}

/// Lists the newest traces, those of live tasks first.
#[utoipa::path(get, path = "/traces", tag = "groups", params(TraceParams), responses(
    (status = 200, description = "The traces", body = TraceList),
    (status = "4XX", description = "Invalid parameters", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn traces(State(api): State<Arc<Api>>, Params(params): Params<TraceParams>) -> Reply {
    let limit = in_range("limit", params.limit, 0..=MOST_TRACES)?;
    api.read(move |api| json(&value!({ "traces": api.desk.traces(limit)? }))).await.map(sent)
}

/// Returns the trace of a span, a trace id or a task.
#[utoipa::path(get, path = "/traces/{id}", tag = "groups", params(("id" = String, Path, description = "A span, a trace or a task")), responses(
    (status = 200, description = "The trace", body = Trace),
    (status = "4XX", description = "No such trace", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn trace(State(api): State<Arc<Api>>, Id(id): Id) -> Reply {
    api.read(move |api| json(&api.desk.trace(&id)?)).await.map(sent)
}
