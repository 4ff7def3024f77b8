//! Calls of the confined tasks of a session, which cannot use the home themselves.

use std::io;

use mw_model::{TaskGrant, TaskId};

use super::Sessions;
use crate::approval::Approvals;
use crate::confine::grant_of;
use crate::disk::session_dir::call_socket::CallSocket;

impl Sessions<'_> {
    /// Listens for the calls of a session's confined tasks. Returns `None` if another process does.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub fn listen_for_calls(&self, session: &str) -> io::Result<Option<CallSocket>> {
        CallSocket::listen(self.base.home.root(), session)
    }

    /// Returns the confined task of a session that a process belongs to, with its grant. Returns `None` for a process that cannot
    /// be shown to be part of one.
    #[must_use]
    pub fn confined_task_of(&self, pid: u32, session: &str) -> Option<(TaskId, TaskGrant)> {
        let task = Approvals::on(self.base).task_above(pid)?;
        let spec = self.base.home.task(&task).spec().ok().filter(|spec| spec.session == session)?;
        let grant = grant_of(&spec)?.into_owned();
        Some((task, grant))
    }
}
