//! Ending tasks: one request, the whole tree, a receipt.

use std::io;
use std::time::{Duration, Instant};

use mw_model::wire::{ControlReply, KillReceipt, Operation};
use mw_model::{Cause, Process, TaskId, TaskState};

use crate::control::Line;
use crate::ending::end_unsupervised;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::runtime::Runtime;
use crate::task::Scope;

/// How long a start that is under way may take before a kill gives up on it.
const START_PATIENCE: Duration = Duration::from_secs(10);
/// How long beyond the grace period a supervisor may take to answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(20);

/// How to end a task.
#[derive(Clone, Debug)]
pub struct KillRequest {
    /// Who asks.
    pub by: String,
    /// First signal.
    pub signal: i32,
    /// Time until SIGKILL; absent = the task's own.
    pub grace_ms: Option<u64>,
}

impl KillRequest {
    /// Asks politely first, and waits as long as the task's own limits say.
    #[must_use]
    pub const fn term(by: String) -> Self {
        const SIGTERM: i32 = 15;
        Self { by, signal: SIGTERM, grace_ms: None }
    }
}

/// Who was asked to end a task.
enum Asked {
    /// Its supervisor, who will answer.
    Supervisor(Line),
    /// Nobody: its files are gone, and its supervisor cannot be reached. Its first process lives.
    Nobody(Process),
    /// Nobody: there is nothing left of it.
    Over,
}

impl Runtime {
    /// Ends a task and everything it started; returns when all of it is dead. Killing what has ended
    /// is no error.
    ///
    /// # Errors
    /// When the task is unknown, or its supervisor cannot be reached.
    pub fn kill(&self, handle: &str, scope: &Scope, request: &KillRequest) -> Result<KillReceipt> {
        let id = self.resolve(handle, scope)?;
        let mut receipts = self.kill_all(&[id], request)?;
        receipts.pop().ok_or_else(|| Error::NotFound(handle.to_owned()))
    }

    /// Ends several tasks: all are signalled first, then waited for, so that they share one deadline.
    ///
    /// # Errors
    /// As [`Runtime::kill`].
    pub fn kill_all(&self, ids: &[TaskId], request: &KillRequest) -> Result<Vec<KillReceipt>> {
        let asked: Vec<_> = ids.iter().map(|id| (id, self.ask(id, request))).collect();
        let mut receipts = Vec::new();
        for (id, asked) in asked {
            let mut receipt = self.receipt(id, asked?, request)?;
            self.redactor(id).receipt(&mut receipt);
            receipts.push(receipt);
        }
        if self.home.waiting_flag().is_set() {
            self.reconcile_unsettled()?;
            self.pump_queue();
        }
        Ok(receipts)
    }

    fn ask(&self, id: &TaskId, request: &KillRequest) -> Result<Asked> {
        let patience = Instant::now() + START_PATIENCE;
        loop {
            // Most often the supervisor is there and need only be asked.
            if let Ok(line) = self.send(id, request) {
                return Ok(Asked::Supervisor(line));
            }
            let task = self.current(id)?;
            if let Some(process) = self.vanished(&task, &self.look_at(&task)?)? {
                return Ok(Asked::Nobody(process.clone()));
            }
            match &task.state {
                TaskState::Pending { .. } => {
                    if self.cancel_pending(id, request)? {
                        return Ok(Asked::Over);
                    }
                }
                TaskState::Ended { .. } if task.survivors == 0 => return Ok(Asked::Over),
                _ if Instant::now() > patience => {
                    let message = "its supervisor does not answer".to_owned();
                    return Err(Error::Refused { id: id.to_string(), message });
                }
                _ => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    fn send(&self, id: &TaskId, request: &KillRequest) -> io::Result<Line> {
        let mut line = Line::connect(&self.home, id)?;
        let operation =
            Operation::Kill { by: request.by.clone(), signal: request.signal, grace_ms: request.grace_ms };
        line.send(operation)?;
        fail_point("kill-sent");
        Ok(line)
    }

    fn receipt(&self, id: &TaskId, asked: Asked, request: &KillRequest) -> Result<KillReceipt> {
        let mut asked = asked;
        for _ in 0..5 {
            let mut line = match asked {
                Asked::Supervisor(line) => line,
                Asked::Nobody(process) => return self.end_vanished(id, &process, request),
                Asked::Over => break,
            };
            let grace = Duration::from_millis(request.grace_ms.unwrap_or(self.settings.limits.kill_grace_ms));
            let _ = line.set_patience(Some(grace + ANSWER_PATIENCE));
            if let Ok(ControlReply::Killed { receipt }) = line.reply() {
                return Ok(receipt);
            }
            // The supervisor was killed meanwhile; its stand-in is asked again.
            asked = self.ask(id, request)?;
        }
        let task = self.current(id)?;
        let is_over = matches!(task.state, TaskState::Ended { .. }) && task.survivors == 0;
        if !is_over {
            let message = "its supervisor was asked to end it and does not say that it has: look at `mw status`, \
                           and kill it again";
            return Err(Error::Refused { id: id.to_string(), message: message.to_owned() });
        }
        let status = task.status;
        Ok(KillReceipt {
            id: id.to_string(),
            status,
            requested_by: request.by.clone(),
            signals: Vec::new(),
            killed: Vec::new(),
            killed_more: 0,
            survivors: Vec::new(),
            duration_ms: 0,
        })
    }

    /// Takes a task out of the queue; false when it has left it meanwhile.
    fn cancel_pending(&self, id: &TaskId, request: &KillRequest) -> Result<bool> {
        let now = self.clock.now();
        let store = self.durable()?;
        let transaction = store.begin(&self.home.tasks())?;
        let Some(mut task) = transaction.task(id)? else {
            return Ok(true);
        };
        if !matches!(task.state, TaskState::Pending { .. }) {
            return Ok(false);
        }
        let cause = Cause::Cancelled { by: request.by.clone(), exit: None };
        end_unsupervised(&self.home, &transaction, &mut task, cause, now)?;
        transaction.commit()?;
        self.ring();
        Ok(true)
    }
}
