//! Ends and signals several tasks at once, and collects their receipts.

use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

use mw_model::wire::{ControlReply, KillReceipt};
use mw_model::{Cause, Process, TaskId, TaskState, signal_name};
use rustix::event::{PollFd, PollFlags};

use super::conversation::KillConversation;
use super::request::{KillFailure, KillReport, KillRequest};
use crate::database::Lookup;
use crate::disk::platform;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::live::Live;
use crate::reconcile::Reconciler;
use crate::redact::Redaction;
use crate::supervisor::control::Connection;
use crate::task::Scope;

/// How long a start that is under way may take before a kill gives up on it.
const START_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a task that cannot be asked yet is tried again.
const RETRY: Duration = Duration::from_millis(2);
/// How often supervisors that have not answered are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How often the request is repeated because the supervisor was killed.
const MAX_TRIES: u32 = 5;

/// A task that is being ended.
struct Target {
    id: TaskId,
    tries: u32,
    stage: Stage,
}

enum Stage {
    /// The request was not sent yet: the task is being started, or its supervisor was killed and the guardian takes over.
    Unasked {
        since: Instant,
    },
    /// The request was sent, and the supervisor will answer.
    KillConversation(KillConversation),
    /// There is no supervisor to ask: its files are gone, or both supervisors were killed and no other can be started. The task
    /// may still run.
    Vanished(Process),
    Done(Result<KillReceipt>),
}

