//! A kill request and its result.

use mw_model::signal::SIGTERM;
use mw_model::wire::{KillReceipt, Operation};
use mw_model::{TaskId, asks_to_end};

use crate::error::{Error, Result};

/// How to end or signal a task.
#[derive(Clone, Debug)]
pub struct KillRequest {
    /// Who asks.
    pub by: String,
    /// First signal. One that does not ask for an end (see [`asks_to_end`]) is only sent, unless a grace period is given.
    pub signal: i32,
    /// Time until SIGKILL; absent = the task's own; the largest number = never.
    pub grace_ms: Option<u64>,
}

/// In place of a grace period: the signal is only sent, also one that asks for an end.
pub(super) const ONLY_SENT: u64 = u64::MAX;

impl KillRequest {
    /// Returns a request that sends SIGTERM first, with the grace period of the task.
    #[must_use]
    pub const fn term(by: String) -> Self {
        Self { by, signal: SIGTERM, grace_ms: None }
    }

    /// Returns a request that only sends a signal, whatever it is.
    #[must_use]
    pub const fn only_send(by: String, signal: i32) -> Self {
        Self { by, signal, grace_ms: Some(ONLY_SENT) }
    }

    /// Returns whether the tasks are to end, or only to get a signal.
    #[must_use]
    pub const fn ends(&self) -> bool {
        match self.grace_ms {
            Some(ONLY_SENT) => false,
            Some(_) => true,
            None => asks_to_end(self.signal),
        }
    }

    pub(super) fn operation(&self) -> Operation {
        let by = self.by.clone();
        if self.ends() {
            Operation::Kill { by, signal: self.signal, grace_ms: self.grace_ms }
        } else {
            Operation::Signal { by, signal: self.signal }
        }
    }
}

/// The result of ending several tasks: each task is in one of the two lists, in the order of the request.
#[derive(Debug, Default)]
#[must_use]
pub struct KillReport {
    /// Receipts of the tasks that were ended or signalled.
    pub receipts: Vec<KillReceipt>,
    /// Tasks that may not have ended, and why.
    pub failures: Vec<KillFailure>,
}

/// A task that could not be ended, or whose end was not confirmed.
#[derive(Debug)]
pub struct KillFailure {
    /// Which.
    pub id: TaskId,
    /// Why.
    pub error: Error,
}

impl KillReport {
    /// Returns the receipts, or the first failure.
    ///
    /// # Errors
    /// When a task could not be ended.
    pub fn all_done(self) -> Result<Vec<KillReceipt>> {
        match self.failures.into_iter().next() {
            Some(failure) => Err(failure.error),
            None => Ok(self.receipts),
        }
    }
}
