//! The ports that a task's processes listen on, and the processes that listen on a port.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use mw_model::wire::Operation;
use mw_model::{TaskId, TaskState};
use serde::Serialize;

use super::control::pids_of;
use crate::disk::platform;
use crate::error::Result;
use crate::live::Live;
use crate::read::Tasks;
use crate::reconcile::Reconciler;
use crate::redact::{Redaction, Redactor};
use crate::supervisor::control::{Connection, SILENCE};
use crate::task::{Scope, Task};

/// A process that listens on a port and belongs to no visible task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortHolder {
    /// Process id.
    pub pid: u32,
    /// Its command line, shortened; empty if it cannot be read.
    pub command: String,
}

/// The processes that listen on a port.
#[derive(Clone, Debug)]
pub struct PortHolders {
    /// Tasks, with the ports of each.
    pub tasks: Vec<Task>,
    /// Other processes.
    pub others: Vec<PortHolder>,
    /// Tasks whose supervisors do not answer, so their ports are unknown.
    pub silent: Vec<TaskId>,
}

impl Live<'_> {
    /// Adds the ports that a task's process tree listens on, if any of its processes is alive.
    pub fn add_ports(&self, task: &mut Task) {
        task.ports = self.ports(task);
        Tasks::on(self.base).mark_unresponsive(task);
    }

    /// Returns the live processes of a task's tree; `None` if the task cannot have any.
    pub(crate) fn tree(&self, task: &Task) -> Option<Vec<u32>> {
        let lives = match &task.state {
            TaskState::Running { .. } | TaskState::Cancelling { .. } => true,
            TaskState::Ended { .. } => task.survivors > 0,
            TaskState::Pending { .. } | TaskState::Starting { .. } => false,
        };
        lives.then(|| Tasks::on(self.base).supervisor_status(&task.id)).flatten().and_then(pids_of)
    }

    /// Returns the tasks in scope that listen on a port, and the processes outside the scope that do.
    ///
    /// # Errors
    /// When the database fails.
    pub fn port_holders(&self, port: u16, scope: &Scope) -> Result<PortHolders> {
        Reconciler::on(self.base).reconcile()?;
        let mut found = PortHolders { tasks: Vec::new(), others: Vec::new(), silent: Vec::new() };
        let mut ours = BTreeSet::new();
        // All supervisors are asked before the first answer is awaited: unresponsive ones together cost as much time as one.
        let mut asked = Vec::new();
        let deadline = Instant::now() + SILENCE;
        let left = || deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        for id in self.unsettled_in(scope)? {
            let task = Reconciler::on(self.base).current(&id)?;
            let connection = Connection::connect_within(&self.base.home, &id, left());
            match connection
                .and_then(|mut connection| connection.send(Operation::Status).map(|()| connection))
            {
                Ok(connection) => asked.push((task, connection)),
                Err(_) if self.base.home.task(&id).is_supervised()? => found.silent.push(id),
                Err(_) => {}
            }
        }
        for (mut task, mut connection) in asked {
            let _ = connection.set_timeout(Some(left()));
            let reply = connection.reply();
            if reply.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                found.silent.push(task.id);
                continue;
            }
            let Some(pids) = reply.ok().and_then(pids_of) else { continue };
            let ports = ports_of(&pids);
            if ports.contains(&port) {
                Tasks::on(self.base).complete(&mut task)?;
                task.ports = Some(ports);
                found.tasks.push(Redaction::on(self.base).without_secrets(task));
                ours.extend(pids);
            }
        }
        let others = platform::holders_of_port(port).into_iter().filter(|pid| !ours.contains(pid));
        let redactor = Redactor::new(&self.base.settings.redact, &[]);
        let command = |pid| redactor.text(&platform::command_of(pid)).into_owned();
        found.others = others.map(|pid| PortHolder { pid, command: command(pid) }).collect();
        Ok(found)
    }

    fn unsettled_in(&self, scope: &Scope) -> Result<Vec<TaskId>> {
        let unsettled = self.base.database.store()?.unsettled()?.into_iter();
        Ok(unsettled.filter(|task| scope.includes(&task.session)).map(|task| task.id).collect())
    }
}

/// Returns the ports that processes listen on, sorted and without duplicates.
pub(crate) fn ports_of(pids: &[u32]) -> Vec<u16> {
    let ports: BTreeSet<u16> =
        platform::listening_ports(pids).into_iter().map(|address| address.port()).collect();
    ports.into_iter().collect()
}
