//! The conversation with a supervisor that was asked to kill: its reply, and whether it still responds.

use std::io;
use std::time::{Duration, Instant};

use mw_model::wire::{ControlReply, Operation};

use crate::disk::platform;
use crate::supervisor::control::Connection;

/// How long a reply may take before the supervisor is probed. Its grace period may be long.
const TIMEOUT: Duration = Duration::from_secs(1);
/// How long the reply to a probe may take.
const PROBE_TIMEOUT: Duration = Duration::from_secs(4);
/// How long the rest of a line may take after its beginning was read.
const REPLY_TIMEOUT: Duration = Duration::from_secs(1);

/// The connections to a supervisor that was asked to kill.
pub(super) struct KillConversation {
    connection: Connection,
    /// When it last responded.
    last_response: Instant,
    /// The connection of a status request that checks whether it responds.
    probe: Option<Connection>,
}

impl KillConversation {
    pub(super) fn on(connection: Connection) -> Self {
        Self { connection, last_response: Instant::now(), probe: None }
    }

    /// Returns the connections on which a reply may arrive.
    pub(super) fn connections(&self) -> impl Iterator<Item = &Connection> {
        std::iter::once(&self.connection).chain(&self.probe)
    }

    /// Returns the reply if it has arrived, or an error if the supervisor has died instead.
    pub(super) fn answer(&mut self) -> Option<io::Result<ControlReply>> {
        try_reply(&mut self.connection)
    }

    /// Continues a stopped supervisor, and probes one that does not reply. Returns a message if it does not reply to
    /// the probe either.
    pub(super) fn unresponsive_supervisor(
        &mut self,
        connect: impl FnOnce() -> io::Result<Connection>,
    ) -> Option<String> {
        let waited = self.last_response.elapsed();
        let supervisor = self.connection.peer();
        if waited >= TIMEOUT / 10
            && let Some(pid) = supervisor
        {
            platform::continue_if_stopped(pid);
        }
        let Some(probe) = &mut self.probe else {
            if waited >= TIMEOUT {
                // If it has died, the first connection reports it.
                let mut probe = connect().ok()?;
                probe.send(Operation::Status).ok()?;
                self.probe = Some(probe);
            }
            return None;
        };
        if try_reply(probe).is_some() {
            self.probe = None;
            self.last_response = Instant::now();
            return None;
        }
        (waited >= TIMEOUT + PROBE_TIMEOUT).then(|| {
            let who = supervisor.map_or_else(String::new, |pid| format!(" (pid {pid})"));
            format!(
                "its supervisor{who} has not answered for {} s; it has the request and will act on it when it runs again",
                waited.as_secs()
            )
        })
    }
}

/// Returns the reply on a connection if it has arrived, without waiting.
fn try_reply(connection: &mut Connection) -> Option<io::Result<ControlReply>> {
    if !platform::is_readable_within(connection, Duration::ZERO) {
        return None;
    }
    let _ = connection.set_timeout(Some(REPLY_TIMEOUT));
    Some(connection.reply())
}
