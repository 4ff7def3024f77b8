//! How many tasks run at once.

use std::time::Duration;

use mw_model::{QueueLimits, TaskSpec};

use crate::disk::slots::{Pool, Slots};
use crate::error::{Error, Result};
use crate::queue::Queue;
use crate::task::Task;

impl Queue<'_> {
    /// Takes the slots for one more task of a session.
    pub(crate) fn take_slots(
        &self,
        session: &str,
        pool: Pool,
        limits: &QueueLimits,
    ) -> Result<Option<Slots>> {
        if *limits == QueueLimits::NONE {
            return Ok(Some(Slots::none()));
        }
        self.base.home.session(session).take_slots(&self.base.home.common_slots(), limits, pool)
    }

    /// Like [`Queue::take_slots`], for a task that runs already: waits for processes that only test a slot.
    pub(crate) fn take_slots_patiently(&self, spec: &TaskSpec) -> Result<Option<Slots>> {
        let limits = spec.queue.clone().unwrap_or_else(|| self.base.settings.queue.limits());
        for _ in 0..20 {
            if let Some(slots) = self.take_slots(&spec.session, Pool::of(spec.kind), &limits)? {
                return Ok(Some(slots));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(None)
    }

    /// Returns the limits of a queued task: those it was started with, regardless of the calling process.
    pub(super) fn limits_of_waiting(&self, task: &Task) -> Result<QueueLimits> {
        match &task.queue {
            // Its later runs are in the background.
            Some(limits) if *limits == QueueLimits::NONE && task.state.run() > 1 => {
                return Ok(self.base.settings.queue.limits());
            }
            Some(limits) => return Ok(limits.clone()),
            None => {}
        }
        match self.base.home.task(&task.id).spec() {
            Ok(spec) => Ok(spec.queue.unwrap_or_else(|| self.base.settings.queue.limits())),
            // The launch of the task reports what is wrong with its spec.
            Err(Error::Damaged { .. } | Error::NotFound(_)) => Ok(self.base.settings.queue.limits()),
            Err(error) => Err(error),
        }
    }
}
