//! Runs calls of the engine's tools.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use meanwhile::engine::OwnSpan;
use serde_json::{Map, Value, json};

use super::caller::TurnCaller;
use super::calls::CallResult;
use super::conversation::ModelToolCall;
use super::turn::ModelTurn;
use crate::delivery::receipts::{Receipt, note_known};
use mw_desk::text::error_text;
use mw_tools::call::{CallContext, CallTrace, Reply, put_below};

/// How long a turn waits at its end for a cancelled command to exit.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs a call of one of the engine's tools on a separate thread. `span` is that of the call. Returns `None` if there is
/// no such tool.
pub(super) async fn call(
    turn: &ModelTurn<'_>,
    wanted: &ModelToolCall,
    arguments: &Map<String, Value>,
    caller: TurnCaller,
    span: Option<&OwnSpan>,
) -> Option<CallResult> {
    let (agent, session) = (turn.agent, turn.session);
    let call = agent.calls.begin().await;
    let holder = agent.deliveries.lease(&session.call_settings.session.as_str().into()).await;
    let cancelled = caller.cancelled.clone();
    let (toolset, home) = (Arc::clone(&agent.toolset), session.home.clone());
    let (name, arguments, mut call_settings) =
        (wanted.tool.clone(), arguments.clone(), session.call_settings_now());
    let message = wanted.id.clone();
    if let Some(span) = span {
        put_below(&mut call_settings.env, span.as_parent());
    }
    let turn = turn.span.as_ref().map(OwnSpan::as_parent);
    let done = tokio::task::spawn_blocking(move || {
        let trace = turn.map(|turn| CallTrace { turn, started: Cell::new(None) });
        let called = home.with(|runtime| {
            let holder = holder.as_ref();
            let cx = CallContext {
                holder,
                parent_message: Some(&message),
                trace: trace.as_ref(),
                ..CallContext::new(runtime, &call_settings, &caller)
            };
            let mut reply = toolset.call(&name, &arguments, &cx);
            if let Some(reply) = reply.as_mut().filter(|_| caller.gave_up()) {
                // The reply reports that the task was cancelled, so its end needs no notification.
                let reported = std::mem::take(&mut reply.reported);
                reported.iter().for_each(|task| _ = note_known(runtime, task, holder));
            }
            Ok(reply)
        });
        let mut reply = called.unwrap_or_else(|error| Some(Reply::failure(error_text(&error), json!({}))))?;
        // If the caller no longer waits, this is dropped, and a notification reports the end.
        let mut receipt = Receipt::new(home, call);
        receipt.reported_ends = std::mem::take(&mut reply.reported);
        receipt.spent = std::mem::take(&mut reply.removable);
        receipt.holder = holder;
        Some(CallResult {
            failed: reply.failed,
            ended: reply.ended,
            receipt: Some(receipt),
            started_span: trace.and_then(|trace| trace.started.get()),
            started: reply.started,
            ..CallResult::done(reply.text)
        })
    });
    tokio::pin!(done);
    tokio::select! {
        done = &mut done => done.unwrap_or_else(|_| Some(CallResult::refused("the call failed unexpectedly; it may have taken effect"))),
        () = cancelled.cancelled() => {
            // The reply says that the command was killed, so its end is awaited up to a limit.
            let _ = tokio::time::timeout(KILL_TIMEOUT, &mut done).await;
            Some(CallResult::refused("cancelled by the user"))
        }
    }
}
