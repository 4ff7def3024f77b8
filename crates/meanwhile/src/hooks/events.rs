//! The hooks that events of tasks call for.

use mw_model::{Event, NoticeKind, TaskId, signal_name};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Hooks;
use crate::disk::file_lock::{is_taken, open_private};
use crate::disk::log_names;
use crate::disk::names::HOOKS_LOCK_FILE;
use crate::disk::session_dir::agent_sessions::kept_agent;
use crate::disk::store::{TaskEvent, Transaction};
use crate::error::{Error, Result};
use crate::redact::Redaction;
use crate::settings::HookSettings;
use crate::task::{Scope, Task};

/// Hooks report recent events; older events are skipped.
const NEWS_MS: u64 = 10 * 60 * 1000;
/// The position up to which events have been handled.
const MARK: &str = "hooks";
/// How many events are read at once.
const BATCH: u32 = 100;

/// The kinds of hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Hook {
    Start,
    Exit,
    Stall,
    Ready,
    Reassign,
}

impl Hook {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Start => "background:start",
            Self::Exit => "background:exit",
            Self::Stall => "stall",
            Self::Ready => "ready",
            Self::Reassign => "background:reassign",
        }
    }

    /// Returns the user's command for this kind of hook.
    pub(super) const fn command(self, hooks: &HookSettings) -> Option<&String> {
        match self {
            Self::Start => hooks.start.as_ref(),
            Self::Exit => hooks.exit.as_ref(),
            Self::Stall => hooks.stall.as_ref(),
            Self::Ready => hooks.ready.as_ref(),
            Self::Reassign => hooks.reassign.as_ref(),
        }
    }

    /// Returns whether this kind is shown as a desktop notification.
    pub(super) const fn is_shown(self) -> bool {
        match self {
            Self::Exit | Self::Stall | Self::Ready => true,
            Self::Start | Self::Reassign => false,
        }
    }
}

/// A hook to run, and its input.
#[derive(Serialize, Deserialize)]
pub(super) struct UserHookCall {
    pub(super) hook: Hook,
    pub(super) payload: Value,
    pub(super) summary: String,
}

impl Hooks<'_> {
    /// Runs the hooks for all events since the last call. Does nothing if another process is already running them.
    ///
    /// # Errors
    /// When the database fails. Failures of hooks are in `hooks.log`.
    pub fn fire_hooks(&self) -> Result<()> {
        if !self.base.settings.hooks.any() {
            return Ok(());
        }
        let failed = || Error::io("cannot lock hooks");
        loop {
            let lock = open_private(&self.base.home.root().join(HOOKS_LOCK_FILE)).map_err(failed())?;
            if !is_taken(lock.try_lock()).map_err(failed())? {
                return Ok(());
            }
            while let Some(calls) = self.take_calls()? {
                calls.iter().for_each(|call| self.run_hooks(call));
            }
            drop(lock);
            // Another process may have left events to us just before the lock was released.
            let store = self.base.database.store()?;
            if !store.any_hook_calls()? && store.last_event()? <= store.mark(MARK)? {
                return Ok(());
            }
        }
    }

    /// Reads the next events, advances the position, and returns the hooks to run; `None` if there are no more events.
    fn take_calls(&self) -> Result<Option<Vec<UserHookCall>>> {
        self.base.database.transact(|transaction| {
            let events = transaction.all_events_after(transaction.mark(MARK)?, BATCH)?;
            let kept = transaction.take_hook_calls()?;
            let Some(last) = events.last().map(|event| event.seq).or(kept.last().map(|(seq, _)| *seq)) else {
                return Ok(None);
            };
            let mut calls = Vec::new();
            for (seq, text) in kept {
                // Skip events that another version wrote.
                calls.extend(serde_json::from_str(&text).ok().map(|call: UserHookCall| (seq, call)));
            }
            for event in &events {
                if let Some(task) = transaction.task(&event.task)? {
                    calls.extend(self.call_for(event, task).map(|call| (event.seq, call)));
                }
            }
            transaction.set_mark(MARK, last)?;
            calls.sort_by_key(|(seq, _)| *seq);
            Ok(Some(calls.into_iter().map(|(_, call)| call).collect()))
        })
    }

    /// Keeps the pending hook events of a task that is about to be removed.
    pub(crate) fn keep_hook_calls(&self, transaction: &Transaction<'_>, id: &TaskId) -> Result<()> {
        if !self.base.settings.hooks.any() {
            return Ok(());
        }
        let Some(task) = transaction.task(id)? else { return Ok(()) };
        for event in transaction.events_after(transaction.mark(MARK)?, &Scope::All, Some(id), BATCH)? {
            if let Some(call) = self.call_for(&event, task.clone()) {
                transaction.keep_hook_call(event.seq, &json!(call).to_string())?;
            }
        }
        Ok(())
    }

    /// Returns the hook call for an event, without secrets; `None` for old events, for tasks that keep an agent alive,
    /// and for events without a hook.
    fn call_for(&self, event: &TaskEvent, task: Task) -> Option<UserHookCall> {
        let oldest = self.base.clock.now().as_micros() - (NEWS_MS * 1000) as i64;
        let is_delivered =
            kept_agent(&task.session).is_none() && is_in_background(&event.event, event.run, &task);
        if event.at.as_micros() < oldest || !is_delivered {
            return None;
        }
        // Events from before the hooks were configured are not reported.
        if self.base.home.task(&task.id).spec().is_ok_and(|spec| spec.hooks == Some(false)) {
            return None;
        }
        let event = Redaction::on(self.base).events_without_secrets(vec![event.clone()]).pop()?;
        let log = log_names::log_of(&self.base.home, &task).to_string_lossy().into_owned();
        call_for(&event, &Redaction::on(self.base).without_secrets(task), &log)
    }
}

