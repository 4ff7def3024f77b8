//! Removing what nobody needs any more: by age, by number, by size. Never what lives, and never what its owner
//! has not been told of.

use mw_model::{TaskId, Timestamp};

use super::clear::{AT_ONCE, ClearReport, Retained, Untold};
use crate::disk::store::{Ended, Transaction};
use crate::error::Result;
use crate::runtime::Runtime;
use crate::settings::RetentionSettings;

/// How many tasks are looked at with one question.
const BATCH: u32 = 200;
/// How often finished tasks are looked through without being asked to.
const INTERVAL_S: i64 = 3600;
/// What a task takes on disk beside its output.
const OVERHEAD_BYTES: u64 = 16 << 10;
const MARK: &str = "purged";

/// What finished tasks take together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) count: u64,
    pub(crate) output_bytes: u64,
}

impl Totals {
    const fn bytes(self) -> u64 {
        self.output_bytes + self.count * OVERHEAD_BYTES
    }

    /// Tells whether there is too much of it.
    const fn exceed(self, limits: &RetentionSettings) -> bool {
        let many = limits.max_tasks > 0 && self.count > limits.max_tasks;
        let large = limits.max_disk > 0 && self.bytes() > limits.max_disk;
        many || large
    }
}

impl Runtime {
    /// Removes finished tasks that are too old, and the oldest while there are too many or they are too large. One
    /// that cannot be removed is named, and keeps no other.
    ///
    /// # Errors
    /// When the database fails.
    pub fn purge(&self) -> Result<ClearReport> {
        self.reconcile()?;
        let limits = self.settings.retention;
        let now = self.clock.now();
        let too_old =
            |task: &Ended| limits.max_age_ms > 0 && now.ms_since(task.ended_at) >= limits.max_age_ms;
        let mut report = ClearReport::default();
        loop {
            let mut totals = self.store()?.totals()?;
            let before = report.cleared.len();
            let mut expired = Vec::new();
            for task in self.store()?.oldest_ended(BATCH)? {
                if too_old(&task) || totals.exceed(&limits) {
                    // Others may be removing tasks too.
                    totals.count = totals.count.saturating_sub(1);
                    totals.output_bytes = totals.output_bytes.saturating_sub(task.output_bytes);
                    expired.push(task.id);
                }
            }
            for some in expired.chunks(AT_ONCE) {
                if let Err(error) = self.clear_finished(some, Untold::Stays, &mut report) {
                    let is_open = |id: &&TaskId| {
                        !report.cleared.contains(id) && !report.kept.iter().any(|kept| kept.id == **id)
                    };
                    let open: Vec<_> = some.iter().filter(is_open).collect();
                    report.kept.extend(open.into_iter().map(|id| Retained::because(id, &error)));
                }
            }
            if report.cleared.len() - before < BATCH as usize {
                self.forget_old_records()?;
                self.sweep_cleared()?;
                self.sweep_keepers()?;
                self.sweep_log_names();
                self.give_room_back();
                return Ok(report);
            }
        }
    }

    /// The record of questions and of what sessions did themselves is kept as long as tasks are.
    fn forget_old_records(&self) -> Result<()> {
        let age = self.settings.retention.max_age_ms;
        if age > 0 {
            let age = i64::try_from(age.saturating_mul(1000)).unwrap_or(i64::MAX);
            let before = Timestamp::from_micros(self.clock.now().as_micros().saturating_sub(age));
            self.transact(|transaction| {
                transaction.forget_approvals(before)?;
                Ok(transaction.forget_own_spans(before)?)
            })?;
        }
        Ok(())
    }

    /// Does so where a host begins its work, unless that is to be done by hand only.
    ///
    /// # Errors
    /// When the database fails.
    pub fn purge_at_startup(&self) -> Result<()> {
        if self.settings.retention.automatic { self.purge().map(drop) } else { Ok(()) }
    }

    /// Does so if that was long ago.
    pub(crate) fn purge_if_due(&self) -> Result<()> {
        if self.is_purge_due()? {
            self.transact(|transaction| self.note_purge(transaction))?;
            self.purge()?;
        }
        Ok(())
    }

    /// Notes that this was done just now.
    pub(crate) fn note_purge(&self, transaction: &Transaction<'_>) -> Result<()> {
        Ok(transaction.set_mark(MARK, self.clock.now().as_micros() / 1_000_000)?)
    }

    pub(crate) fn is_purge_due(&self) -> Result<bool> {
        let now = self.clock.now().as_micros() / 1_000_000;
        Ok(self.settings.retention.automatic && now - self.store()?.mark(MARK)? >= INTERVAL_S)
    }
}
