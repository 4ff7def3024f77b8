//! Tasks without a supervisor: their files were removed while they ran, or they could not be adopted after their
//! supervisors were killed.

use mw_model::{Cause, Process};

use crate::database::findings::Findings;
use crate::disk::platform;
use crate::error::{Error, Result};
use crate::reconcile::Reconciler;
use crate::supervisor::control::Connection;
use crate::task::Task;

impl Reconciler<'_> {
    /// Returns the first process of a running task whose directory no longer describes it.
    pub(crate) fn unsupervised_process<'task>(
        &self,
        task: &'task Task,
        findings: &Findings,
    ) -> Result<Option<&'task Process>> {
        let Some(process) = task.state.process() else { return Ok(None) };
        let run = task.state.run();
        let is_documented = findings.supervised
            || findings.being_started
            || findings.record.is_some()
            || findings.journal.iter().any(|line| line.run == run);
        // Without a journal there is no lock, but the supervisor may still answer. It writes its record first.
        let answers = || {
            Ok::<_, Error>(
                Connection::answers(&self.base.home, &task.id)?
                    || self.base.home.task(&task.id).result(run)?.is_some(),
            )
        };
        Ok((!is_documented && !answers()?).then_some(process))
    }

    /// Returns the first process of a task that may be running but has no supervisor that could end it. Call this
    /// after the task was reconciled, which would have sent an adopter.
    pub(crate) fn out_of_reach(&self, task: &Task) -> Result<Option<Process>> {
        let findings = self.base.database.look_at(task)?;
        if let Some(process) = self.unsupervised_process(task, &findings)? {
            return Ok(Some(process.clone()));
        }
        let run = task.state.run();
        let failed = self.base.untended.borrow().contains_key(&task.id) && !findings.being_started;
        let is_alone = failed && (findings.has_orphans || findings.is_untended(run));
        let written_down = || findings.record.as_ref().and_then(|record| record.process.clone());
        Ok(is_alone
            .then(|| findings.started(run).map(|(process, _)| process).or_else(written_down))
            .flatten())
    }

    /// Records such a task as lost once its process is gone. Until then the task is running.
    pub(crate) fn lose(&self, task: &Task, process: &Process) -> Result<bool> {
        if platform::runs(process).map_err(Error::io(format!("cannot inspect process {}", process.pid)))? {
            return Ok(false);
        }
        let what = if self.base.home.task(&task.id).is_present()? { "journal" } else { "directory" };
        let reason = format!("its {what} was removed while it ran");
        self.base.database.record_unsupervised(&task.id, task.state.run(), Cause::Lost { reason })
    }
}
