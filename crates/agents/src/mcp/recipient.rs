//! The client of a call: which notifications its reply carries, and which ends it will report.

use std::sync::{Arc, Mutex};

use meanwhile::engine::is_shared;

use super::http_clients::{CLIENT_HEADER, header};
use super::http_receipts::HttpPendingCall;
use super::server::{Context, Inner, Server};
use crate::delivery::deliveries::Recipient;
use crate::delivery::pending_calls::PendingCall;
use crate::delivery::session_thread::Reservation;
use crate::lock::Lock;

/// The ends that the reply to a call will report, because the call waits for them. They are reserved before the wait
/// begins, so no other reply reports an end that the wait sees.
#[derive(Clone, Default)]
pub(super) struct Awaited(Arc<Mutex<Expected>>);

#[derive(Default)]
struct Expected {
    reserved: Vec<Reservation>,
    /// The call, as long as it is unknown which tasks it waits for. No reply with notifications is written meanwhile.
    pending: Option<PendingCall>,
}

impl Awaited {
    fn change<T>(&self, change: impl FnOnce(&mut Expected) -> T) -> T {
        change(&mut self.0.locked())
    }

    pub(super) fn add(&self, reserved: Option<Reservation>) {
        self.change(|expected| expected.reserved.extend(reserved));
        self.complete();
    }

    /// Records that nothing more will be reserved.
    pub(super) fn complete(&self) {
        drop(self.change(|expected| expected.pending.take()));
    }

    pub(super) fn take(&self) -> Vec<Reservation> {
        self.change(|expected| std::mem::take(&mut expected.reserved))
    }
}

/// The recipients of one of several clients of a server. Their undelivered notifications are released when this is
/// dropped.
pub(super) struct ClientRecipients {
    inner: Arc<Inner>,
    recipients: Mutex<Vec<Recipient>>,
}

impl ClientRecipients {
    fn add(&self, recipient: &Recipient) {
        let mut recipients = self.recipients.locked();
        if !recipients.contains(recipient) {
            recipients.push(recipient.clone());
        }
    }
}

impl Drop for ClientRecipients {
    fn drop(&mut self) {
        let recipients = self.recipients.locked();
        recipients.iter().for_each(|recipient| self.inner.deliveries.forget(recipient));
    }
}

impl Server {
    /// Returns a clone of the server for one of several clients.
    pub(super) fn for_client(&self) -> Self {
        let seat = ClientRecipients { inner: Arc::clone(&self.inner), recipients: Mutex::default() };
        Self { inner: Arc::clone(&self.inner), seat: Some(Arc::new(seat)) }
    }

    /// Creates the set of ends that the reply to a call will report. It is empty at first.
    pub(super) fn awaited(&self, tool: &str, context: &Context) -> Awaited {
        let parts = context.extensions.get::<http::request::Parts>();
        let pending = match parts.and_then(|parts| parts.extensions.get::<HttpPendingCall>()) {
            Some(pending) => pending.take(),
            None => self.inner.pending_calls.take(&context.id),
        };
        let pending = pending.filter(|_| self.inner.options.toolset.may_wait(tool));
        Awaited(Arc::new(Mutex::new(Expected { pending, ..Expected::default() })))
    }

    /// Returns the recipient of the reply to a call. Clients that share a session because none of them names one are
    /// independent, and each receives notifications of its own tasks.
    pub(super) fn recipient(&self, context: &Context, session: &str) -> Recipient {
        let id = header(&context.extensions, CLIENT_HEADER);
        let (Some(seat), Some(id), true) = (&self.seat, id, is_shared(session)) else {
            return session.into();
        };
        let recipient = Recipient { session: session.to_owned(), client: Some(id.to_owned()) };
        seat.add(&recipient);
        recipient
    }
}
