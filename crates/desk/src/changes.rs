//! Watches for changes while a screen is shown.

use std::ops::ControlFlow;
use std::time::Duration;

use meanwhile::{Filter, Result};

use crate::desk::Desk;
use crate::proposals::{Proposed, proposed};

/// The maximum time between two checks for approval requests. They are not task events, so no wake-up reports them.
const MAX_CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// A change that a live screen must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The watch has started. Earlier changes are not reported.
    Watching,
    /// Tasks have changed.
    Tasks,
    /// These approval requests are open, oldest first.
    Asked(Vec<Proposed>),
}

impl Desk {
    /// Reports changes until `tell` returns `Break`.
    ///
    /// # Errors
    /// Fails if the home directory can no longer be watched. The call can be repeated.
    pub fn watch(&self, mut tell: impl FnMut(Change) -> ControlFlow<()>) -> Result<()> {
        self.with(|runtime| {
            let mut subscription = runtime.notifications().subscribe(self.scope())?;
            let mut before = Vec::new();
            let mut is_watching = false;
            let mut number = None;
            loop {
                let mut changes = Vec::new();
                // The removal of a task is not a task event, so the number of tasks is compared.
                let all = Filter { limit: 0, ..Filter::new(self.scope()) };
                let total = runtime.tasks().list(&all)?.total;
                if number.replace(total).is_some_and(|before| before != total) {
                    changes.push(Change::Tasks);
                }
                let asked = proposed(runtime, self.access())?;
                // A request whose answer failed is reported again.
                if asked != before || !asked.is_empty() {
                    changes.push(Change::Asked(asked.clone()));
                    before = asked;
                }
                if !is_watching {
                    changes.push(Change::Watching);
                    is_watching = true;
                }
                if changes.into_iter().any(|change| tell(change).is_break()) {
                    return Ok(());
                }
                if !subscription.next(MAX_CHECK_INTERVAL)?.is_empty() && tell(Change::Tasks).is_break() {
                    return Ok(());
                }
            }
        })
    }
}
