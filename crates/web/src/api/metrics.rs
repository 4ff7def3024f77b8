//! Figures of the home and of this server, for the page and for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use meanwhile::model::Status;
use mw_desk::query::TaskListQuery;
use serde::Serialize;
use utoipa::ToSchema;

use super::reply::{Reply, json, sent};
use super::state::Api;
use crate::problem::Problem;

/// Figures of the home.
#[derive(Serialize, ToSchema)]
struct Summary {
    /// The number of tasks in each state.
    states: BTreeMap<&'static str, u64>,
    /// The number of tasks.
    total: u64,
    /// The number of open approval requests.
    approvals: usize,
    /// The version of meanwhile.
    version: &'static str,
    /// Changes with every start of the server.
    instance: String,
}

impl Api {
    fn states(&self) -> Result<BTreeMap<&'static str, u64>, Problem> {
        let count = |status: Status| {
            let query = TaskListQuery { statuses: vec![status], limit: 0, ..TaskListQuery::default() };
            Ok((status.word(), self.desk.tasks(&query)?.total))
        };
        Status::ALL.into_iter().map(count).collect()
    }
}

/// Returns the number of tasks in each state, and of open approval requests.
#[utoipa::path(get, path = "/summary", tag = "server", responses((status = 200, description = "The figures", body = Summary)))]
pub(super) async fn summary(State(api): State<Arc<Api>>) -> Reply {
    let read = Arc::clone(&api).read(|api| {
        let states = api.states()?;
        json(&Summary {
            total: states.values().sum(),
            states,
            approvals: api.desk.approvals()?.len(),
            version: env!("CARGO_PKG_VERSION"),
            instance: api.instance.clone(),
        })
    });
    api.summaries.read((), read).await.map(sent)
}

/// Returns the figures in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "server", responses((status = 200, description = "The figures", content_type = "text/plain", body = String)))]
pub(super) async fn metrics(State(api): State<Arc<Api>>) -> Result<Response, Problem> {
    let server = Arc::clone(&api);
    let (states, approvals) = api.read(|api| Ok((api.states()?, api.desk.approvals()?.len()))).await?;
    let mut text = String::from("# HELP meanwhile_tasks Tasks by state.\n# TYPE meanwhile_tasks gauge\n");
    for (state, count) in states {
        let _ = writeln!(text, "meanwhile_tasks{{state=\"{state}\"}} {count}");
    }
    let mut add = |name: &str, kind: &str, help: &str, number: f64| {
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {number}\n");
    };
    add("meanwhile_approvals_open", "gauge", "Open approval requests.", approvals as f64);
    add(
        "meanwhile_requests_total",
        "counter",
        "API requests of this server.",
        server.requests.load(Ordering::Relaxed) as f64,
    );
    add("meanwhile_event_viewers", "gauge", "Clients that follow events.", server.events.viewers() as f64);
    add("meanwhile_log_viewers", "gauge", "Clients that follow a log.", server.logs.viewers() as f64);
    add(
        "meanwhile_uptime_seconds",
        "gauge",
        "Seconds since the start of this server.",
        server.began.elapsed().as_secs_f64(),
    );
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
