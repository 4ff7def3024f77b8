//! Commands of the user that run on events of tasks.
//!
//! Hooks run in a separate process (`mw settle`), one after the other, in the order of the events; no task and no command
//! waits for them. Each event is handled once: the position is advanced before the hook runs, so a hook never runs twice,
//! but is skipped if `mw settle` is killed. Use notifications where nothing may be missed.
//!
//! Hooks report work in the background. A command in the foreground has none, unless it moves to the background, which then
//! counts as its start. Hooks name a task in the dialect it was started through. A task that was started while no hooks were
//! configured has none.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use mw_model::{Event, News, TaskId, signal_name};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::disk::session_dir::agent_sessions::kept_agent;
use crate::disk::store::{EventRow, Store, Transaction};
use crate::disk::task_dir::log_names;
use crate::error::{Error, Result};
use crate::notify::Hooks;
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
pub(super) struct Call {
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
        self.base.settles_itself.set(true);
        let failed = || Error::io("cannot lock hooks");
        loop {
            let lock = private(&self.base.home.root().join("hooks.lock")).map_err(failed())?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(failed()(error)),
            }
            while let Some(calls) = self.take_calls()? {
                calls.iter().for_each(|call| self.run_hooks(call));
            }
            drop(lock);
            // Another process may have left events to us just before the lock was released.
            let store = self.base.store()?;
            if !store.any_hook_calls()? && store.last_event()? <= store.mark(MARK)? {
                return Ok(());
            }
        }
    }

    /// Reads the next events, advances the position, and returns the hooks to run; `None` if there are no more events.
    fn take_calls(&self) -> Result<Option<Vec<Call>>> {
        let store = self.base.durable()?;
        self.base.transact(|transaction| self.take_calls_in(store, transaction))
    }

    fn take_calls_in(&self, store: &Store, transaction: &Transaction<'_>) -> Result<Option<Vec<Call>>> {
        let events = store.all_events_after(store.mark(MARK)?, BATCH)?;
        let kept = transaction.take_hook_calls()?;
        let Some(last) = events.last().map(|event| event.seq).or(kept.last().map(|(seq, _)| *seq)) else {
            return Ok(None);
        };
        let mut calls = Vec::new();
        for (seq, text) in kept {
            // Skip events that another version wrote.
            calls.extend(serde_json::from_str(&text).ok().map(|call: Call| (seq, call)));
        }
        for event in &events {
            if let Some(task) = transaction.task(&event.task)? {
                calls.extend(self.call_for(event, task).map(|call| (event.seq, call)));
            }
        }
        transaction.set_mark(MARK, last)?;
        calls.sort_by_key(|(seq, _)| *seq);
        Ok(Some(calls.into_iter().map(|(_, call)| call).collect()))
    }

    /// Keeps the pending hook events of a task that is about to be removed.
    pub(crate) fn keep_hook_calls(
        &self,
        store: &Store,
        transaction: &Transaction<'_>,
        id: &TaskId,
    ) -> Result<()> {
        if !self.base.settings.hooks.any() {
            return Ok(());
        }
        let Some(task) = transaction.task(id)? else { return Ok(()) };
        for event in store.events_after(store.mark(MARK)?, &Scope::All, Some(id), BATCH)? {
            if let Some(call) = self.call_for(&event, task.clone()) {
                transaction.keep_hook_call(event.seq, &json!(call).to_string())?;
            }
        }
        Ok(())
    }

    /// Returns the hook call for an event, without secrets; `None` for old events, for tasks that keep an agent alive,
    /// and for events without a hook.
    fn call_for(&self, event: &EventRow, task: Task) -> Option<Call> {
        let oldest = self.base.clock.now().as_micros() - (NEWS_MS * 1000) as i64;
        let is_told = kept_agent(&task.session).is_none() && is_in_background(&event.event, event.run, &task);
        if event.at.as_micros() < oldest || !is_told {
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
fn call_for(event: &EventRow, task: &Task, log: &str) -> Option<Call> {
    let handle = task.handle();
    let common = |hook: Hook| {
        json!({
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
        })
    };
    let started = |pid: Option<u32>| {
        let mut payload = common(Hook::Start);
        payload["pid"] = pid.into();
        let summary = format!("{handle} started: {}", task.command);
        Some(Call { hook: Hook::Start, payload, summary })
    };
    match &event.event {
        Event::Started { process, .. } => started(Some(process.pid)),
        Event::MovedToBackground { .. } => started(task.pid),
        Event::Ended { cause, .. } => {
            let mut payload = common(Hook::Exit);
            let word = task.dialect.word(cause.status(), Some(cause));
            payload["status"] = word.unwrap_or_else(|| cause.status().word()).into();
            payload["cause"] = json!(cause);
            payload["exitCode"] = task.dialect.exit_code(cause).into();
            payload["signal"] = cause.signal().map(signal_name).into();
            payload["durationMs"] = task.duration_ms.into();
            let words = News::Ended { cause: cause.clone() }.in_words();
            Some(Call { hook: Hook::Exit, payload, summary: format!("{handle} {words}: {}", task.command) })
        }
        Event::Stalled { prompt } => {
            let mut payload = common(Hook::Stall);
            payload["prompt"] = prompt.as_str().into();
            Some(Call { hook: Hook::Stall, payload, summary: format!("{handle} waits for input: {prompt}") })
        }
        Event::Ready { what, .. } => {
            let mut payload = common(Hook::Ready);
            payload["what"] = what.as_str().into();
            Some(Call { hook: Hook::Ready, payload, summary: format!("{handle} is ready: {what}") })
        }
        Event::Reassigned { from, to, reason } => {
            let mut payload = common(Hook::Reassign);
            payload["from"] = from.as_str().into();
            payload["to"] = to.as_str().into();
            payload["reason"] = reason.as_str().into();
            let summary = format!("{handle} moved to {to}: {reason}");
            Some(Call { hook: Hook::Reassign, payload, summary })
        }
        Event::Reserved { .. }
        | Event::Released
        | Event::KillRequested { .. }
        | Event::Requeued { .. }
        | Event::Progress { .. }
        | Event::TreeEmpty => None,
    }
}

pub(super) fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}
