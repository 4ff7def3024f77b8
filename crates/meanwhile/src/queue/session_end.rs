//! What happens to queued tasks when the last holder of their session has gone.
//!
//! A running task has a supervisor, which ends it some time after the last holder of its session has gone. A queued
//! task has no process. The next process that frees a slot or checks the queue decides, by the time that supervisors
//! wrote to the session's directory. While the session has no holder, no task that depends on it starts.

use mw_model::{Cause, DEFAULT_SESSION, Timestamp};

use crate::disk::session_dir::holder_loss::{bond, file_for, note, since};
use crate::disk::session_dir::lease;
use crate::disk::session_dir::lease::Held;
use crate::error::{Error, Result};
use crate::queue::Queue;
use crate::task::Task;

/// The recorded cause of an end that no caller requested.
const BY: &str = "the end of its session";

/// What happens to a queued task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionEndAction {
    /// The session has a holder, or the task does not depend on it.
    Continue,
    /// The session has no holder, but a holder may come back in time.
    Waits,
    /// No holder has come back in time.
    Ends,
}

/// Returns the cause of the end of a queued task whose session has ended.
pub(crate) fn end_of_session() -> Cause {
    Cause::Cancelled { by: BY.to_owned(), exit: None }
}

impl Queue<'_> {
    /// Returns the holders of a session. The default session is not checked, because none of its tasks depends on a
    /// holder.
    pub(crate) fn held(&self, session: &str) -> Held {
        if session == DEFAULT_SESSION {
            Held::default()
        } else {
            lease::held(self.base.home.session(session).path())
        }
    }

    /// Decides what the absence of holders means for a queued task.
    pub(crate) fn fate(&self, task: &Task, held: Held, now: Timestamp) -> Result<SessionEndAction> {
        let lifetime = task.lifetime;
        let Some(file) = file_for(lifetime).filter(|_| task.session != DEFAULT_SESSION) else {
            return Ok(SessionEndAction::Continue);
        };
        if held.keeps(lifetime) {
            return Ok(SessionEndAction::Continue);
        }
        let bond = match self.base.home.task(&task.id).spec() {
            Ok(spec) => spec.bond,
            // The launch of the task reports what is wrong with its spec.
            Err(Error::Damaged { .. } | Error::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        let Some(bond) = bond else { return Ok(SessionEndAction::Continue) };
        let directory = self.base.home.session(&task.session);
        // An older record is about earlier holders.
        let Some(since) = since(directory.path(), file).filter(|since| *since >= bond.at) else {
            if !bond.held {
                return Ok(SessionEndAction::Continue);
            }
            let _ = note(directory.path(), file, now);
            return Ok(SessionEndAction::Waits);
        };
        Ok(if now.ms_since(since) >= bond.grace_ms {
            SessionEndAction::Ends
        } else {
            SessionEndAction::Waits
        })
    }

    /// Updates how a task depends on its session, because it is about to run again.
    pub(crate) fn renew_bond(&self, task: &Task, now: Timestamp) -> Result<()> {
        let spec = self.base.home.task(&task.id).spec()?;
        let grace_ms = spec.bond.map_or(self.base.settings.session_grace_ms(), |bond| bond.grace_ms);
        let session = self.base.home.session(&spec.session);
        let new = bond(session.path(), &spec.session, spec.lifetime, grace_ms, now);
        if new.map(|bond| bond.held) == spec.bond.map(|bond| bond.held) {
            return Ok(());
        }
        self.base.home.task(&task.id).change_bond(new)
    }
}
