//! The task and the session that a process belongs to, by the process tree: it cannot be left by changing the environment.

use mw_model::{DEFAULT_SESSION, TaskId};

use crate::disk::platform;
use crate::live::agent::{child_session, kept_agent};
use crate::runtime::Runtime;
use crate::session::lease;

impl Runtime {
    /// Returns the task of this home that this process belongs to, if it does. A supervisor adopts whatever a task
    /// leaves behind, so it is above all of it; and it holds its journal open.
    #[must_use]
    pub fn task_around(&self) -> Option<TaskId> {
        self.task_above(std::process::id())
    }

    fn task_above(&self, pid: u32) -> Option<TaskId> {
        let tasks = std::fs::canonicalize(self.home.tasks()).ok()?;
        platform::files_of_ancestors(pid).iter().find_map(|file| {
            let task = file.strip_prefix(&tasks).ok()?.iter().next()?;
            task.to_str()?.parse().ok()
        })
    }

    /// Tells whether this process may act for a session: everybody outside of tasks may; inside one only for its own, for one
    /// that is kept inside it, and for one that is new.
    #[must_use]
    pub fn may_act_for(&self, session: &str) -> bool {
        self.session_around(Some(session)).as_deref() == Some(session) || !self.knows_session(session)
    }

    /// Returns the session that this process acts for: the one that it names, unless it belongs to a task of another. Inside
    /// a task that is its session, or one that is kept by a process inside the same task, such as an agent's own.
    #[must_use]
    pub fn session_around(&self, named: Option<&str>) -> Option<String> {
        let of_task = self.task_around().and_then(|task| {
            let session = self.home.spec(&task).ok()?.session;
            // What keeps an agent alive is no session of its own.
            let session = kept_agent(&session).map_or(session, |agent| child_session(&agent));
            (session != DEFAULT_SESSION).then_some((task, session))
        });
        let Some((task, session)) = of_task else { return named.map(str::to_owned) };
        let is_kept_here = |named: &str| {
            let holders = lease::holders(self.home.session(named).path());
            holders.into_iter().any(|(_, holder)| self.task_above(holder).as_ref() == Some(&task))
        };
        let is_own = |named: &&str| *named == child_session(&task) || is_kept_here(named);
        Some(named.filter(is_own).map_or(session, str::to_owned))
    }
}
