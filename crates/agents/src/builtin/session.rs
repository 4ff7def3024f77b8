//! One session of the agent: its settings and its state.

use std::sync::{Arc, Mutex, PoisonError};

use meanwhile::Settings;
use meanwhile::engine::Policy;
use mw_policy::Mode;
use tokio_util::sync::CancellationToken;

use super::conversation::{Conversation, Record};
use super::files::Place;
use super::servers::Servers;
use super::store::{Store, StoreError};
use mw_tools::call::Premises;

/// A session of the agent.
pub(super) struct Session {
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) settings: Arc<Settings>,
    /// The settings for calls of the engine's tools.
    pub(super) premises: Premises,
    /// The system prompt.
    pub(super) system: String,
    /// The MCP servers of the client.
    pub(super) servers: tokio::sync::RwLock<Servers>,
    pub(super) mode: Mutex<Mode>,
    /// The requested turns. At most one of them runs. The others are about to be refused.
    pub(super) turns: Mutex<Turns>,
    /// The state of the session. The running turn holds the lock.
    pub(super) work: Arc<tokio::sync::Mutex<Work>>,
}

/// The state that a turn changes.
pub(super) struct Work {
    store: Store,
    pub(super) conversation: Conversation,
    /// The number of records that the model last counted, and their tokens.
    pub(super) counted: Option<(usize, u64)>,
    /// The value of `counted` before records were omitted temporarily.
    counted_whole: Option<(usize, u64)>,
}

impl Session {
    /// Returns the settings for a call that begins now. The client may have changed the mode.
    pub(super) fn premises_now(&self) -> Premises {
        let policy = Policy { mode: self.mode(), ..self.premises.policy.clone() };
        Premises { policy, ..self.premises.clone() }
    }

    /// Returns the maximum size of a reply of a file tool or an MCP server, which is larger than that of a command.
    pub(super) fn most_bytes(&self) -> usize {
        usize::try_from(self.premises.reply_bytes.saturating_mul(4)).unwrap_or(usize::MAX)
    }

    pub(super) fn mode(&self) -> Mode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_mode(&self, mode: Mode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    /// Registers a requested turn. It can be cancelled from now on, even before it begins.
    pub(super) fn expect_turn(self: &Arc<Self>) -> ExpectedTurn {
        let token = CancellationToken::new();
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.last += 1;
        let number = turns.last;
        turns.open.push((number, token.clone()));
        ExpectedTurn { token, session: Arc::clone(self), number }
    }

    /// Cancels all requested turns.
    pub(super) fn cancel(&self) {
        let turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.open.iter().for_each(|(_, token)| token.cancel());
    }
}

/// A requested turn. It is dropped when the turn has ended or was refused.
pub(super) struct ExpectedTurn {
    /// The token that cancels the turn.
    pub(super) token: CancellationToken,
    pub(super) session: Arc<Session>,
    number: u64,
}

/// The requested turns that have not ended, by number.
#[derive(Default)]
pub(super) struct Turns {
    last: u64,
    open: Vec<(u64, CancellationToken)>,
}

impl Drop for ExpectedTurn {
    fn drop(&mut self) {
        let mut turns = self.session.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.open.retain(|(number, _)| *number != self.number);
    }
}

impl Work {
    pub(super) const fn new(store: Store, conversation: Conversation) -> Self {
        Self { store, conversation, counted: None, counted_whole: None }
    }

    /// Omits the first records temporarily and replaces them by this text.
    pub(super) fn leave_out(&mut self, text: String, covers: usize) {
        self.conversation.leave_out(text, covers);
        self.counted_whole = self.counted.take();
    }

    /// Restores the temporarily omitted records.
    pub(super) fn bring_back(&mut self) {
        if self.conversation.is_cut() {
            self.conversation.bring_back();
            self.counted = self.counted_whole.take();
        }
    }

    /// Adds results for calls that were interrupted by a crash or a write error.
    pub(super) fn mend(&mut self) -> Result<(), StoreError> {
        let why = "the agent ended before this call was answered; it may have taken effect";
        self.conversation.unanswered().iter().try_for_each(|call| self.note(call.not_run(why)))
    }

    /// Adds a record. It is on disk when this returns.
    pub(super) fn note(&mut self, record: Record) -> Result<(), StoreError> {
        tokio::task::block_in_place(|| self.store.append(&record))?;
        self.conversation.take(record);
        Ok(())
    }
}
