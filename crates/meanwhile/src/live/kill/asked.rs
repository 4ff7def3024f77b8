//! A supervisor that was asked to kill: its answer, and whether it is able to give one.

use std::io;
use std::time::{Duration, Instant};

use mw_model::wire::{ControlReply, Operation};

use crate::disk::platform;
use crate::supervisor::control::Connection;

/// How long an answer may take before the supervisor is asked whether it is there at all. Its grace period may be long.
const TIMEOUT: Duration = Duration::from_secs(1);
/// How long it may take to say that it is there.
const SILENCE: Duration = Duration::from_secs(4);
/// How long the rest of a line may take whose beginning is there.
const REPLY_PATIENCE: Duration = Duration::from_secs(1);

/// A supervisor that was asked.
pub(super) struct Asked {
    connection: Connection,
    /// When it was last known to be able to answer.
    heard: Instant,
    /// Where it was asked whether it is there.
    call: Option<Connection>,
}

impl Asked {
    pub(super) fn on(connection: Connection) -> Self {
        Self { connection, heard: Instant::now(), call: None }
    }

    /// Returns the connections on which something may be said.
    pub(super) fn connections(&self) -> impl Iterator<Item = &Connection> {
        std::iter::once(&self.connection).chain(&self.call)
    }

    /// Returns the answer if it has come; an error when the supervisor has died instead.
    pub(super) fn answer(&mut self) -> Option<io::Result<ControlReply>> {
        said(&mut self.connection)
    }

    /// Looks after a supervisor that has not answered: one that is stopped is continued. Returns what is wrong when it
    /// does not even say that it is there.
    pub(super) fn silent_supervisor(
        &mut self,
        connect: impl FnOnce() -> io::Result<Connection>,
    ) -> Option<String> {
        let waited = self.heard.elapsed();
        let supervisor = self.connection.peer();
        if waited >= TIMEOUT / 10
            && let Some(pid) = supervisor
        {
            platform::continue_if_stopped(pid);
        }
        let Some(call) = &mut self.call else {
            if waited >= TIMEOUT {
                // One that has died is noticed on the first connection.
                let mut call = connect().ok()?;
                call.send(Operation::Status).ok()?;
                self.call = Some(call);
            }
            return None;
        };
        if said(call).is_some() {
            self.call = None;
            self.heard = Instant::now();
            return None;
        }
        (waited >= TIMEOUT + SILENCE).then(|| {
            let who = supervisor.map_or_else(String::new, |pid| format!(" (pid {pid})"));
            format!(
                "its supervisor{who} has not answered for {} s; it has the request and will act on it when it runs again",
                waited.as_secs()
            )
        })
    }
}

/// Returns what was said on a connection, without waiting.
fn said(connection: &mut Connection) -> Option<io::Result<ControlReply>> {
    if !platform::is_readable_within(connection, Duration::ZERO) {
        return None;
    }
    let _ = connection.set_timeout(Some(REPLY_PATIENCE));
    Some(connection.reply())
}
