//! Kills tasks.

use meanwhile::Result;
use meanwhile::engine::KillRequest;
use meanwhile::model::TaskId;
use meanwhile::model::signal::{SIGKILL, SIGTERM};
use meanwhile::model::wire::KillReceipt;

use super::outcome::Failure;
use super::tally::Tally;
use super::wanted::Force;
use crate::desk::Desk;
use crate::rows::receipt_lines;

/// The result of killing tasks.
#[derive(Debug, Default)]
pub struct Killed {
    /// What was done to each.
    pub receipts: Vec<KillReceipt>,
    /// The name of the only one, if it has one.
    pub name: Option<String>,
    /// Tasks that had already ended, without survivors.
    pub over: Vec<TaskId>,
    /// Those of which it is not known that they ended.
    pub failures: Vec<Failure>,
}

impl Killed {
    /// Describes the result: for one task the whole receipt, for several the counts.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        if let ([receipt], [], []) = (&*self.receipts, &*self.over, &*self.failures) {
            return receipt_lines(receipt, self.name.as_deref());
        }
        let mut tally = Tally::default();
        self.failures.iter().for_each(|failure| tally.failed(failure));
        for receipt in &self.receipts {
            match receipt.survivors.len() {
                0 => tally.add(receipt.status.word()),
                _ => tally.note("partly still alive", receipt_lines(receipt, None).join("\n")),
            }
        }
        self.over.iter().for_each(|_| tally.add("already ended"));
        tally.lines()
    }
}

impl Desk {
    /// Ends tasks and everything they started.
    ///
    /// # Errors
    /// When it fails for the only one, or the home cannot be opened.
    pub fn kill(&self, ids: &[String], force: Force) -> Result<Killed> {
        let (signal, grace_ms) = match force {
            Force::Term => (SIGTERM, None),
            Force::Kill => (SIGKILL, Some(0)),
        };
        let request = KillRequest { by: self.access().requester.clone(), signal, grace_ms };
        self.with(|runtime| {
            if let [id] = ids {
                let name = runtime.tasks().task(id, &self.scope()).ok().and_then(|task| task.name);
                let receipts = vec![runtime.live().kill(id, &self.scope(), &request)?];
                return Ok(Killed { receipts, name, ..Killed::default() });
            }
            let mut killed = Killed::default();
            let mut known = Vec::new();
            for id in ids {
                match runtime.tasks().task(id, &self.scope()) {
                    Ok(task) if task.status.is_terminal() && task.survivors == 0 => killed.over.push(task.id),
                    Ok(task) => known.push(task.id),
                    Err(error) => killed.failures.push(Failure { id: id.clone(), error }),
                }
            }
            let kills = runtime.live().kill_all(&known, &request);
            let failed = kills.failures.into_iter();
            killed
                .failures
                .extend(failed.map(|failure| Failure { id: failure.id.to_string(), error: failure.error }));
            killed.receipts = kills.receipts;
            Ok(killed)
        })
    }
}
