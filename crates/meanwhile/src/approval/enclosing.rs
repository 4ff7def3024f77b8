//! The task and the session that a process belongs to, from the process tree instead of the environment.

use mw_model::{DEFAULT_SESSION, TaskId};

use crate::approval::Approvals;
use crate::disk::platform;
use crate::disk::session_dir::agent_sessions::{child_session, kept_agent};
use crate::disk::session_dir::lease;
use crate::supervisor::control::Connection;

/// The session of a process inside a task that cannot be found out. It has no tasks, and nothing is allowed for it that asks.
const UNKNOWN_SESSION: &str = "unknown-task";

impl Approvals<'_> {
    /// Returns the task of this home that this process belongs to, if any. A supervisor is an ancestor of all
    /// processes of its task, because it adopts orphans, and it holds its journal open.
    #[must_use]
    pub fn enclosing_task(&self) -> Option<TaskId> {
        self.task_above(std::process::id())
    }

    pub(crate) fn task_above(&self, pid: u32) -> Option<TaskId> {
        let tasks = std::fs::canonicalize(self.base.home.tasks()).ok()?;
        platform::files_of_supervisors_above(pid).iter().find_map(|file| {
            let task = file.strip_prefix(&tasks).ok()?.iter().next()?;
            task.to_str()?.parse().ok()
        })
    }

    /// Returns whether this process is inside a task that it does not let us know: it has a supervisor above whose files it may
    /// not see. Then it counts as inside a task of an unknown session.
    #[must_use]
    pub fn is_in_unknown_task(&self) -> bool {
        platform::has_closed_supervisor_above(std::process::id()) && self.enclosing_task().is_none()
    }

    /// Returns whether a task has a supervisor that this process cannot see. Then it may be inside that task, in a process namespace
    /// of its own, and nothing above it tells that. This looks at every task, unless all processes are visible.
    #[must_use]
    pub fn has_unseen_supervisor(&self) -> bool {
        if platform::sees_all_processes() {
            return false;
        }
        let is_unseen = |id: &TaskId| {
            let connected = Connection::connect(&self.base.home, id);
            connected.is_ok_and(|it| !it.peer().is_some_and(platform::is_visible_supervisor))
        };
        self.base.home.task_ids().map_or(true, |ids| ids.iter().any(is_unseen))
    }

    /// Returns whether this process may act for a session. Outside of tasks it may act for any. Inside a task it may
    /// act for the task's session, for a session that a process of the task holds, for one that tasks of its session
    /// began, and for a new one.
    #[must_use]
    pub fn may_act_for(&self, session: &str) -> bool {
        self.enclosing_session(Some(session)).as_deref() == Some(session)
            || !self.base.home.session(session).path().exists()
            || self.was_begun_here(session)
    }

    fn was_begun_here(&self, session: &str) -> bool {
        let begun_in = self.session_policy(session).ok().flatten().and_then(|rules| rules.within);
        begun_in.is_some() && begun_in == self.enclosing_session(None)
    }

    /// Returns the session that this process acts for. Outside of tasks this is the named one. Inside a task it is
    /// the task's session, unless the named one is held by a process of the same task, such as the agent's own
    /// session.
    #[must_use]
    pub fn enclosing_session(&self, named: Option<&str>) -> Option<String> {
        let of_task = self.enclosing_task().and_then(|task| {
            let session = self.base.home.task(&task).spec().ok()?.session;
            // A keeper's session stands for the session of its agent.
            let session = kept_agent(&session).map_or(session, |agent| child_session(&agent));
            (session != DEFAULT_SESSION).then_some((task, session))
        });
        let Some((task, session)) = of_task else {
            if self.is_in_unknown_task() {
                return Some(UNKNOWN_SESSION.to_owned());
            }
            return named.map(str::to_owned);
        };
        let is_kept_here = |named: &str| {
            let holders = lease::holders(self.base.home.session(named).path());
            holders.into_iter().any(|(_, holder)| self.task_above(holder).as_ref() == Some(&task))
        };
        let is_own = |named: &&str| *named == child_session(&task) || is_kept_here(named);
        Some(named.filter(is_own).map_or(session, str::to_owned))
    }
}
