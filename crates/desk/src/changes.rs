//! Watches for changes while a screen is shown.

use std::ops::ControlFlow;
use std::time::Duration;

use meanwhile::engine::TaskEvent;
use meanwhile::{Result, TaskFilter};

use crate::desk::Desk;
use crate::proposals::{OpenRequest, open_requests};
use crate::rows::ApprovalRow;

/// The maximum time between two checks for approval requests. They are not task events, so no wake-up reports them.
const MAX_CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// A change that a live screen must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeskChange {
    /// The watch has started. Earlier changes are not reported.
    Watching,
    /// Tasks have changed.
    Tasks,
    /// These approval requests are open, oldest first.
    Asked(Vec<OpenRequest>),
}

/// A change that a program follows.
#[derive(Clone, Debug)]
pub enum DeskEvent {
    /// Events of tasks, oldest first.
    Events(Vec<TaskEvent>),
    /// Tasks were removed, or added without an event. This is the new number of tasks.
    Total(u64),
    /// The open approval requests have changed. These are open now, oldest first.
    Approvals(Vec<ApprovalRow>),
}

impl Desk {
    /// Returns the position of the newest event.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read.
    pub fn last_event(&self) -> Result<i64> {
        self.with(|runtime| runtime.tasks().last_event())
    }

    /// Returns events after a position, oldest first.
    ///
    /// # Errors
    /// Fails if the home directory cannot be read.
    pub fn events_after(&self, seq: i64, most: u32) -> Result<Vec<TaskEvent>> {
        self.with(|runtime| runtime.tasks().events_after(seq, &self.scope(), None, most))
    }

    /// Reports events after a position, and what has no events, until `tell` returns `Break`. It is called at least
    /// every two seconds, with nothing if nothing has changed.
    ///
    /// # Errors
    /// Fails if the home directory can no longer be watched. The call can be repeated from the last event.
    pub fn watch_events(
        &self,
        seq: i64,
        mut tell: impl FnMut(Option<DeskEvent>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.with(|runtime| {
            let mut subscription = runtime.notifications().subscribe_after(seq, self.scope())?;
            let (mut asked, mut number) = (None, None);
            loop {
                let events = subscription.next_or_wake_up(MAX_CHECK_INTERVAL)?;
                let has_events = !events.is_empty();
                let all = TaskFilter { limit: 0, ..TaskFilter::new(self.scope()) };
                let total = runtime.tasks().list(&all)?.total;
                let open = self.approvals()?;
                let changes = [
                    has_events.then_some(DeskEvent::Events(events)),
                    (number.replace(total) != Some(total)).then_some(DeskEvent::Total(total)),
                    (asked.as_ref() != Some(&open)).then(|| DeskEvent::Approvals(open.clone())),
                ];
                asked = Some(open);
                if tell(None).is_break()
                    || changes.into_iter().flatten().any(|change| tell(Some(change)).is_break())
                {
                    return Ok(());
                }
            }
        })
    }

    /// Reports changes until `tell` returns `Break`.
    ///
    /// # Errors
    /// Fails if the home directory can no longer be watched. The call can be repeated.
    pub fn watch(&self, mut tell: impl FnMut(DeskChange) -> ControlFlow<()>) -> Result<()> {
        self.with(|runtime| {
            let mut subscription = runtime.notifications().subscribe(self.scope())?;
            let mut before = Vec::new();
            let mut is_watching = false;
            let mut number = None;
            loop {
                let mut changes = Vec::new();
                // The removal of a task is not a task event, so the number of tasks is compared.
                let all = TaskFilter { limit: 0, ..TaskFilter::new(self.scope()) };
                let total = runtime.tasks().list(&all)?.total;
                if number.replace(total).is_some_and(|before| before != total) {
                    changes.push(DeskChange::Tasks);
                }
                let access = self.access();
                let asked = open_requests(runtime, access.session.as_deref(), access.keep)?;
                // A request whose answer failed is reported again.
                if asked != before || !asked.is_empty() {
                    changes.push(DeskChange::Asked(asked.clone()));
                    before = asked;
                }
                if !is_watching {
                    changes.push(DeskChange::Watching);
                    is_watching = true;
                }
                if changes.into_iter().any(|change| tell(change).is_break()) {
                    return Ok(());
                }
                if !subscription.next(MAX_CHECK_INTERVAL)?.is_empty() && tell(DeskChange::Tasks).is_break() {
                    return Ok(());
                }
            }
        })
    }
}
