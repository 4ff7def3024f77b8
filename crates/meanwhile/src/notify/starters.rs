//! Which server tells of a task, where several share a session.
//!
//! Agents that name no session of their own share that of their project. Each living server then tells of what it
//! started itself; what a dead one started is told by whoever comes first.

use std::fs::{File, OpenOptions};

use mw_model::TaskId;

use super::host::{Host, Teller};
use crate::disk::platform;
use crate::disk::session_dir::lease;
use crate::notify::Notifications;
use crate::task::Task;

/// What the name of a session begins with that belongs to a project, because its host names none.
pub const PROJECT_SESSION: &str = "project:";

/// Tells whether agents that know nothing of each other may have this session: it is named after a project only.
#[must_use]
pub fn is_shared(session: &str) -> bool {
    session.starts_with(PROJECT_SESSION)
}

/// The lock of a session's one waker.
const WAKER_FILE: &str = "waker";

impl Notifications<'_> {
    /// Returns the living server of a session that started a task; nothing where it is dead, or there was none.
    fn starter_of(&self, task: &TaskId, session: &str) -> Option<String> {
        let starter = self.base.home.task(task).spec().ok()?.starter?;
        lease::is_held(self.base.home.session(session).path(), &starter).then_some(starter)
    }

    /// Takes the place of the one process that wakes a session's idle agent, until what is returned is dropped. Nothing
    /// where there is one already, or the session has no directory.
    #[must_use]
    pub fn only_waker(&self, session: &str) -> Option<File> {
        let path = self.base.home.session(session).path().join(WAKER_FILE);
        let file = OpenOptions::new().create(true).write(true).truncate(false).open(path).ok()?;
        file.try_lock().ok().map(|()| file)
    }

    /// Tells whether a task belongs to this server's agent: it started it, or whoever did is dead.
    #[must_use]
    pub fn is_of(&self, teller: &Teller, task: &Task) -> bool {
        self.starter_of(&task.id, &task.session).is_none_or(|starter| starter == teller.0)
    }
}

impl Host<'_> {
    /// Leaves what another living server of the session started to that one.
    #[must_use]
    pub fn of_own_starts(mut self) -> Self {
        self.starters = Some(vec![self.lease.token().to_owned()]);
        self
    }

    /// The same for a hook, which starts nothing: it tells of what the server started that the same program runs as
    /// it runs this process. Where no such server is known, nothing is left out.
    #[must_use]
    pub fn of_starts_beside(mut self, pid: u32) -> Self {
        let holders = lease::holders(self.base.home.session(&self.session).path());
        let starter = platform::starter_of(pid);
        let beside = holders.into_iter().filter(|(token, holder)| {
            token != self.lease.token() && starter.is_some() && platform::starter_of(*holder) == starter
        });
        let beside: Vec<_> = beside.map(|(token, _)| token).collect();
        self.starters = Some(beside).filter(|beside| !beside.is_empty());
        self
    }

    /// Tells whether this one passes on what happens to a task.
    pub(crate) fn tells_of(&self, task: &TaskId) -> bool {
        let Some(starters) = &self.starters else { return true };
        Notifications::on(self.base)
            .starter_of(task, &self.session)
            .is_none_or(|starter| starters.contains(&starter))
    }
}
