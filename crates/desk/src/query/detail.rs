//! Queries about single tasks, their runs, and sessions.

use meanwhile::engine::{Run, SessionInfo};
use meanwhile::model::{Io, Status};
use meanwhile::{Result, Task};

use crate::desk::Desk;
use crate::rows::{Fact, facts, news_facts, what};

/// Runs of one task that a timeline shows.
const MOST_RUNS: u32 = 50;

/// One task in a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The task.
    pub id: String,
    /// Its description or command.
    pub what: String,
    /// Its state.
    pub status: Status,
    /// Its runs, oldest first.
    pub runs: Vec<Run>,
}

impl Desk {
    /// Returns the facts about a task, the most important first.
    ///
    /// # Errors
    /// When there is none, or the home cannot be read.
    pub fn facts(&self, id: &str) -> Result<Vec<Fact>> {
        self.with(|runtime| {
            let mut task = runtime.tasks().task(id, &self.scope())?;
            runtime.live().add_ports(&mut task);
            let mut known = facts(&task);
            known.extend(news_facts(&runtime.notifications().news_of(id, &self.scope())?));
            Ok(known)
        })
    }

    /// Returns the runs of some tasks, except removed ones.
    ///
    /// # Errors
    /// When the home cannot be opened.
    pub fn lanes(&self, ids: &[String]) -> Result<Vec<Lane>> {
        self.with(|runtime| {
            let tasks = ids.iter().filter_map(|id| runtime.tasks().task(id, &self.scope()).ok());
            let lane = |task: Task| Lane {
                id: task.id.to_string(),
                what: what(&task),
                status: task.status,
                runs: runtime.reader().runs(&task, MOST_RUNS),
            };
            Ok(tasks.map(lane).collect())
        })
    }

    /// Returns the sessions that may be seen.
    ///
    /// # Errors
    /// When the home cannot be read.
    pub fn sessions(&self) -> Result<Vec<SessionInfo>> {
        let mut sessions = self.with(|runtime| runtime.sessions().list())?;
        sessions.retain(|session| self.access().session.as_ref().is_none_or(|own| *own == session.id));
        Ok(sessions)
    }

    /// Returns whether a task takes input.
    ///
    /// # Errors
    /// When there is none, or the home cannot be read.
    pub fn takes_input(&self, id: &str) -> Result<bool> {
        self.with(|runtime| {
            let task = runtime.lookup().resolve(id, &self.scope())?;
            Ok(match runtime.home().task(&task).spec()?.io {
                Io::Stdin | Io::Pty { .. } => true,
                Io::Pipes => false,
            })
        })
    }
}
