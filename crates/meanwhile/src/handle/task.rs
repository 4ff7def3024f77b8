//! One task, from the session that owns it.

use std::time::Duration;

use mw_model::TaskId;
use mw_model::wire::KillReceipt;

use super::session::Session;
use crate::error::{Error, Result};
use crate::live::kill::KillRequest;
use crate::read::condition::{Condition, WaitRequest};
use crate::read::output::{From, ReadRequest};
use crate::task::Task;

/// What to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// The end of the task.
    Exit,
    /// A line of output that fits this regular expression.
    Line(String),
    /// A port on this machine that accepts connections.
    Port(u16),
    /// No output for that long.
    Silent(Duration),
}

/// A task of a session.
#[derive(Clone)]
pub struct TaskHandle {
    pub(super) session: Session,
    pub(super) id: TaskId,
}

impl TaskHandle {
    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// Returns it as it is now.
    ///
    /// # Errors
    /// When it was cleared, or the database fails.
    pub fn look(&self) -> Result<Task> {
        self.session.home.with(|runtime| runtime.tasks().task(self.id.as_str(), &self.session.scope()))
    }

    /// Waits until something is true of it, or the time is up; returns the task, and whether it came true.
    ///
    /// # Errors
    /// When the expression is none, the task was cleared, or the database fails.
    pub fn wait(&self, until: Until, longest: Duration) -> Result<(Task, bool)> {
        let condition = match until {
            Until::Exit => Condition::Exit,
            Until::Line(pattern) => Condition::matching(&pattern)?,
            Until::Port(port) => Condition::Port(port),
            Until::Silent(time) => Condition::Silence(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        };
        let request = WaitRequest {
            tasks: vec![self.id.clone()],
            any: false,
            condition,
            timeout: Some(longest),
            look_every: None,
        };
        let mut reply = self.session.home.with(|runtime| runtime.reader().wait(&request))?;
        let task = reply.tasks.pop().ok_or_else(|| Error::NotFound(self.id.to_string()))?;
        Ok((task, !reply.met.is_empty()))
    }

    /// Ends it and everything it started, and says what that took. It is not told of again: whoever ends it knows.
    ///
    /// # Errors
    /// When it cannot be ended.
    pub fn kill(&self) -> Result<KillReceipt> {
        let request = KillRequest::term("owner".to_owned());
        self.session.home.with(|runtime| {
            let kills =
                runtime.notifications().kill_as_owner(&[self.id.as_str()], &self.session.name, &request)?;
            kills.all_done()?.pop().ok_or_else(|| Error::NotFound(self.id.to_string()))
        })
    }

    /// Returns the last part of its output as text, at most that many bytes.
    ///
    /// # Errors
    /// When the task was cleared, or its log cannot be read.
    pub fn tail(&self, bytes: u64) -> Result<String> {
        let request =
            ReadRequest { from: From::TailBytes(bytes), max_bytes: bytes, ..ReadRequest::default() };
        let read = |runtime: &crate::engine::Runtime| {
            runtime.reader().read(self.id.as_str(), &self.session.scope(), &request)
        };
        Ok(self.session.home.with(read)?.text())
    }

    /// Types into its standard input, which a draft must have asked for.
    ///
    /// # Errors
    /// When it does not run, has no open input, or does not read.
    pub fn input(&self, text: impl AsRef<[u8]>) -> Result<()> {
        let (id, scope) = (self.id.as_str(), self.session.scope());
        self.session.home.with(|runtime| runtime.live().input(id, &scope, text.as_ref(), false).map(drop))
    }
}