/// Returns whether an event belongs to a background task.
const fn is_in_background(event: &Event, run: u32, task: &Task) -> bool {
    // Only the first run can be in the foreground.
    if !task.foreground || run > 1 {
        return true;
    }
    match event {
        // The task moved to the background, which counts as its start.
        Event::Started { .. } => false,
        _ => task.handle_number.is_some(),
    }
}

/// Returns the hook and its text for an event; `None` for events without a hook.
fn call_for(event: &TaskEvent, task: &Task, log: &str) -> Option<UserHookCall> {
    let handle = task.handle();
    let started = |pid: Option<u32>| {
        (Hook::Start, json!({ "pid": pid }), format!("{handle} started: {}", task.command))
    };
    let (hook, facts, summary) = match &event.event {
        Event::Started { process, .. } => started(Some(process.pid)),
        Event::MovedToBackground { .. } => started(task.pid),
        Event::Ended { cause, .. } => {
            let facts = json!({
                "status": task.dialect.word(cause.status(), Some(cause)),
                "cause": cause,
                "exitCode": task.dialect.exit_code(cause),
                "signal": cause.signal().map(signal_name),
                "durationMs": task.duration_ms,
            });
            let words = NoticeKind::Ended { cause: cause.clone() }.in_words();
            (Hook::Exit, facts, format!("{handle} {words}: {}", task.command))
        }
        Event::Stalled { prompt } => {
            (Hook::Stall, json!({ "prompt": prompt }), format!("{handle} is waiting for input: {prompt}"))
        }
        Event::Ready { what, .. } => {
            (Hook::Ready, json!({ "what": what }), format!("{handle} is ready: {what}"))
        }
        Event::Reassigned { from, to, reason } => {
            let facts = json!({ "from": from, "to": to, "reason": reason });
            (Hook::Reassign, facts, format!("{handle} moved to {to}: {reason}"))
        }
        Event::Reserved { .. }
        | Event::Released
        | Event::KillRequested { .. }
        | Event::Requeued { .. }
        | Event::Progress { .. }
        | Event::TreeEmpty => return None,
    };
    let mut payload = json!({
        "hook": hook.word(),
        "taskId": handle,
        "handle": handle,
        "id": task.id,
        "name": task.name,
        "session": task.session,
        "command": task.command,
        "run": event.run,
        "at": event.at,
        "outputPath": log,
    });
    if let (Value::Object(payload), Value::Object(facts)) = (&mut payload, facts) {
        payload.extend(facts);
    }
    Some(UserHookCall { hook, payload, summary })
}
