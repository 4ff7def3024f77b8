//! Approval requests and their answers.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use mw_desk::action::ApprovalReply;
use serde::{Deserialize, Serialize};
use serde_json::json as value;
use utoipa::{IntoParams, ToSchema};

use super::extract::{Id, Json, Params, in_range};
use super::reply::{Reply, json, sent};
use super::state::{Api, NewRule};
use super::task_changes::Done;
use crate::problem::Problem;

/// The maximum number of earlier requests of one page.
const MOST: u32 = 500;

/// Which requests to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListParams {
    /// List earlier requests, newest first, instead of the open ones.
    #[serde(default)]
    history: bool,
    /// The maximum number of earlier requests, at most 500.
    #[serde(default = "usual_limit")]
    #[param(default = 50, maximum = 500)]
    limit: u32,
}

const fn usual_limit() -> u32 {
    50
}

/// Approval requests.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the reply, which consists of records of the desk")]
struct Approvals {
    /// The requests, as `mw approvals --json` prints them.
    approvals: Vec<Approval>,
}

/// An approval request.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a type of the desk")]
struct Approval {
    /// The id.
    id: String,
    /// `open`, `approved`, `denied`, `used` or `expired`.
    status: String,
    /// The session that asks.
    session: String,
    /// The tool or command that asks.
    tool: String,
    /// The exact command.
    command: String,
    /// Its steps, if it has several.
    steps: Vec<String>,
    /// The directory.
    cwd: Option<String>,
    /// Why approval is required.
    reasons: Vec<String>,
    /// The variables that the call sets.
    env: Vec<String>,
    /// What the command may do if it is approved, in words.
    grant: Option<String>,
    /// What the command would do, in words.
    effects: Vec<String>,
    /// The expected duration or size.
    expected: Option<String>,
    /// How long the same command took the last time.
    took_ms: Option<u64>,
    /// The rules that decided.
    rules: Vec<String>,
    /// The fingerprint of what an approval covers.
    digest: String,
    /// When it was requested.
    asked_at: String,
    /// Who answered.
    answered_by: Option<String>,
    /// When.
    answered_at: Option<String>,
    /// The reason of a denial.
    reason: Option<String>,
    /// The task that was started.
    task_id: Option<String>,
    /// Whether it was approved for its session.
    for_session: bool,
    /// Answers by processes that may not answer.
    refused_answers: Vec<String>,
}

/// Lists the open approval requests, or earlier ones.
#[utoipa::path(get, path = "/approvals", tag = "approvals", params(ListParams), responses(
    (status = 200, description = "The requests", body = Approvals),
    (status = "4XX", description = "Invalid parameters", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn list(State(api): State<Arc<Api>>, Params(params): Params<ListParams>) -> Reply {
    let limit = in_range("limit", params.limit, 0..=MOST)?;
    let read = api.read(move |api| {
        let approvals = match params.history {
            true => api.desk.earlier_approvals(limit)?,
            false => api.desk.approvals()?,
        };
        json(&value!({ "approvals": approvals }))
    });
    read.await.map(sent)
}

/// Returns an approval request.
#[utoipa::path(get, path = "/approvals/{id}", tag = "approvals", params(("id" = String, Path, description = "The request")), responses(
    (status = 200, description = "The request", body = Approval),
    (status = "4XX", description = "No such request", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn get(State(api): State<Arc<Api>>, Id(id): Id) -> Reply {
    api.read(move |api| json(&api.desk.approval(&id)?)).await.map(sent)
}

/// How far an approval reaches.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Remember {
    /// This request only.
    #[default]
    Once,
    /// Every further start of exactly this command in its session.
    Session,
    /// Exactly this command from now on: a rule is added to the user's settings.
    Always,
}

/// An approval.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApproveBody {
    /// How far the approval reaches.
    #[serde(default)]
    remember: Remember,
}

/// Approves a request.
#[utoipa::path(post, path = "/approvals/{id}/approve", tag = "approvals", params(("id" = String, Path, description = "The request")), request_body = ApproveBody, responses(
    (status = 200, description = "What was done", body = Done),
    (status = "4XX", description = "Not approved", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn approve(State(api): State<Arc<Api>>, Id(id): Id, Json(body): Json<ApproveBody>) -> Reply {
    let answered = api.change(move |api| {
        let lines = match body.remember {
            Remember::Once => vec![api.desk.answer(&id, ApprovalReply::Once)?],
            Remember::Session => vec![api.desk.answer(&id, ApprovalReply::Session)?],
            Remember::Always => {
                let rule = api.rule(&id)?;
                api.desk.answer_always(&id, || (rule.add)().map_err(no_rule))?
            }
        };
        json(&Done { lines })
    });
    answered.await.map(sent)
}

/// The rule that a permanent approval adds.
#[derive(Serialize, ToSchema)]
struct RuleReply {
    /// The file to which it is added.
    path: String,
    /// The rule, as it is written there.
    text: String,
}

fn no_rule(why: String) -> Problem {
    Problem::new(StatusCode::CONFLICT, "no_rule", why)
}

impl Api {
    fn rule(&self, id: &str) -> Result<NewRule, Problem> {
        (self.rule_for)(&self.desk.proposal(id)?.proposal).map_err(no_rule)
    }
}

/// Returns the rule that the approval of a request with `always` would add to the user's settings.
#[utoipa::path(get, path = "/approvals/{id}/rule", tag = "approvals", params(("id" = String, Path, description = "The request")), responses(
    (status = 200, description = "The rule", body = RuleReply),
    (status = "4XX", description = "No such request, or no rule can approve its command", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn rule(State(api): State<Arc<Api>>, Id(id): Id) -> Reply {
    let read = api.read(move |api| {
        let NewRule { path, text, .. } = api.rule(&id)?;
        json(&RuleReply { path, text })
    });
    read.await.map(sent)
}

/// A denial.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DenyBody {
    /// A reason for the agent to read.
    #[serde(default)]
    reason: String,
}

/// Denies a request.
#[utoipa::path(post, path = "/approvals/{id}/deny", tag = "approvals", params(("id" = String, Path, description = "The request")), request_body = DenyBody, responses(
    (status = 200, description = "What was done", body = Done),
    (status = "4XX", description = "Not denied", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn deny(State(api): State<Arc<Api>>, Id(id): Id, Json(body): Json<DenyBody>) -> Reply {
    api.change(move |api| json(&Done { lines: vec![api.desk.deny(&id, &body.reason)?] })).await.map(sent)
}
