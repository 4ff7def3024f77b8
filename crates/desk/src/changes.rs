//! Watches for changes while a screen is shown.

use std::ops::ControlFlow;
use std::time::Duration;

use meanwhile::{Filter, Result};

use crate::desk::Desk;
use crate::proposals::{Proposed, proposed};

/// Questions are no events of tasks, so they are looked for.
const LONGEST: Duration = Duration::from_secs(2);

/// Something that a live screen has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Changes are seen from now on. What happened before is to be looked up.
    Watching,
    /// Tasks have changed.
    Tasks,
    /// These wait for a person's answer, oldest first.
    Asked(Vec<Proposed>),
}

impl Desk {
    /// Reports changes until stopped.
    ///
    /// # Errors
    /// When the home cannot be watched any more. It can be tried again.
    pub fn watch(&self, mut tell: impl FnMut(Change) -> ControlFlow<()>) -> Result<()> {
        self.with(|runtime| {
            let mut subscription = runtime.notifications().subscribe(self.scope())?;
            let mut before = Vec::new();
            let mut is_watching = false;
            let mut number = None;
            loop {
                let mut changes = Vec::new();
                // A removal is no event of a task: it has none any more.
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
                if !subscription.next(LONGEST)?.is_empty() && tell(Change::Tasks).is_break() {
                    return Ok(());
                }
            }
        })
    }
}
