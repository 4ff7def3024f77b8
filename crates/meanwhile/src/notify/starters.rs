//! Decides which server delivers a task's notifications when several servers share a session.
//!
//! Agents that name no session share the session of their project. Each live server delivers the notifications of the
//! tasks that it started. Notifications of tasks that an exited server started go to the first process that asks.

use std::fs::{File, OpenOptions};

use mw_model::TaskId;

use super::session_holder::SessionHolder;
use crate::disk::platform;
use crate::disk::session_dir::lease;
use crate::notify::Notifications;
use crate::request::Holder;
use crate::task::Task;

/// Prefix of session names that stand for a project, because the host names no session.
pub const PROJECT_SESSION: &str = "project:";

/// Returns whether unrelated agents may share this session, because it is named only after a project.
#[must_use]
pub fn is_shared(session: &str) -> bool {
    session.starts_with(PROJECT_SESSION)
}

/// Lock file of the one process that wakes a session's idle agent.
const WAKER_FILE: &str = "waker";

impl Notifications<'_> {
    /// Returns the live server of a session that started a task; `None` if it has exited or there was none.
    fn starter_of(&self, task: &TaskId, session: &str) -> Option<String> {
        let starter = self.base.home.task(task).spec().ok()?.starter?;
        lease::is_held(self.base.home.session(session).path(), &starter).then_some(starter)
    }

    /// Takes the lock of the one process that wakes a session's idle agent, and holds it until the returned file is
    /// dropped. Returns `None` if another process holds it, or the session has no directory.
    #[must_use]
    pub fn only_waker(&self, session: &str) -> Option<File> {
        let path = self.base.home.session(session).path().join(WAKER_FILE);
        let file = OpenOptions::new().create(true).write(true).truncate(false).open(path).ok()?;
        file.try_lock().ok().map(|()| file)
    }

    /// Returns whether a task belongs to this server's agent: the server started it, or its starter has exited.
    #[must_use]
    pub fn is_of(&self, holder: &Holder, task: &Task) -> bool {
        self.starter_of(&task.id, &task.session).is_none_or(|starter| starter == holder.0)
    }
}

impl SessionHolder<'_> {
    /// Excludes tasks that another live server of the session started.
    #[must_use]
    pub fn of_own_starts(mut self) -> Self {
        self.starters = Some(vec![self.lease.token.clone()]);
        self
    }

    /// Like [`SessionHolder::of_own_starts`], for a hook, which starts no tasks itself: includes the tasks of the servers that
    /// have the same parent program as the process `pid`. If there is no such server, no task is excluded.
    #[must_use]
    pub fn of_starts_beside(mut self, pid: u32) -> Self {
        let holders = lease::holders(self.base.home.session(&self.session).path());
        let starter = platform::starter_of(pid);
        let beside = holders.into_iter().filter(|(token, holder)| {
            *token != self.lease.token && starter.is_some() && platform::starter_of(*holder) == starter
        });
        let beside: Vec<_> = beside.map(|(token, _)| token).collect();
        self.starters = Some(beside).filter(|beside| !beside.is_empty());
        self
    }

    /// Returns whether this host delivers the notifications of a task.
    pub(crate) fn delivers(&self, task: &TaskId) -> bool {
        let Some(starters) = &self.starters else { return true };
        Notifications::on(self.base)
            .starter_of(task, &self.session)
            .is_none_or(|starter| starters.contains(&starter))
    }
}
