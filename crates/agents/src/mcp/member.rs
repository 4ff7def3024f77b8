//! Who is told by a reply, and what a reply will tell.

use std::sync::{Arc, Mutex, PoisonError};

use meanwhile::is_shared;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use super::server::{Inner, Server};
use crate::delivery::teller::{Member, Reserved};

/// What the reply to a call will tell, because the call waits for it. It is reserved before the wait looks for the first
/// time, so that no other reply tells an end that the wait sees.
#[derive(Clone, Default)]
pub(super) struct Awaited(Arc<Mutex<Vec<Reserved>>>);

impl Awaited {
    pub(super) fn add(&self, reserved: Option<Reserved>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(reserved);
    }

    pub(super) fn take(&self) -> Vec<Reserved> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The place of one of several clients. What it was not told is given up with its last clone.
pub(super) struct Seat {
    inner: Arc<Inner>,
    members: Mutex<Vec<Member>>,
}

impl Seat {
    fn add(&self, member: &Member) {
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        if !members.contains(member) {
            members.push(member.clone());
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let members = self.members.get_mut().unwrap_or_else(PoisonError::into_inner);
        members.iter().for_each(|member| self.inner.tellers.forget(member));
    }
}

impl Server {
    /// The same server for one of several clients.
    pub(super) fn for_client(&self) -> Self {
        let seat = Seat { inner: Arc::clone(&self.inner), members: Mutex::default() };
        Self { inner: Arc::clone(&self.inner), seat: Some(Arc::new(seat)) }
    }

    /// Returns who is told by the reply to a call. Clients that share a session because none of them names one know nothing
    /// of each other: each is told of its own starts.
    pub(super) fn member(&self, context: &RequestContext<RoleServer>, session: &str) -> Member {
        let parts = context.extensions.get::<http::request::Parts>();
        let id = parts.and_then(|parts| parts.headers.get("mcp-session-id")?.to_str().ok());
        let (Some(seat), Some(id), true) = (&self.seat, id, is_shared(session)) else {
            return session.into();
        };
        let member = Member { session: session.to_owned(), client: Some(id.to_owned()) };
        seat.add(&member);
        member
    }
}
