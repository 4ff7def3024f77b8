//! Which ports a task's tree listens on, and who holds a port.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use mw_model::wire::{ControlReply, Operation};
use mw_model::{TaskId, TaskState};
use serde::Serialize;

use super::control::Line;
use crate::disk::platform;
use crate::error::Result;
use crate::read::redact::Redactor;
use crate::runtime::Runtime;
use crate::task::{Scope, Task};

/// How long supervisors may take to name the processes of their tasks, all together.
const PATIENCE: Duration = Duration::from_secs(5);

/// A process that listens on a port and belongs to no task that may be seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortHolder {
    /// Process id.
    pub pid: u32,
    /// Its command line, shortened; empty when it may not be read.
    pub command: String,
}

/// Who listens on a port.
#[derive(Clone, Debug)]
pub struct PortHolders {
    /// Tasks, with the ports of each.
    pub tasks: Vec<Task>,
    /// Other processes.
    pub others: Vec<PortHolder>,
}

impl Runtime {
    /// Adds the ports that a task's tree listens on, if anything of it lives.
    pub fn add_ports(&self, task: &mut Task) {
        task.ports = self.ports(task);
    }

    /// Returns the living processes of a task's tree; nothing when none can be.
    pub(crate) fn tree(&self, task: &Task) -> Option<Vec<u32>> {
        let lives = match &task.state {
            TaskState::Running { .. } | TaskState::Cancelling { .. } => true,
            TaskState::Ended { .. } => task.survivors > 0,
            TaskState::Pending { .. } | TaskState::Starting { .. } => false,
        };
        lives.then(|| self.control(&task.id, Operation::Status).ok()).flatten().and_then(pids_of)
    }

    /// Returns who listens on a port: tasks in scope, and processes of nobody in it.
    ///
    /// # Errors
    /// When the database fails.
    pub fn port_holders(&self, port: u16, scope: &Scope) -> Result<PortHolders> {
        self.reconcile()?;
        let mut found = PortHolders { tasks: Vec::new(), others: Vec::new() };
        let mut ours = BTreeSet::new();
        // All are asked before the first answer is awaited: those that do not answer keep nobody longer together than one.
        let mut asked = Vec::new();
        for id in self.unsettled_in(scope)? {
            let task = self.current(&id)?;
            let line = Line::connect_patiently(&self.home, &id);
            let line = line.and_then(|mut line| line.send(Operation::Status).map(|()| line));
            asked.extend(line.ok().map(|line| (task, line)));
        }
        let deadline = Instant::now() + PATIENCE;
        for (mut task, mut line) in asked {
            let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            let _ = line.set_patience(Some(left));
            let Some(pids) = line.reply().ok().and_then(pids_of) else { continue };
            let ports = ports_of(&pids);
            if ports.contains(&port) {
                self.complete(&mut task)?;
                task.ports = Some(ports);
                found.tasks.push(self.without_secrets(task));
                ours.extend(pids);
            }
        }
        let others = platform::holders_of_port(port).into_iter().filter(|pid| !ours.contains(pid));
        let redactor = Redactor::new(&self.settings.redact, &[]);
        let command = |pid| redactor.text(&platform::command_of(pid)).into_owned();
        found.others = others.map(|pid| PortHolder { pid, command: command(pid) }).collect();
        Ok(found)
    }

    fn unsettled_in(&self, scope: &Scope) -> Result<Vec<TaskId>> {
        let unsettled = self.store()?.unsettled(&self.home.tasks())?.into_iter();
        let seen = unsettled.filter(|task| match scope {
            Scope::All => true,
            Scope::Session(session) => task.session == *session,
        });
        Ok(seen.map(|task| task.id).collect())
    }
}

/// Returns the processes that a supervisor names.
fn pids_of(reply: ControlReply) -> Option<Vec<u32>> {
    match reply {
        // A supervisor of an older version names processes only.
        ControlReply::Status { pids, tree, .. } if pids.is_empty() => {
            Some(tree.iter().map(|process| process.pid).collect())
        }
        ControlReply::Status { pids, .. } => Some(pids),
        _ => None,
    }
}

/// Returns the ports that processes listen on, in order, each once.
pub(crate) fn ports_of(pids: &[u32]) -> Vec<u16> {
    let ports: BTreeSet<u16> =
        platform::listening_ports(pids).into_iter().map(|address| address.port()).collect();
    ports.into_iter().collect()
}
