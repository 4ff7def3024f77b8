//! Delivers spans to whoever takes them. The database is the outbox: what could not be delivered stays, is counted,
//! and is tried again by the next process that would deliver anyway.
//!
//! One process delivers at a time; the kernel takes the lock back from the dead. A span is delivered at least once: a
//! deliverer that is killed between the receiver's answer and the note of it leaves it to the next.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;

use mw_model::Timestamp;

use crate::disk::store::ExportState;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::redact::Redaction;
use crate::span::Span;
use crate::trace::Traces;

/// How many spans are delivered at once.
const BATCH: u32 = 256;
/// How long after a failure the next try is due; doubles with each further one.
const FIRST_PAUSE_MS: u64 = 2_000;
const LONGEST_PAUSE_MS: u64 = 5 * 60_000;
/// How long spans are kept whose tasks were removed, when nobody takes them.
const PATIENCE_MS: i64 = 7 * 24 * 3600 * 1000;

/// When spans are to be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Unless the last try failed just now.
    WhenDue,
    /// Now, because somebody asks, who also waits for whoever is at it.
    Now,
}

/// What a receiver took.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// How many spans it threw away, and will not take again.
    pub rejected: u64,
    /// What it said to that.
    pub message: Option<String>,
}

impl Traces<'_> {
    /// Delivers all spans that wait, in batches, with `send`; returns how far that came. What `send` says when it fails
    /// is kept and shown.
    ///
    /// # Errors
    /// When the database fails. A delivery that fails is no error here: it is in what is returned.
    pub fn deliver_spans(
        &self,
        endpoint: &str,
        urgency: Urgency,
        mut send: impl FnMut(&[Span]) -> std::result::Result<Taken, String>,
    ) -> Result<ExportState> {
        loop {
            let Some(alone) = self.deliver_alone(urgency)? else { return self.export_state() };
            let mut goes_on = true;
            while goes_on && self.is_delivery_due(endpoint, urgency)? {
                let spans =
                    Redaction::on(self.base).spans_without_secrets(self.base.store()?.spans_waiting(BATCH)?);
                let sent = send(&spans);
                fail_point("spans-sent");
                goes_on = sent.is_ok();
                self.note_delivery(endpoint, &spans, sent)?;
            }
            drop(alone);
            // Somebody may have entered a span and left it to us just before the lock was given back.
            if !goes_on || !self.is_delivery_due(endpoint, urgency)? {
                return self.export_state();
            }
        }
    }

    /// Tells whether spans wait that are due, and nobody else is delivering them.
    ///
    /// Whoever is told so must deliver: for a moment it looked to others as if it did.
    ///
    /// # Errors
    /// When the database fails.
    pub fn owes_delivery(&self, endpoint: &str) -> Result<bool> {
        let urgency = Urgency::WhenDue;
        Ok(self.is_delivery_due(endpoint, urgency)? && self.deliver_alone(urgency)?.is_some())
    }

    /// Returns how far the export of spans has come.
    ///
    /// # Errors
    /// When the database fails.
    pub fn export_state(&self) -> Result<ExportState> {
        Ok(self.base.store()?.export_state()?)
    }

    /// Takes the lock of the one who delivers; nothing when somebody else is at it and nobody asks how that goes.
    fn deliver_alone(&self, urgency: Urgency) -> Result<Option<File>> {
        let failed = || Error::io("cannot lock the file \"exporting\"");
        let mut options = OpenOptions::new();
        let path = self.base.home.root().join("exporting");
        let file =
            options.write(true).create(true).truncate(false).mode(0o600).open(path).map_err(failed())?;
        match (file.try_lock(), urgency) {
            (Ok(()), _) => Ok(Some(file)),
            (Err(TryLockError::WouldBlock), Urgency::WhenDue) => Ok(None),
            (Err(TryLockError::WouldBlock), Urgency::Now) => {
                file.lock().map_err(failed())?;
                Ok(Some(file))
            }
            (Err(TryLockError::Error(error)), _) => Err(failed()(error)),
        }
    }

    fn is_delivery_due(&self, endpoint: &str, urgency: Urgency) -> Result<bool> {
        let state = self.export_state()?;
        let paused = match urgency {
            Urgency::Now => false,
            // Another receiver has not failed yet.
            Urgency::WhenDue => {
                let until = state.next_try_at.filter(|_| state.endpoint.as_deref() == Some(endpoint));
                until.is_some_and(|until| self.base.clock.now() < until)
            }
        };
        Ok(state.waiting > 0 && !paused)
    }

    fn note_delivery(
        &self,
        endpoint: &str,
        spans: &[Span],
        sent: std::result::Result<Taken, String>,
    ) -> Result<()> {
        let now = self.base.clock.now();
        self.base.transact(|transaction| {
            let mut state = ExportState {
                endpoint: Some(endpoint.to_owned()),
                tried_at: Some(now),
                error: None,
                next_try_at: None,
                ..self.export_state()?
            };
            match sent {
                Ok(taken) => {
                    transaction.spans_delivered(spans)?;
                    state.delivered += (spans.len() as u64).saturating_sub(taken.rejected);
                    state.rejected += taken.rejected;
                    state.error = taken.message;
                    state.failures = 0;
                }
                Err(error) => {
                    let pause =
                        FIRST_PAUSE_MS.saturating_mul(1 << state.failures.min(20)).min(LONGEST_PAUSE_MS);
                    state.failures = state.failures.saturating_add(1);
                    state.error = Some(error);
                    state.next_try_at = Some(now.plus_ms(pause));
                    let oldest = Timestamp::from_micros(now.as_micros() - PATIENCE_MS * 1000);
                    state.given_up += transaction.give_up_spans(oldest)?;
                }
            }
            Ok(transaction.set_export_state(&state)?)
        })
    }
}
