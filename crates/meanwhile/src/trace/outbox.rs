//! Exports spans. The database is the outbox: spans that could not be exported stay there and are counted, and the
//! next process that exports tries them again.
//!
//! One process exports at a time; the kernel releases the lock of a process that dies. A span is exported at least
//! once: if the exporter is killed between the receiver's reply and the record of it, the next exporter sends the
//! span again.

use std::fs::File;

use mw_model::Timestamp;

use crate::disk::file_lock::{is_taken, open_private};
use crate::disk::names::EXPORT_LOCK_FILE;
use crate::disk::store::ExportState;
use crate::error::{Error, Result};
use crate::fail_point::fail_point;
use crate::redact::Redaction;
use crate::span::Span;
use crate::trace::Traces;

/// How many spans are sent at once.
const BATCH: u32 = 256;
/// How long after a failure the next try is due. The pause doubles with each further failure.
const FIRST_PAUSE_MS: u64 = 2_000;
const LONGEST_PAUSE_MS: u64 = 5 * 60_000;
/// How long spans of removed tasks are kept if no receiver takes them.
const PATIENCE_MS: i64 = 7 * 24 * 3600 * 1000;

/// When to export spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Unless the last try failed recently.
    WhenDue,
    /// Now, on request. The caller waits for a process that is already exporting.
    Now,
}

/// A receiver's reply.
#[derive(Clone, Debug, Default)]
pub struct ExportReceipt {
    /// How many spans it rejected. They are not sent again.
    pub rejected: u64,
    /// The receiver's message about them.
    pub message: Option<String>,
}

impl Traces<'_> {
    /// Exports all waiting spans in batches with `send`, and returns the state of the export. An error of `send` is
    /// stored and shown.
    ///
    /// # Errors
    /// When the database fails. A failed export is not an error here; it is part of the returned state.
    pub fn deliver_spans(
        &self,
        endpoint: &str,
        urgency: Urgency,
        mut send: impl FnMut(&[Span]) -> std::result::Result<ExportReceipt, String>,
    ) -> Result<ExportState> {
        loop {
            let Some(alone) = self.deliver_alone(urgency)? else { return self.export_state() };
            let mut goes_on = true;
            while goes_on && self.is_delivery_due(endpoint, urgency)? {
                let spans = Redaction::on(self.base)
                    .spans_without_secrets(self.base.database.store()?.spans_waiting(BATCH)?);
                let sent = send(&spans);
                fail_point("spans-sent");
                goes_on = sent.is_ok();
                self.note_delivery(endpoint, &spans, sent)?;
            }
            drop(alone);
            // Another process may have stored a span and left it to us just before the lock was released.
            if !goes_on || !self.is_delivery_due(endpoint, urgency)? {
                return self.export_state();
            }
        }
    }

    /// Returns whether spans are due and no other process is exporting.
    ///
    /// A caller that gets `true` must export, because it briefly held the lock.
    ///
    /// # Errors
    /// When the database fails.
    pub fn owes_delivery(&self, endpoint: &str) -> Result<bool> {
        let urgency = Urgency::WhenDue;
        Ok(self.is_delivery_due(endpoint, urgency)? && self.deliver_alone(urgency)?.is_some())
    }

    /// Returns the state of the export.
    ///
    /// # Errors
    /// When the database fails.
    pub fn export_state(&self) -> Result<ExportState> {
        Ok(self.base.database.store()?.export_state()?)
    }

    /// Takes the exporter's lock. Returns `None` if another process exports and the caller need not wait.
    fn deliver_alone(&self, urgency: Urgency) -> Result<Option<File>> {
        let failed = || Error::io("cannot lock the file \"exporting\"");
        let file = open_private(&self.base.home.root().join(EXPORT_LOCK_FILE)).map_err(failed())?;
        if !is_taken(file.try_lock()).map_err(failed())? {
            match urgency {
                Urgency::WhenDue => return Ok(None),
                Urgency::Now => file.lock().map_err(failed())?,
            }
        }
        Ok(Some(file))
    }

    fn is_delivery_due(&self, endpoint: &str, urgency: Urgency) -> Result<bool> {
        let state = self.export_state()?;
        let paused = match urgency {
            Urgency::Now => false,
            // The pause applies only to the receiver that failed.
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
        sent: std::result::Result<ExportReceipt, String>,
    ) -> Result<()> {
        let now = self.base.clock.now();
        self.base.database.transact(|transaction| {
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
