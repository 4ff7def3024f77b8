//! What the absence of those who held a session means for its waiting tasks.
//!
//! A running task has a supervisor, which ends it some time after the last holder of its session has gone. A waiting task
//! has nobody: the process that frees a slot or looks next decides, by the time that the supervisors wrote into the
//! session's directory. While nobody holds the session none of the tasks that hang on it starts.

use mw_model::{Cause, DEFAULT_SESSION, Timestamp};

use crate::disk::session_dir::lease;
use crate::disk::session_dir::lease::Held;
use crate::disk::session_dir::vacancy::{bond, file_for, note, since};
use crate::error::{Error, Result};
use crate::queue::Queue;
use crate::task::Task;

/// The cause of an end that nobody asked for by name.
const BY: &str = "the end of its session";

/// What becomes of a waiting task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its session is held, or it does not hang on that.
    GoesOn,
    /// Nobody holds its session, and somebody may come back.
    Waits,
    /// Nobody has come back.
    Ends,
}

/// Returns the cause of the end of a waiting task whose session is over.
pub(crate) fn end_of_session() -> Cause {
    Cause::Cancelled { by: BY.to_owned(), exit: None }
}

impl Queue<'_> {
    /// Returns who holds the session of a task that waits; nobody is asked for where it does not matter.
    pub(crate) fn held(&self, session: &str) -> Held {
        if session == DEFAULT_SESSION {
            Held::default()
        } else {
            lease::held(self.base.home.session(session).path())
        }
    }

    /// Decides what the absence of holders means for a waiting task.
    pub(crate) fn fate(&self, task: &Task, held: Held, now: Timestamp) -> Result<Fate> {
        let lifetime = task.lifetime;
        let Some(file) = file_for(lifetime).filter(|_| task.session != DEFAULT_SESSION) else {
            return Ok(Fate::GoesOn);
        };
        if held.keeps(lifetime) {
            return Ok(Fate::GoesOn);
        }
        let bond = match self.base.home.task(&task.id).spec() {
            Ok(spec) => spec.bond,
            // What is wrong with it is told by its launch.
            Err(Error::Damaged { .. } | Error::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        let Some(bond) = bond else { return Ok(Fate::GoesOn) };
        let directory = self.base.home.session(&task.session);
        // An older note is about others, who came and went before.
        let Some(since) = since(directory.path(), file).filter(|since| *since >= bond.at) else {
            if !bond.held {
                return Ok(Fate::GoesOn);
            }
            let _ = note(directory.path(), file, now);
            return Ok(Fate::Waits);
        };
        Ok(if now.ms_since(since) >= bond.grace_ms { Fate::Ends } else { Fate::Waits })
    }

    /// Looks again how a task hangs on its session, because it runs once more.
    pub(crate) fn renew_bond(&self, task: &Task, now: Timestamp) -> Result<()> {
        let spec = self.base.home.task(&task.id).spec()?;
        let grace_ms = spec.bond.map_or(self.base.settings.session_grace_ms, |bond| bond.grace_ms);
        let new = bond(&self.base.home, &spec.session, spec.lifetime, grace_ms, now);
        if new.map(|bond| bond.held) == spec.bond.map(|bond| bond.held) {
            return Ok(());
        }
        self.base.home.task(&task.id).change_bond(new)
    }
}
