//! What an owner learns by itself: it is not notified of an end that it has read, or requested with a receipt.

use mw_model::TaskId;

use super::session_holder::SessionHolder;
use crate::database::Lookup;
use crate::database::change::Changing;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::live::Live;
use crate::live::kill::{KillReport, KillRequest};
use crate::notify::Notifications;
use crate::request::Holder;
use crate::task::{Scope, Task};

impl Notifications<'_> {
    /// Ends tasks at the request of their owner. The owner gets the receipts, so these ends produce no notification. Tasks that
    /// could not be ended, or got a signal that does not ask for an end, are still reported.
    ///
    /// # Errors
    /// When a task is unknown, or the database fails.
    pub fn kill_as_owner(
        &self,
        handles: &[&str],
        session: &str,
        request: &KillRequest,
    ) -> Result<KillReport> {
        let scope = Scope::Session(session.to_owned());
        let ids = handles
            .iter()
            .map(|handle| Lookup::on(&self.base.database).resolve_exact(handle, &scope))
            .collect::<Result<Vec<_>>>()?;
        if !request.ends() {
            return Ok(Live::on(self.base).kill_all(&ids, request));
        }
        // Before the kill, so that another process does not report an end that comes from it. The reservation ends with
        // this process. Without one, for example on a full disk, the task is killed anyway.
        let host = self.relay(session).ok().filter(|host| host.reserve_ends(&ids).is_ok());
        fail_point("kill-claimed");
        let kills = Live::on(self.base).kill_all(&ids, request);
        for id in &ids {
            let has_failed = kills.failures.iter().any(|failure| failure.id == *id);
            // The tasks are dead, so the owner gets its receipts. An end that cannot be noted is reported once more.
            let _ =
                self.close_reservation(id, host.as_ref().map(SessionHolder::holder).as_ref(), !has_failed);
        }
        Ok(kills)
    }

    /// Ends a reservation: the owner knows how the task ended, or the next delivery reports it.
    fn close_reservation(&self, id: &TaskId, reserved_by: Option<&Holder>, is_known: bool) -> Result<()> {
        self.change_knowledge(id, |changing| {
            if let Some(holder) = reserved_by {
                changing.transaction().end_reservation(id, &holder.0, is_known)?;
            }
            if is_known { self.mark_known(changing) } else { Ok(()) }
        })
    }

    /// Records that the owner already knows the end of the task's current run, or will.
    ///
    /// # Errors
    /// When the database fails.
    pub fn note_known(&self, id: &TaskId) -> Result<()> {
        self.change_knowledge(id, |changing| self.mark_known(changing))
    }

    fn mark_known(&self, changing: &Changing<'_>) -> Result<()> {
        changing.transaction().mark_known(changing.task(), changing.now())?;
        self.mark_delivered(changing.task());
        Ok(())
    }

    /// Records that a process has reported the end of a task, which it had reserved ([`TaskRequest::reporter`]); false if it no
    /// longer has the reservation.
    ///
    /// # Errors
    /// When the database fails; the end is then reported once more.
    ///
    /// [`TaskRequest::reporter`]: crate::engine::TaskRequest::reporter
    pub fn complete_reservation(&self, id: &TaskId, holder: &Holder) -> Result<bool> {
        let mut kept = false;
        self.change_knowledge(id, |changing| {
            kept = changing.transaction().end_reservation(id, &holder.0, true)?;
            self.mark_delivered(changing.task());
            Ok(())
        })?;
        Ok(kept)
    }

    /// Gives up the reservation of a task's end; the next delivery of its session reports it.
    ///
    /// # Errors
    /// When the database fails; the reservation then lasts until this process exits.
    pub fn release_reservation(&self, id: &TaskId, holder: &Holder) -> Result<()> {
        self.change_knowledge(id, |changing| {
            Ok(changing.transaction().end_reservation(id, &holder.0, false).map(drop)?)
        })
    }

    /// Records the delivered end in the task's directory as well, in case the database is removed.
    fn mark_delivered(&self, task: &Task) {
        if task.status.is_terminal() {
            self.base.home.task(&task.id).mark_delivered(task.state.run());
        }
    }

    /// Changes what an owner knows. If the disk is full, reading or ending a task still works, and the owner is notified once
    /// more.
    fn change_knowledge(&self, id: &TaskId, change: impl FnOnce(&Changing<'_>) -> Result<()>) -> Result<()> {
        match self.base.database.change(id, |changing| change(changing)) {
            Err(Error::NotFound(_)) => Ok(()),
            Err(Error::Store(error)) if error.is_disk_full() => Ok(()),
            other => other,
        }
    }
}
