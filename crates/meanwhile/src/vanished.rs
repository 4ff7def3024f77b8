//! Tasks whose files somebody removed while they ran. Their supervisors cannot be asked any more, and no record of
//! theirs will ever be found: what the database knows of the first process is all there is.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use mw_model::wire::{KillReceipt, SentSignal, Survivor};
use mw_model::{Cause, Process, TaskId, TaskState, asks_to_end, signal_name};

use crate::control::Line;
use crate::error::{Error, Result};
use crate::kill::KillRequest;
use crate::platform;
use crate::reconcile::Findings;
use crate::runtime::Runtime;
use crate::task::Task;

const SIGKILL: i32 = 9;
const SIGCONT: i32 = 18;
/// How often the process table is looked through while processes end.
const LOOK: Duration = Duration::from_millis(20);
/// How long processes may take to die of SIGKILL.
const KILL_PATIENCE: Duration = Duration::from_secs(2);
/// How many survivors a receipt names.
const MOST_NAMED: usize = 32;

impl Runtime {
    /// Returns the first process of a task that runs and of which its directory says nothing any more.
    pub(crate) fn vanished<'task>(
        &self,
        task: &'task Task,
        findings: &Findings,
    ) -> Result<Option<&'task Process>> {
        let process = match &task.state {
            TaskState::Running { process, .. } | TaskState::Cancelling { process, .. } => process,
            TaskState::Pending { .. } | TaskState::Starting { .. } | TaskState::Ended { .. } => {
                return Ok(None);
            }
        };
        let run = task.state.run();
        let told = findings.supervised
            || findings.being_started
            || findings.record.is_some()
            || findings.journal.iter().any(|line| line.run == run);
        // Without a journal there is no lock, but its supervisor may still answer. It writes its record first.
        let answers = || {
            Ok::<_, Error>(Line::answers(&self.home, &task.id)? || self.home.result(&task.id, run)?.is_some())
        };
        Ok((!told && !answers()?).then_some(process))
    }

    /// Records such a task as lost once its process is gone. As long as that lives, it runs.
    pub(crate) fn lose(&self, task: &Task, process: &Process) -> Result<bool> {
        if platform::runs(process).map_err(Error::io(format!("cannot look at process {}", process.pid)))? {
            return Ok(false);
        }
        let what = if self.home.has_task(&task.id)? { "journal" } else { "directory" };
        let reason = format!("its {what} was removed while it ran");
        self.record_unsupervised(&task.id, task.state.run(), Cause::Lost { reason })
    }

    /// Ends what can be found of such a task, and says what could not be ended.
    pub(crate) fn end_vanished(
        &self,
        id: &TaskId,
        process: &Process,
        request: &KillRequest,
    ) -> Result<KillReceipt> {
        let begun = Instant::now();
        let grace = Duration::from_millis(request.grace_ms.unwrap_or(self.settings.limits.kill_grace_ms));
        let mut hunt = Hunt { task: id.as_str(), process, reached: BTreeSet::new(), signals: Vec::new() };
        let mut left = hunt.send(request.signal, self.clock.now())?;
        if !request.ends() {
            return self.receipt_of(id, hunt, BTreeMap::new(), request, begun);
        }
        let deadline = begun + grace;
        while !left.is_empty() && Instant::now() < deadline {
            std::thread::sleep(LOOK);
            left = hunt.living()?;
        }
        let deadline = Instant::now() + KILL_PATIENCE;
        while !left.is_empty() && Instant::now() < deadline {
            // What was started meanwhile is met in the next round.
            let _ = hunt.send(SIGKILL, self.clock.now())?;
            std::thread::sleep(LOOK);
            left = hunt.living()?;
        }
        self.receipt_of(id, hunt, left, request, begun)
    }

    fn receipt_of(
        &self,
        id: &TaskId,
        hunt: Hunt<'_>,
        left: BTreeMap<u32, u64>,
        request: &KillRequest,
        begun: Instant,
    ) -> Result<KillReceipt> {
        let reached = if request.ends() { hunt.reached } else { BTreeSet::new() };
        Ok(KillReceipt {
            id: id.to_string(),
            status: self.current(id)?.status,
            requested_by: request.by.clone(),
            signals: hunt.signals,
            killed: reached.into_iter().filter(|pid| !left.contains_key(pid)).collect(),
            killed_more: 0,
            survivors: left
                .keys()
                .take(MOST_NAMED)
                .map(|pid| Survivor { pid: *pid, command: platform::command_of(*pid) })
                .collect(),
            duration_ms: begun.elapsed().as_millis() as u64,
        })
    }
}

/// A task's processes on their way out.
struct Hunt<'task> {
    task: &'task str,
    process: &'task Process,
    reached: BTreeSet<u32>,
    signals: Vec<SentSignal>,
}

impl Hunt<'_> {
    fn living(&self) -> Result<BTreeMap<u32, u64>> {
        platform::tree_of(self.task, self.process)
            .map_err(Error::io(format!("cannot look for the processes of {}", self.task)))
    }

    /// Signals all that live; returns them. One that is stopped sees the signal when it goes on.
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
