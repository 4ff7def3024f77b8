//! A session that this process hosts.

use std::sync::Arc;

use super::draft::TaskDraft;
use super::home::Meanwhile;
use super::notices::Notices;
use super::task::TaskHandle;
use crate::disk::session_dir::lease::Lease;
use crate::disk::store::Filter;
use crate::error::Result;
use crate::notify::host::DeliveryPolicy;
use crate::task::{Scope, Task};

/// A session that is held. Clones share the hold; it is given back with the last of them, or by the death of the process.
#[derive(Clone)]
pub struct Session {
    pub(super) home: Meanwhile,
    pub(super) name: Arc<str>,
    hold: Arc<Hold>,
}

/// The hold on a session. The supervisors of its tasks are told when it is given back.
struct Hold {
    home: Meanwhile,
    session: Arc<str>,
    lease: Arc<Lease>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.lease.give_back();
        // Where this fails, the supervisors find out when the process ends.
        let _ = self.home.with(|runtime| runtime.live().announce_holders(&self.session));
    }
}

impl Session {
    pub(super) fn hold(home: Meanwhile, name: &str) -> Result<Self> {
        let lease = home.with(|runtime| {
            let host = runtime.notifications().host(name, DeliveryPolicy::Immediate)?;
            Ok(Arc::clone(&host.lease))
        })?;
        let name: Arc<str> = name.into();
        let hold = Hold { home: home.clone(), session: Arc::clone(&name), lease };
        Ok(Self { home, name, hold: Arc::new(hold) })
    }

    /// Returns the lease, which lives as long as this guard.
    pub(super) fn lease(&self) -> &Arc<Lease> {
        &self.hold.lease
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
        let started = self.home.with(|runtime| runtime.starts().start(&request))?;
        Ok(self.handle(&started.task))
    }

    /// Finds a task of this session by its id, handle or name.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn task(&self, name: &str) -> Result<TaskHandle> {
        let id = self.home.with(|runtime| runtime.lookup().resolve_exact(name, &self.scope()))?;
        Ok(TaskHandle { session: self.clone(), id })
    }

    /// Lists all its tasks: live ones first, then those that have ended, each newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn tasks(&self) -> Result<Vec<Task>> {
        let filter = Filter { limit: u32::MAX, ..Filter::new(self.scope()) };
        Ok(self.home.with(|runtime| runtime.tasks().list(&filter))?.tasks)
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
