//! Queries about single tasks, their runs, and sessions.

use meanwhile::engine::model::{Io, Status};
use meanwhile::engine::{SessionInfo, TaskRun};
use meanwhile::{Result, Task};

use crate::desk::Desk;
use crate::rows::{Fact, facts, notice_facts, what};

/// The maximum number of runs of a task in a timeline.
const MAX_RUNS: u32 = 50;

/// A task in a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The id of the task.
    pub id: String,
    /// The description or the command of the task.
    pub what: String,
    /// The state of the task.
    pub status: Status,
    /// The runs of the task, oldest first.
    pub runs: Vec<TaskRun>,
}

impl Desk {
    /// Returns the details of a task, the most important first.
    ///
    /// # Errors
    /// Fails if there is no such task, or the home directory cannot be read.
    pub fn facts(&self, id: &str) -> Result<Vec<Fact>> {
        self.with(|runtime| {
            let mut task = runtime.tasks().task(id, &self.scope())?;
            runtime.live().add_ports(&mut task);
            let mut known = facts(&task);
            known.extend(notice_facts(&runtime.notifications().notices_of(id, &self.scope())?));
            Ok(known)
        })
    }

    /// Returns the runs of some tasks. Removed tasks are left out.
    ///
    /// # Errors
    /// Fails if the home directory cannot be opened.
    pub fn lanes(&self, ids: &[String]) -> Result<Vec<Lane>> {
        self.with(|runtime| {
            let tasks = ids.iter().filter_map(|id| runtime.tasks().task(id, &self.scope()).ok());
            let lane = |task: Task| Lane {
                id: task.id.to_string(),
                what: what(&task),
                status: task.status,
                runs: runtime.reader().runs(&task, MAX_RUNS),
            };
            Ok(tasks.map(lane).collect())
        })
    }

    /// Returns the visible sessions.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read.
    pub fn sessions(&self) -> Result<Vec<SessionInfo>> {
        let mut sessions = self.with(|runtime| runtime.sessions().list())?;
        sessions.retain(|session| self.access().session.as_ref().is_none_or(|own| *own == session.id));
        Ok(sessions)
    }

    /// Returns whether a task accepts input.
    ///
    /// # Errors
    /// Fails if there is no such task, or the home directory cannot be read.
    pub fn takes_input(&self, id: &str) -> Result<bool> {
        self.with(|runtime| {
            let task = runtime.lookup().resolve(id, &self.scope())?;
            Ok(match runtime.home().task(&task).spec()?.io {
                Io::Stdin | Io::Pty { .. } | Io::PtyAndPipe { .. } => true,
                Io::Pipes | Io::Direct => false,
            })
        })
    }
}
