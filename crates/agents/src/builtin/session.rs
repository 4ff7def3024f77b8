//! One session of the agent: its settings and its state.

use std::sync::{Arc, Mutex};

use meanwhile::Meanwhile;
use meanwhile::engine::Policy;
use mw_policy::Mode;
use tokio_util::sync::CancellationToken;

use super::conversation::{Conversation, Record};
use super::files::ProjectRoots;
use super::servers::Servers;
use super::session_log::{SessionLog, SessionLogError};
use crate::lock::Lock;
use mw_tools::call::CallSettings;

/// A session of the agent.
pub(super) struct AcpSession {
    pub(super) id: String,
    pub(super) roots: ProjectRoots,
    /// The home, with the settings of the project.
    pub(super) home: Meanwhile,
    /// The settings for calls of the engine's tools.
    pub(super) call_settings: CallSettings,
    /// The system prompt.
    pub(super) system: String,
    /// The MCP servers of the client.
    pub(super) servers: tokio::sync::RwLock<Servers>,
    pub(super) mode: Mutex<Mode>,
    /// The parent of the tokens of all requested turns. At most one of them runs. The others are about to be refused.
    pub(super) turns: Mutex<CancellationToken>,
    /// The state of the session. The running turn holds the lock.
    pub(super) work: Arc<tokio::sync::Mutex<Work>>,
}

/// The state that a turn changes.
pub(super) struct Work {
    pub(super) store: SessionLog,
    pub(super) conversation: Conversation,
}

impl AcpSession {
    /// Returns the settings for a call that begins now. The client may have changed the mode.
    pub(super) fn call_settings_now(&self) -> CallSettings {
        let policy = Policy { mode: self.mode(), ..self.call_settings.policy.clone() };
        CallSettings { policy, ..self.call_settings.clone() }
    }

    /// Returns the maximum size of a reply of a file tool or an MCP server, which is larger than that of a command.
    pub(super) fn most_bytes(&self) -> usize {
        usize::try_from(self.call_settings.reply_bytes.saturating_mul(4)).unwrap_or(usize::MAX)
    }

    pub(super) fn mode(&self) -> Mode {
        *self.mode.locked()
    }

    pub(super) fn set_mode(&self, mode: Mode) {
        *self.mode.locked() = mode;
    }

    /// Returns the token of a requested turn. It can be cancelled from now on, even before it begins.
    pub(super) fn expect_turn(&self) -> CancellationToken {
        self.turns.locked().child_token()
    }

    /// Cancels all turns that were requested so far.
    pub(super) fn cancel(&self) {
        std::mem::take(&mut *self.turns.locked()).cancel();
    }
}

impl Work {
    /// Adds results for calls that were interrupted by a crash or a write error.
    pub(super) fn mend(&mut self) -> Result<(), SessionLogError> {
        let why = "the agent ended before this call was answered; it may have taken effect";
        self.conversation.unanswered().iter().try_for_each(|call| self.note(call.not_run(why)))
    }

    /// Adds a record. It is on disk when this returns.
    pub(super) fn note(&mut self, record: Record) -> Result<(), SessionLogError> {
        tokio::task::block_in_place(|| self.store.append(&record))?;
        self.conversation.take(record);
        Ok(())
    }
}
