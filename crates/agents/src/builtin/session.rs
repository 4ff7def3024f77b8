//! One session of the agent: its settings and its state.

use std::sync::{Arc, Mutex, PoisonError};

use meanwhile::Settings;
use meanwhile::engine::Policy;
use mw_policy::Mode;
use tokio_util::sync::CancellationToken;

use super::conversation::{Answered, Call, Conversation, Record};
use super::files::Place;
use super::servers::Servers;
use super::store::{Store, StoreError};
use mw_tools::call::Premises;

/// One session.
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
    mode: Mutex<Mode>,
    /// The requested turns. At most one of them runs; the others are about to be refused.
    turns: Mutex<Turns>,
    /// Locked by the running turn.
    pub(super) work: Arc<tokio::sync::Mutex<Work>>,
}

/// The state that a turn changes.
pub(super) struct Work {
    store: Store,
    pub(super) conversation: Conversation,
    /// The tokens that the model counted last, and for how many records.
    pub(super) counted: Option<(usize, u64)>,
    /// The same before records were omitted for now.
    counted_whole: Option<(usize, u64)>,
}

/// The parts of a new session.
pub(super) struct Parts {
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) settings: Arc<Settings>,
    pub(super) premises: Premises,
    pub(super) system: String,
    pub(super) servers: Servers,
    pub(super) store: Store,
    pub(super) conversation: Conversation,
}

impl Session {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { id, place, settings, premises, system, servers, store, conversation } = parts;
        let mode = premises.policy.mode;
        let work = Work { store, conversation, counted: None, counted_whole: None };
        Self {
            id,
            place,
            settings,
            premises,
            mode: Mutex::new(mode),
            system,
            servers: tokio::sync::RwLock::new(servers),
            turns: Mutex::default(),
            work: Arc::new(tokio::sync::Mutex::new(work)),
        }
    }

    /// Returns the settings for a call that begins now: the client may have changed the mode.
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

    /// Registers a requested turn. From now on it can be cancelled, even before it begins.
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

/// A requested turn. Dropped when it has ended or was refused.
pub(super) struct ExpectedTurn {
    /// Cancelled to end the turn.
    pub(super) token: CancellationToken,
    pub(super) session: Arc<Session>,
    number: u64,
}

/// The requested turns that have not ended, by number.
#[derive(Default)]
struct Turns {
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
    /// Omits the first records for now, with this text instead.
    pub(super) fn leave_out(&mut self, text: String, covers: usize) {
        self.conversation.leave_out(text, covers);
        self.counted_whole = self.counted.take();
    }

    /// Restores records that were omitted for now.
    pub(super) fn bring_back(&mut self) {
        if self.conversation.is_cut() {
            self.conversation.bring_back();
            self.counted = self.counted_whole.take();
        }
    }

    /// Answers calls that were interrupted when the agent died or could not write. No endpoint accepts a conversation with
    /// unanswered calls.
    pub(super) fn mend(&mut self) -> Result<(), StoreError> {
        for Call { id, tool, .. } in self.conversation.unanswered() {
            let text = "the agent ended before this call was answered; it may have taken effect".to_owned();
            let answered =
                Answered { call: id, tool, text, failed: true, ran_badly: false, notices: Vec::new() };
            self.note(Record::Result(answered))?;
        }
        Ok(())
    }

    /// Adds a record. It is on disk when this returns.
    pub(super) fn note(&mut self, record: Record) -> Result<(), StoreError> {
        tokio::task::block_in_place(|| self.store.append(&record))?;
        self.conversation.take(record);
        Ok(())
    }
}
