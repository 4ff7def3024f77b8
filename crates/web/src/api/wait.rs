//! Waits for tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::extract::State;
use meanwhile::engine::{Condition, WaitRequest};
use serde::Deserialize;
use serde_json::json as value;
use utoipa::ToSchema;

use super::extract::{Json, in_range};
use super::reply::{Reply, Task, json, sent};
use super::state::Api;
use crate::problem::Problem;

/// The longest time of a wait.
const LONGEST_MS: u64 = 600_000;
/// How often a wait checks whether its client is still there.
const CHECK: Duration = Duration::from_secs(1);

/// Tasks and a condition to wait for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitBody {
    /// The tasks.
    #[schema(min_items = 1)]
    ids: Vec<String>,
    /// Whether one of them is enough.
    #[serde(default)]
    any: bool,
    /// The condition: `exit`, `ready`, `match=REGEX`, `port=N` or `silence=MS`.
    #[serde(default = "exit")]
    until: String,
    /// The longest wait in milliseconds, at most 600000.
    #[serde(default = "minute")]
    #[schema(default = 60000, maximum = 600000)]
    timeout_ms: u64,
}

fn exit() -> String {
    "exit".to_owned()
}

const fn minute() -> u64 {
    60_000
}

fn condition(text: &str) -> Result<Condition, Problem> {
    let unknown = || {
        Problem::invalid(format!("{text:?} is not a condition"))
            .with_hint("write exit, ready, match=REGEX, port=N or silence=MS")
    };
    match text.split_once('=') {
        None if text == "exit" => Ok(Condition::Exit),
        None if text == "ready" => Ok(Condition::Ready),
        Some(("match", pattern)) => Ok(Condition::matching(pattern)?),
        Some(("port", port)) => port.parse().map(Condition::Port).map_err(|_| unknown()),
        Some(("silence", ms)) => ms.parse().map(Condition::Silence).map_err(|_| unknown()),
        Some(_) | None => Err(unknown()),
    }
}

/// How a wait ended.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the reply, which is written without copying the tasks")]
struct WaitReply {
    /// The tasks as they are now.
    tasks: Vec<Task>,
    /// The tasks for which the condition came true, in order.
    met: Vec<String>,
    /// Whether the time was up first.
    timed_out: bool,
}

/// Tells the thread that waits when its client is gone.
struct ClientAlive(Arc<AtomicBool>);

impl Drop for ClientAlive {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Waits until all tasks (or any) have ended or meet another condition.
#[utoipa::path(post, path = "/wait", tag = "tasks", request_body = WaitBody, responses(
    (status = 200, description = "How the wait ended", body = WaitReply),
    (status = "4XX", description = "No such task or condition", body = Problem, content_type = "application/problem+json"),
    (status = 503, description = "Too many waits", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn wait(State(api): State<Arc<Api>>, Json(body): Json<WaitBody>) -> Reply {
    if body.ids.is_empty() {
        return Err(Problem::invalid("ids names no task"));
    }
    let request = WaitRequest {
        tasks: Vec::new(),
        any: body.any,
        condition: condition(&body.until)?,
        timeout: Some(Duration::from_millis(in_range("timeout_ms", body.timeout_ms, 0..=LONGEST_MS)?)),
        poll_interval: Some(CHECK),
    };
    let is_there = Arc::new(AtomicBool::new(true));
    let client = ClientAlive(Arc::clone(&is_there));
    let waited = api.wait(move |api| {
        let reply = api.desk.wait(&body.ids, request, || is_there.load(Ordering::Relaxed))?;
        json(&value!({"tasks": reply.tasks, "met": reply.met, "timed_out": reply.timed_out}))
    });
    let reply = waited.await.map(sent);
    drop(client);
    reply
}
