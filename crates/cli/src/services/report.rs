//! What `mw up` says about each service.

use meanwhile::Task;
use meanwhile::model::Status;
use mw_desk::rows::state_words;
use serde_json::{Value, json};

/// How a service came to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Started,
    /// It was running already.
    Running,
    /// It was ended and started, because its declaration has changed.
    Recreated,
}

/// How far a service is.
#[derive(Debug)]
pub(super) enum Standing {
    /// Those that it depends on are not up yet.
    Waiting,
    /// It is not ready yet, or queued.
    Starting,
    /// It runs, and is ready if it says when it is.
    Up,
    /// It is not up, and why.
    Down(String),
    /// It was not started, because this service is not up.
    Held(String),
}

/// A service and its task.
pub(super) struct Found {
    pub(super) task: Task,
    pub(super) origin: Origin,
    /// In which respects the task is not what is declared now.
    pub(super) changes: Vec<&'static str>,
}

impl Found {
    /// Returns how the service came to run, in words.
    pub(super) fn line(&self) -> String {
        let begun = match (self.origin, self.task.status) {
            (Origin::Running, Status::Running) => "already running".to_owned(),
            (Origin::Running, _) => format!("already there: {}", state_words(&self.task)),
            (Origin::Started, Status::Pending) => state_words(&self.task),
            (Origin::Started, _) => format!("started, pid {}", self.task.pid.unwrap_or(0)),
            (Origin::Recreated, _) => format!("replaced, pid {}", self.task.pid.unwrap_or(0)),
        };
        match &self.changes[..] {
            [] => begun,
            changes => format!(
                "{begun}, but with another {} than declared; mw up --recreate replaces it",
                changes.join(", ")
            ),
        }
    }
}

impl Standing {
    /// Returns what is said when a service has come this far, if anything.
    pub(super) fn line(&self, awaits_readiness: bool) -> Option<String> {
        match self {
            Self::Waiting | Self::Starting => None,
            Self::Up => awaits_readiness.then(|| "ready".to_owned()),
            Self::Down(why) => Some(why.clone()),
            Self::Held(other) => Some(format!("not started: it depends on {other}, which is not up")),
        }
    }

    /// Returns the fields of a service in JSON.
    pub(super) fn in_json(&self, name: &str, found: Option<&Found>) -> Value {
        let begun = found.map_or("not_started", |found| match found.origin {
            Origin::Started => "started",
            Origin::Running => "running",
            Origin::Recreated => "replaced",
        });
        let reason = match self {
            Self::Waiting | Self::Starting | Self::Up => None,
            Self::Down(_) | Self::Held(_) => self.line(false),
        };
        let task = found.map(|found| &found.task);
        json!({
            "name": name,
            "result": begun,
            "up": matches!(self, Self::Up),
            "reason": reason,
            "changed": found.map(|found| &found.changes[..]).unwrap_or_default(),
            "id": task.map(|task| &task.id),
            "status": task.map(|task| task.status),
            "pid": task.and_then(|task| task.pid),
        })
    }
}
