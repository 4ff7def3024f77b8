//! A session that this process hosts.

use std::sync::Arc;

use super::draft::TaskDraft;
use super::home::Meanwhile;
use super::notices::Notices;
use super::task::TaskHandle;
use crate::disk::store::Filter;
use crate::error::{Error, Result};
use crate::session::lease::Lease;
use crate::task::{Scope, Task};

/// A session that is held. Clones share the hold; it is given back with the last of them, or by the death of the process.
#[derive(Clone)]
pub struct Session {
    pub(super) home: Meanwhile,
    pub(super) name: Arc<str>,
    pub(super) lease: Arc<Lease>,
}

impl Session {
    pub(super) fn hold(home: Meanwhile, name: &str) -> Result<Self> {
        let lease = home.with(|runtime| {
            let lease = Lease::host(runtime.home.session(name).path());
            let lease = lease.map_err(Error::io("cannot hold the session"))?;
            runtime.announce_holders(name)?;
            Ok(lease)
        })?;
        Ok(Self { home, name: name.into(), lease: Arc::new(lease) })
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts a task, or puts it into the queue when no slot is free. Returns when it runs or waits.
    ///
    /// # Errors
    /// When it could never run, or is refused; nothing is left of it then.
    pub fn start(&self, draft: TaskDraft) -> Result<TaskHandle> {
        let request = draft.request(&self.name)?;
        let started = self.home.with(|runtime| runtime.start(&request))?;
        Ok(self.handle(&started.task))
    }

    /// Finds a task of this session by its id, handle or name.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn task(&self, name: &str) -> Result<TaskHandle> {
        let id = self.home.with(|runtime| runtime.resolve_exact(name, &self.scope()))?;
        Ok(TaskHandle { session: self.clone(), id })
    }

    /// Lists its tasks, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn tasks(&self) -> Result<Vec<Task>> {
        let filter = Filter::new(self.scope());
        Ok(self.home.with(|runtime| runtime.list(&filter))?.tasks)
    }

    /// Takes what there is to tell, oldest first. Each notice is told again until it is acknowledged.
    ///
    /// # Errors
    /// When the database fails.
    pub fn notices(&self) -> Result<Notices> {
        Notices::take(self)
    }

    pub(super) fn scope(&self) -> Scope {
        Scope::Session(self.name.to_string())
    }

    fn handle(&self, task: &Task) -> TaskHandle {
        TaskHandle { session: self.clone(), id: task.id.clone() }
    }
}
