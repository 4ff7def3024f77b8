//! Runs calls of the engine's tools.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use meanwhile::engine::{OwnSpan, Runtime};
use serde_json::{Map, Value, json};

use super::caller::TurnCaller;
use super::calls::CallResult;
use super::conversation::Call;
use super::turn::Turn;
use crate::delivery::receipts::{Receipt, note_known};
use mw_tools::call::{CallContext, CallTrace, Reply, put_below};

/// How long a turn waits at its end for a cancelled command to exit.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs a call of one of the engine's tools on a separate thread. `span` is that of the call. Returns `None` if there is
/// no such tool.
pub(super) async fn call(
    turn: &Turn<'_>,
    wanted: &Call,
    arguments: &Map<String, Value>,
    caller: TurnCaller,
    span: Option<&OwnSpan>,
) -> Option<CallResult> {
    let (agent, session) = (turn.agent, turn.session);
    let call = agent.calls.begin().await;
    let holder = agent.deliveries.lease(&session.call_settings.session.as_str().into()).await;
    let cancelled = caller.cancelled.clone();
    let (toolset, settings) = (Arc::clone(&agent.toolset), Arc::clone(&session.settings));
    let (name, arguments, mut call_settings) =
        (wanted.tool.clone(), arguments.clone(), session.call_settings_now());
    let message = wanted.id.clone();
    if let Some(span) = span {
        put_below(&mut call_settings.env, span.as_parent());
    }
    let turn = turn.span.as_ref().map(OwnSpan::as_parent);
    let done = tokio::task::spawn_blocking(move || {
        let trace = turn.map(|turn| CallTrace { turn, started: Cell::new(None) });
        let mut reply = match Runtime::open(settings.as_ref().clone()) {
            Ok(runtime) => {
                let holder = holder.as_ref();
                let parent_message = Some(message.as_str());
                let trace = trace.as_ref();
                let cx = CallContext {
                    holder,
                    parent_message,
                    trace,
                    ..CallContext::new(&runtime, &call_settings, &caller)
                };
                let mut reply = toolset.call(&name, &arguments, &cx)?;
                if caller.gave_up() {
                    // The reply reports that the task was cancelled, so its end needs no notification.
                    let told = std::mem::take(&mut reply.reported);
                    told.iter().for_each(|task| _ = note_known(&runtime, task, holder));
                }
                reply
            }
            Err(error) => Reply::failure(format!("{error}. {}", error.hint()), json!({})),
        };
        // If the caller no longer waits, this is dropped, and a notification reports the end.
        let mut receipt = Receipt::new(settings, call);
        receipt.told = std::mem::take(&mut reply.reported);
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
