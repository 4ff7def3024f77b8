//! Ends tasks that have no supervisor to ask: their files were removed while they ran, or they could not be adopted
//! after their supervisors were killed. Their processes are found and signalled from here.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use mw_model::signal::{SIGCONT, SIGKILL};
use mw_model::wire::{KillReceipt, SentSignal, Survivor};
use mw_model::{Cause, Exit, Process, TaskId, asks_to_end, signal_name};

use super::KillRequest;
use crate::disk::platform;
use crate::error::{Error, Result};
use crate::live::Live;
use crate::reconcile::Reconciler;

/// How often the process table is scanned while processes end.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long processes may take to die after SIGKILL.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);
/// How many survivors a receipt lists.
const MAX_NAMED: usize = 32;

impl Live<'_> {
    /// Ends the processes of a task that can be found, and reports those that could not be ended.
    pub(crate) fn kill_unsupervised(
        &self,
        id: &TaskId,
        process: &Process,
        request: &KillRequest,
    ) -> Result<KillReceipt> {
        let begun = Instant::now();
        let grace =
            Duration::from_millis(request.grace_ms.unwrap_or(self.base.settings.limits.kill_grace_ms));
        let mut processes =
            LiveProcesses { task: id.as_str(), process, reached: BTreeSet::new(), signals: Vec::new() };
        let mut left = processes.send(request.signal, self.base.clock.now())?;
        if !request.ends() {
            return self.receipt_of(id, processes, &BTreeMap::new(), request, begun);
        }
        let deadline = begun + grace;
        while !left.is_empty() && Instant::now() < deadline {
            std::thread::sleep(POLL_INTERVAL);
            left = processes.living()?;
        }
        let deadline = Instant::now() + KILL_TIMEOUT;
        while !left.is_empty() && Instant::now() < deadline {
            // Processes that were started meanwhile get the signal in the next round.
            let _ = processes.send(SIGKILL, self.base.clock.now())?;
            std::thread::sleep(POLL_INTERVAL);
            left = processes.living()?;
        }
        if left.is_empty() {
            self.note_killed(id, request)?;
        }
        self.receipt_of(id, processes, &left, request, begun)
    }

    fn receipt_of(
        &self,
        id: &TaskId,
        processes: LiveProcesses<'_>,
        left: &BTreeMap<u32, u64>,
        request: &KillRequest,
        begun: Instant,
    ) -> Result<KillReceipt> {
        let reached = if request.ends() { processes.reached } else { BTreeSet::new() };
        Ok(KillReceipt {
            id: id.clone(),
            status: Reconciler::on(self.base).current(id)?.status,
            requested_by: request.by.clone(),
            signals: processes.signals,
            killed: reached.into_iter().filter(|pid| !left.contains_key(pid)).collect(),
            killed_more: 0,
            survivors: left
                .keys()
                .take(MAX_NAMED)
                .map(|pid| Survivor { pid: *pid, command: platform::command_of(*pid) })
                .collect(),
            duration_ms: mw_model::millis(begun.elapsed()),
        })
    }
}

impl Live<'_> {
    /// Records who ended an unsupervised task. Its exit status is unknown.
    fn note_killed(&self, id: &TaskId, request: &KillRequest) -> Result<()> {
        if let Some(reason) = self.base.untended.borrow_mut().remove(id) {
            let exit = Some(Exit::Unknown(reason));
            let cause = Cause::Cancelled { by: request.by.clone(), exit };
            let run = self.base.database.stored(id)?.state.run();
            self.base.database.record_unsupervised(id, run, cause)?;
        }
        Ok(())
    }
}

/// The processes of a task that is being ended.
struct LiveProcesses<'task> {
    task: &'task str,
    process: &'task Process,
    reached: BTreeSet<u32>,
    signals: Vec<SentSignal>,
}

impl LiveProcesses<'_> {
    fn living(&self) -> Result<BTreeMap<u32, u64>> {
        platform::tree_of(self.task, self.process)
            .map_err(Error::io(format!("cannot search for the processes of {}", self.task)))
    }

    /// Signals all live processes and returns them. A stopped process receives the signal when it continues.
    fn send(&mut self, number: i32, at: mw_model::Timestamp) -> Result<BTreeMap<u32, u64>> {
        let living = self.living()?;
        for (pid, ticks) in &living {
            if platform::signal(*pid, *ticks, number) {
                self.reached.insert(*pid);
                if asks_to_end(number) && number != SIGKILL {
                    let _ = platform::signal(*pid, *ticks, SIGCONT);
                }
            }
        }
        let name = signal_name(number);
        if !living.is_empty() && self.signals.last().is_none_or(|last| last.signal != name) {
            self.signals.push(SentSignal { signal: name, at });
        }
        Ok(living)
    }
}
