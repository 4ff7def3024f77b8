//! The task and the session that a process belongs to, by the process tree: it cannot be left by changing the environment.

use mw_model::{DEFAULT_SESSION, TaskId};

use crate::approval::Approvals;
use crate::disk::platform;
use crate::disk::session_dir::agent_sessions::{child_session, kept_agent};
use crate::disk::session_dir::lease;

impl Approvals<'_> {
    /// Returns the task of this home that this process belongs to, if it does. A supervisor adopts whatever a task
    /// leaves behind, so it is above all of it; and it holds its journal open.
    #[must_use]
    pub fn task_around(&self) -> Option<TaskId> {
        self.task_above(std::process::id())
    }

    fn task_above(&self, pid: u32) -> Option<TaskId> {
        let tasks = std::fs::canonicalize(self.base.home.tasks()).ok()?;
        platform::files_of_supervisors_above(pid).iter().find_map(|file| {
            let task = file.strip_prefix(&tasks).ok()?.iter().next()?;
            task.to_str()?.parse().ok()
        })
    }

    /// Tells whether this process may act for a session. Outside of tasks it may for any; inside a task only for the task's
    /// own, for one that is kept inside the task, for one that tasks of its session began, and for one that is new.
    #[must_use]
    pub fn may_act_for(&self, session: &str) -> bool {
        self.session_around(Some(session)).as_deref() == Some(session)
            || !self.base.home.session(session).path().exists()
            || self.was_begun_here(session)
    }

    fn was_begun_here(&self, session: &str) -> bool {
        let begun_in = self.house_rules(session).ok().flatten().and_then(|rules| rules.within);
        begun_in.is_some() && begun_in == self.session_around(None)
    }

    /// Returns the session that this process acts for: the one that it names, unless it belongs to a task of another. Inside
    /// a task that is its session, or one that is kept by a process inside the same task, such as an agent's own.
    #[must_use]
    pub fn session_around(&self, named: Option<&str>) -> Option<String> {
        let of_task = self.task_around().and_then(|task| {
            let session = self.base.home.task(&task).spec().ok()?.session;
            // What keeps an agent alive is no session of its own.
            let session = kept_agent(&session).map_or(session, |agent| child_session(&agent));
            (session != DEFAULT_SESSION).then_some((task, session))
        });
        let Some((task, session)) = of_task else { return named.map(str::to_owned) };
        let is_kept_here = |named: &str| {
            let holders = lease::holders(self.base.home.session(named).path());
            holders.into_iter().any(|(_, holder)| self.task_above(holder).as_ref() == Some(&task))
        };
        let is_own = |named: &&str| *named == child_session(&task) || is_kept_here(named);
        Some(named.filter(is_own).map_or(session, str::to_owned))
    }
}
