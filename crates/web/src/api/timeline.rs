//! The runs of the last hours, by task.

use std::sync::Arc;

use axum::extract::State;
use meanwhile::engine::{Clock, SystemClock};
use meanwhile::model::Timestamp;
use mw_desk::query::{Query, Sort, TaskListQuery};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::extract::Params;
use super::reply::{Reply, json, sent};
use super::state::Api;
use super::tasks::Run;
use crate::problem::Problem;

/// The maximum number of tasks.
const MOST: u32 = 400;
/// The longest time.
const LONGEST_HOURS: f64 = 24.0 * 7.0;

/// Which time to return.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TimelineParams {
    /// The number of hours before now, at most 168.
    #[serde(default = "usual_hours")]
    #[param(default = 4.0, minimum = 0, maximum = 168)]
    hours: f64,
    /// Only tasks of this session.
    session: Option<String>,
}

const fn usual_hours() -> f64 {
    4.0
}

/// The runs of a task.
#[derive(Serialize, ToSchema)]
struct Lane {
    /// The task.
    id: String,
    /// Its name, description or command.
    what: String,
    /// Its session.
    session: String,
    /// Its state.
    status: &'static str,
    /// Its runs, oldest first.
    runs: Vec<Run>,
}

/// The runs of the last hours.
#[derive(Serialize, ToSchema)]
struct Timeline {
    /// The beginning of the time.
    from: String,
    /// Now.
    to: String,
    /// The tasks that ran in that time, at most 400.
    lanes: Vec<Lane>,
    /// Whether there are more.
    truncated: bool,
}

/// Returns the runs of the last hours.
#[utoipa::path(get, path = "/timeline", tag = "groups", params(TimelineParams), responses(
    (status = 200, description = "The runs", body = Timeline),
    (status = "4XX", description = "Invalid parameters", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn timeline(State(api): State<Arc<Api>>, Params(params): Params<TimelineParams>) -> Reply {
    if !(0.0..=LONGEST_HOURS).contains(&params.hours) {
        return Err(Problem::invalid(format!("hours is not between 0 and {LONGEST_HOURS}")));
    }
    let read = api.read(move |api| {
        let now = SystemClock.now();
        let from = Timestamp::from_micros(now.as_micros() - (params.hours * 3.6e9) as i64);
        let query = Query { session: params.session, sort: Sort::Newest, ..Query::default() };
        let newest = TaskListQuery { query, limit: MOST, ..TaskListQuery::default() };
        let page = api.desk.tasks(&newest)?;
        let ran = |task: &&meanwhile::Task| {
            task.started_at.is_some() && task.ended_at.is_none_or(|ended| ended >= from)
        };
        let tasks: Vec<_> = page.tasks.iter().filter(ran).collect();
        let ids: Vec<_> = tasks.iter().map(|task| task.id.to_string()).collect();
        let session =
            |id: &str| tasks.iter().find(|task| task.id.as_str() == id).map(|task| task.session.clone());
        let lane = |lane: mw_desk::query::Lane| Lane {
            session: session(&lane.id).unwrap_or_default(),
            runs: lane.runs.iter().map(Run::of).collect(),
            id: lane.id,
            what: lane.what,
            status: lane.status.word(),
        };
        let lanes = api.desk.lanes(&ids)?.into_iter().map(lane).collect();
        let truncated = page.tasks.len() == MOST as usize && page.total > u64::from(MOST);
        json(&Timeline { from: from.to_string(), to: now.to_string(), lanes, truncated })
    });
    read.await.map(sent)
}
