//! Counts the clients of each session of an HTTP server. A session is released when its last client has left.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use mw_model::is_session_name;
use rmcp::model::Extensions;

use super::server::Server;
use crate::hosts::{SessionEvidence, session_of};
use crate::lock::Lock;

/// The header that names the client of a request. Clients of the revision without `initialize` do not send it.
pub(super) const CLIENT_HEADER: &str = "mcp-session-id";

/// The sessions of each client that has not left.
#[derive(Default)]
pub(super) struct HttpClients(Mutex<HashMap<String, HashSet<String>>>);

impl HttpClients {
    /// Records that a client uses a session.
    pub(super) fn note(&self, client: &str, session: &str) {
        let mut known = self.0.locked();
        known.entry(client.to_owned()).or_default().insert(session.to_owned());
    }

    /// Returns the clients that have not left.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.locked().keys().cloned().collect()
    }

    /// Removes a client that has left, and those that no longer live. Returns its sessions that no other client uses.
    pub(super) fn left(&self, client: &str, lives: impl Fn(&str) -> bool) -> Vec<String> {
        let mut known = self.0.locked();
        let mut sessions = known.remove(client).unwrap_or_default();
        known.retain(|other, _| lives(other));
        sessions.retain(|session| !known.values().any(|theirs| theirs.contains(session)));
        sessions.into_iter().collect()
    }
}

/// Returns a header of a message over HTTP.
pub(super) fn header<'a>(extensions: &'a Extensions, name: &str) -> Option<&'a str> {
    extensions.get::<http::request::Parts>()?.headers.get(name)?.to_str().ok()
}

impl Server {
    /// Returns the session of a message, and records that its client uses it.
    pub(super) fn session_of(&self, mut evidence: SessionEvidence, extensions: &Extensions) -> String {
        if let Some(session) = header(extensions, "x-meanwhile-session").filter(|_| !evidence.is_bound)
            && is_session_name(session)
        {
            evidence.meanwhile_session = Some(session.to_owned());
        }
        let session = session_of(&evidence);
        if let Some(client) = header(extensions, CLIENT_HEADER) {
            self.inner.clients.note(client, &session);
        }
        session
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_released_when_its_last_live_client_leaves() {
        let clients = HttpClients::default();
        for (client, session) in [("a", "s"), ("b", "s"), ("b", "t"), ("c", "t")] {
            clients.note(client, session);
        }
        assert_eq!(clients.left("a", |_| true), [""; 0]);
        assert_eq!(clients.left("b", |other| other != "c").len(), 2, "c no longer lives");
        assert_eq!(clients.left("c", |_| true), [""; 0]);
        assert_eq!(clients.names(), [""; 0]);
    }
}