impl Live<'_> {
    /// Ends a task and all processes it started; returns when all of them are dead. Killing an ended task is not an error.
    ///
    /// # Errors
    /// When the task is unknown, or its supervisor does not answer.
    pub fn kill(&self, handle: &str, scope: &Scope, request: &KillRequest) -> Result<KillReceipt> {
        let id = Lookup::on(&self.base.database).resolve_to_act(handle, scope)?;
        let mut receipts = self.kill_all(&[id], request).all_done()?;
        receipts.pop().ok_or_else(|| Error::NotFound(handle.to_owned()))
    }

    /// Ends several tasks: all are signalled first, then waited for, so that they share one deadline. A failure of one task
    /// neither delays the others nor hides their receipts. Processes that keep the agent of a task alive end with it.
    pub fn kill_all(&self, ids: &[TaskId], request: &KillRequest) -> KillReport {
        let mut kills = self.kill_these(ids, request);
        if request.ends() {
            self.end_keepers(&mut kills, request);
        }
        if self.base.home.is_waiting_noted() && Reconciler::on(self.base).reconcile_unsettled().is_ok() {
            Reconciler::on(self.base).pump_queue();
        }
        kills
    }

    /// Ends the processes that keep the agents of these tasks alive, and adds them to the receipts.
    fn end_keepers(&self, kills: &mut KillReport, request: &KillRequest) {
        for mut receipt in std::mem::take(&mut kills.receipts) {
            match self.end_keeper(&receipt.id, request) {
                Ok(ended) => {
                    for kept in ended {
                        receipt.signals.extend(kept.signals);
                        receipt.killed.extend(kept.killed);
                        receipt.killed_more += kept.killed_more;
                        receipt.survivors.extend(kept.survivors);
                        receipt.duration_ms += kept.duration_ms;
                    }
                    kills.receipts.push(receipt);
                }
                Err(error) => kills.failures.push(KillFailure { id: receipt.id, error }),
            }
        }
    }

    fn kill_these(&self, ids: &[TaskId], request: &KillRequest) -> KillReport {
        let mut targets: Vec<Target> = Vec::new();
        for id in ids {
            if !targets.iter().any(|known| known.id == *id) {
                let stage = Stage::Unasked { since: Instant::now() };
                targets.push(Target { id: id.clone(), tries: 0, stage });
            }
        }
        let mut looked = Instant::now();
        while targets.iter().any(|target| !matches!(target.stage, Stage::Done(_))) {
            for target in &mut targets {
                if let Stage::Unasked { since } = target.stage {
                    target.stage =
                        self.ask(&target.id, request, since).unwrap_or_else(|error| Stage::Done(Err(error)));
                    target.tries += u32::from(matches!(target.stage, Stage::KillConversation(_)));
                }
            }
            // All other tasks have been signalled by now.
            for target in &mut targets {
                if let Stage::Vanished(process) = &target.stage {
                    target.stage = Stage::Done(self.kill_unsupervised(&target.id, process, request));
                }
            }
            let spoke = await_answers(&targets);
            let all = looked.elapsed() >= POLL_INTERVAL;
            if all {
                looked = Instant::now();
            }
            for (at, target) in targets.iter_mut().enumerate() {
                if all || spoke.contains(&at) {
                    self.hear_about(target, request);
                }
            }
        }
        let mut kills = KillReport::default();
        for Target { id, stage, .. } in targets {
            match stage {
                Stage::Done(Ok(mut receipt)) => {
                    Redaction::on(self.base).redactor(&id).receipt(&mut receipt);
                    kills.receipts.push(receipt);
                }
                Stage::Done(Err(error)) => kills.failures.push(KillFailure { id, error }),
                Stage::Unasked { .. } | Stage::KillConversation(_) | Stage::Vanished(_) => {}
            }
        }
        kills
    }

    /// Sends the request once, without waiting.
    fn ask(&self, id: &TaskId, request: &KillRequest, since: Instant) -> Result<Stage> {
        // Usually the supervisor is running and can be asked directly.
        if let Ok(connection) = self.send(id, request) {
            return Ok(Stage::KillConversation(KillConversation::on(connection)));
        }
        let task = Reconciler::on(self.base).current(id)?;
        if let Some(process) = Reconciler::on(self.base).out_of_reach(&task)? {
            return Ok(Stage::Vanished(process));
        }
        match &task.state {
            TaskState::Pending { .. } if !request.ends() => {
                let signal = signal_name(request.signal);
                Err(task.refusal(format!("it has not started and cannot receive {signal}")))
            }
            TaskState::Pending { .. } => match self.cancel_pending(id, request, since)? {
                true => self.nothing_left(id, request).map(|receipt| Stage::Done(Ok(receipt))),
                false => Ok(Stage::Unasked { since }),
            },
            TaskState::Ended { .. } if task.survivors == 0 => {
                self.nothing_left(id, request).map(|receipt| Stage::Done(Ok(receipt)))
            }
            _ if since.elapsed() > self.longest_start() => {
                let message = "its supervisor does not answer".to_owned();
                Err(Error::Unresponsive { id: id.clone(), message })
            }
            _ => Ok(Stage::Unasked { since }),
        }
    }

    /// Returns how long a start may take, with the user's hook before it.
    fn longest_start(&self) -> Duration {
        let hooks = &self.base.settings.hooks;
        START_TIMEOUT + hooks.before.as_ref().map_or(Duration::ZERO, |_| hooks.timeout)
    }

    fn send(&self, id: &TaskId, request: &KillRequest) -> io::Result<Connection> {
        let mut connection = Connection::connect(&self.base.home, id)?;
        connection.send(request.operation())?;
        fail_point("kill-sent");
        Ok(connection)
    }

    /// Reads the answer of a task's supervisor if it has arrived, and checks a supervisor that does not answer.
    fn hear_about(&self, target: &mut Target, request: &KillRequest) {
        let Stage::KillConversation(asked) = &mut target.stage else { return };
        let id = target.id.clone();
        let unresponsive =
            |message: String| Stage::Done(Err(Error::Unresponsive { id: id.clone(), message }));
        let next = match asked.answer() {
            None => {
                match asked.unresponsive_supervisor(|| Connection::connect(&self.base.home, &target.id)) {
                    None => return,
                    Some(message) => unresponsive(message),
                }
            }
            // The run had ended before the request, and another may follow.
            Some(Ok(ControlReply::Killed { receipt })) if request.ends() && self.may_follow(&receipt) => {
                Stage::Unasked { since: Instant::now() }
            }
            Some(Ok(ControlReply::Killed { receipt })) => Stage::Done(Ok(receipt)),
            Some(Ok(ControlReply::Refused { message })) => Stage::Done(Err(Error::Refused { id, message })),
            // A signal that is sent twice may have another meaning than one.
            Some(_) if !request.ends() => unresponsive(format!(
                "its supervisor was killed during the request to send {}; the signal may or may not have been sent",
                signal_name(request.signal)
            )),
            // The supervisor was killed; ask the guardian that has taken over.
            Some(_) if target.tries < MAX_TRIES => Stage::Unasked { since: Instant::now() },
            Some(_) => unresponsive("its supervisor did not confirm the kill".to_owned()),
        };
        target.stage = next;
    }

    /// Returns the receipt of a task without running processes.
    fn nothing_left(&self, id: &TaskId, request: &KillRequest) -> Result<KillReceipt> {
        Ok(KillReceipt {
            id: id.clone(),
            status: Reconciler::on(self.base).current(id)?.status,
            requested_by: request.by.clone(),
            signals: Vec::new(),
            killed: Vec::new(),
            killed_more: 0,
            survivors: Vec::new(),
            duration_ms: 0,
        })
    }

    /// Returns whether another run of a task may follow the one that a supervisor reports on.
    fn may_follow(&self, receipt: &KillReceipt) -> bool {
        let current = || Reconciler::on(self.base).current(&receipt.id);
        receipt.of_ended_run()
            && current().is_ok_and(|task| task.may_run_again() && !task.status.is_terminal())
    }

    /// Removes a task from the queue; false if it is no longer queued, or if the supervisor of its last run is about to exit.
    fn cancel_pending(&self, id: &TaskId, request: &KillRequest, since: Instant) -> Result<bool> {
        let cancelled = self.base.database.change(id, |changing| {
            let is_pending = matches!(changing.task().state, TaskState::Pending { .. });
            let is_supervised = || self.base.home.task(id).is_supervised();
            if is_pending && since.elapsed() < START_TIMEOUT && is_supervised()? {
                return Ok(false);
            }
            if is_pending {
                changing.end(Cause::Cancelled { by: request.by.clone(), exit: None })?;
            }
            Ok(is_pending)
        });
        match cancelled {
            Err(Error::NotFound(_)) => Ok(true),
            other => other,
        }
    }
}

/// Sleeps until a supervisor answers, or until the next check is due. Returns which supervisors answered.
fn await_answers(targets: &[Target]) -> BTreeSet<usize> {
    let is_unasked = |target: &Target| matches!(target.stage, Stage::Unasked { .. });
    let pause = if targets.iter().any(is_unasked) { RETRY } else { POLL_INTERVAL };
    let mut owners = Vec::new();
    let mut connections = Vec::new();
    for (at, target) in targets.iter().enumerate() {
        if let Stage::KillConversation(asked) = &target.stage {
            for connection in asked.connections() {
                owners.push(at);
                connections.push(PollFd::new(connection, PollFlags::IN));
            }
        }
    }
    if connections.is_empty() && pause == POLL_INTERVAL {
        return BTreeSet::new();
    }
    platform::poll_within(&mut connections, pause);
    let spoke = owners.iter().zip(&connections).filter(|(_, connection)| !connection.revents().is_empty());
    spoke.map(|(at, _)| *at).collect()
}
