//! Limits on time: how long a run may take, and until when.

use mw_model::TimeLimit;
use mw_model::signal::SIGTERM;
use mw_model::wire::{EndRequest, JournalEntry};

use super::supervise::Supervisor;
use crate::clock;

impl Supervisor {
    /// Returns the next time limit and when it is reached, on the monotonic clock.
    pub(super) fn time_limit_due(&self) -> Option<(TimeLimit, u64)> {
        if self.time_limit_reached {
            return None;
        }
        let limits = &self.run.message.limits;
        let run = limits
            .run_timeout_ms
            .map(|ms| (TimeLimit::Run(ms), self.run.board.started_ms.get().saturating_add(ms)));
        let deadline = limits.deadline.map(|at| {
            let left = at.ms_since(clock::wall());
            (TimeLimit::Deadline, clock::monotonic_ms().saturating_add(left))
        });
        run.into_iter().chain(deadline).min_by_key(|(_, due)| *due)
    }

    /// Ends the tree if a time limit is reached.
    pub(super) fn check_time_limits(&mut self, now: u64) {
        let Some((limit, _)) = self.time_limit_due().filter(|(_, due)| now >= *due) else { return };
        self.time_limit_reached = true;
        self.journal(JournalEntry::LimitReached { limit });
        self.grace_ms = self.run.message.limits.timeout_grace_ms;
        self.begin_ending(Some(EndRequest::Limit(limit)), SIGTERM);
    }
}
