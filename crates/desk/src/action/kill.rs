//! Kills tasks.

use meanwhile::Result;
use meanwhile::engine::KillRequest;
use meanwhile::model::signal::{SIGKILL, SIGTERM};

use super::tally::Tally;
use super::task_action::Force;
use crate::desk::Desk;
use crate::rows::receipt_lines;

impl Desk {
    /// Kills tasks and all their processes. Returns the whole receipt of a single task, or the counts for several.
    ///
    /// # Errors
    /// Fails if a single task cannot be killed, or the home directory cannot be opened.
    pub fn kill(&self, ids: &[String], force: Force) -> Result<Vec<String>> {
        let (signal, grace_ms) = match force {
            Force::Term => (SIGTERM, None),
            Force::Kill => (SIGKILL, Some(0)),
        };
        let request = KillRequest { by: self.access().requester.clone(), signal, grace_ms };
        self.with(|runtime| {
            if let [id] = ids {
                let name = runtime.tasks().task(id, &self.scope()).ok().and_then(|task| task.name);
                let receipt = runtime.live().kill(id, &self.scope(), &request)?;
                return Ok(receipt_lines(&receipt, name.as_deref()));
            }
            let mut tally = Tally::default();
            let (mut known, mut ended) = (Vec::new(), 0);
            for id in ids {
                match runtime.tasks().task(id, &self.scope()) {
                    Ok(task) if task.status.is_terminal() && task.survivors == 0 => ended += 1,
                    Ok(task) => known.push(task.id),
                    Err(error) => tally.failed(id, &error),
                }
            }
            let kills = runtime.live().kill_all(&known, &request);
            for failure in &kills.failures {
                tally.failed(failure.id.as_str(), &failure.error);
            }
            for receipt in &kills.receipts {
                match receipt.survivors.len() {
                    0 => tally.add(receipt.status.word()),
                    _ => tally.note("partly still alive", receipt_lines(receipt, None).join("\n")),
                }
            }
            (0..ended).for_each(|_| tally.add("already ended"));
            Ok(tally.lines())
        })
    }
}
