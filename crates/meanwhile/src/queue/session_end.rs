//! What happens to queued tasks when the last holder of their session has gone.
//!
//! A running task has a supervisor, which ends it some time after the last holder of its session has gone. A queued
//! task has no process. The next process that frees a slot or checks the queue decides, by the time that supervisors
//! wrote to the session's directory. While the session has no holder, no task that depends on it starts.

use mw_model::{Cause, DEFAULT_SESSION, SessionBond};

use crate::disk::platform;
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
    pub(crate) fn fate(&self, task: &Task, held: Held) -> Result<SessionEndAction> {
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
        let now_ms = platform::monotonic_ms();
        let action = after_loss(&bond, since(directory.path(), file), now_ms);
        Ok(action.unwrap_or_else(|| {
            let _ = note(directory.path(), file, now_ms);
            SessionEndAction::Waits
        }))
    }

    /// Updates how a task depends on its session, because it is about to run again.
    pub(crate) fn renew_bond(&self, task: &Task) -> Result<()> {
        let spec = self.base.home.task(&task.id).spec()?;
        let grace_ms = spec.bond.map_or(self.base.settings.session_grace_ms(), |bond| bond.grace_ms);
        let session = self.base.home.session(&spec.session);
        let new = bond(session.path(), &spec.session, spec.lifetime, grace_ms);
        if new.map(|bond| bond.held) == spec.bond.map(|bond| bond.held) {
            return Ok(());
        }
        self.base.home.task(&task.id).change_bond(new)
    }
}

/// Decides what the absence of holders means for a queued task, from the time since which the session is recorded as having none;
/// `None` if a loss has to be recorded first. Times later than now are from an earlier boot, which no holder has survived.
fn after_loss(bond: &SessionBond, since_ms: Option<u64>, now_ms: u64) -> Option<SessionEndAction> {
    // An older record is about earlier holders.
    let is_ours = |since_ms: &u64| match (bond.at_ms > now_ms, *since_ms > now_ms) {
        (false, false) | (true, true) => *since_ms >= bond.at_ms,
        (true, false) => bond.held,
        (false, true) => false,
    };
    match since_ms.filter(is_ours) {
        Some(since_ms) if since_ms > now_ms || now_ms - since_ms >= bond.grace_ms => {
            Some(SessionEndAction::Ends)
        }
        Some(_) => Some(SessionEndAction::Waits),
        None if bond.held => None,
        None => Some(SessionEndAction::Continue),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: SessionBond = SessionBond { held: true, at_ms: 1000, grace_ms: 100 };
    const FREE: SessionBond = SessionBond { held: false, ..HELD };

    #[test]
    fn a_task_ends_once_the_grace_period_after_the_loss_of_its_holders_has_passed() {
        for bond in [HELD, FREE] {
            assert_eq!(after_loss(&bond, Some(1500), 1599), Some(SessionEndAction::Waits));
            assert_eq!(after_loss(&bond, Some(1500), 1600), Some(SessionEndAction::Ends));
        }
    }

    #[test]
    fn a_loss_that_was_recorded_before_the_task_was_requested_is_about_other_holders() {
        assert_eq!(after_loss(&FREE, Some(999), 5000), Some(SessionEndAction::Continue));
        assert_eq!(after_loss(&HELD, Some(999), 5000), None);
        assert_eq!(after_loss(&FREE, None, 5000), Some(SessionEndAction::Continue));
        assert_eq!(after_loss(&HELD, None, 5000), None);
    }

    #[test]
    fn a_reboot_ends_the_holders_of_earlier_tasks_and_says_nothing_about_later_ones() {
        // Both are from an earlier boot.
        assert_eq!(after_loss(&HELD, Some(1500), 50), Some(SessionEndAction::Ends));
        // A loss that was recorded in this boot, for a task from an earlier one.
        assert_eq!(after_loss(&HELD, Some(20), 50), Some(SessionEndAction::Waits));
        assert_eq!(after_loss(&HELD, Some(20), 120), Some(SessionEndAction::Ends));
        assert_eq!(after_loss(&FREE, Some(20), 120), Some(SessionEndAction::Continue));
        // A loss from an earlier boot, for a task from this one.
        let (held, free) = (SessionBond { at_ms: 40, ..HELD }, SessionBond { at_ms: 40, ..FREE });
        assert_eq!(after_loss(&held, Some(1500), 50), None);
        assert_eq!(after_loss(&free, Some(1500), 50), Some(SessionEndAction::Continue));
    }
}
