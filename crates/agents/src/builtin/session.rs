//! One session of the agent: what holds for it, and what it is doing.

use std::sync::{Arc, Mutex, PoisonError};

use meanwhile::Settings;
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
    /// What holds for calls of the engine's tools.
    pub(super) premises: Premises,
    /// What the model is told before anything else.
    pub(super) system: String,
    /// The tools of others.
    pub(super) servers: tokio::sync::RwLock<Servers>,
    mode: Mutex<Mode>,
    /// Cancelled to end the turn that is under way; each turn has its own.
    cancel: Mutex<CancellationToken>,
    /// Held by the turn that is under way: there is one at a time.
    pub(super) work: Arc<tokio::sync::Mutex<Work>>,
}

/// What a turn works on.
pub(super) struct Work {
    store: Store,
    pub(super) conversation: Conversation,
    /// What the model counted last: tokens, up to how many records.
    pub(super) counted: Option<(usize, u64)>,
}

/// What a session is made of.
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
        let work = Work { store, conversation, counted: None };
        Self {
            id,
            place,
            settings,
            premises,
            mode: Mutex::new(mode),
            system,
            servers: tokio::sync::RwLock::new(servers),
            cancel: Mutex::default(),
            work: Arc::new(tokio::sync::Mutex::new(work)),
        }
    }

    pub(super) fn mode(&self) -> Mode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_mode(&self, mode: Mode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    /// Begins a turn; returns what is cancelled to end it.
    pub(super) fn begin(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *self.cancel.lock().unwrap_or_else(PoisonError::into_inner) = token.clone();
        token
    }

    /// Ends the turn that is under way, if there is one.
    pub(super) fn cancel(&self) {
        self.cancel.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }
}

impl Work {
    /// Answers calls that were under way when the agent died, or could no longer write: no endpoint takes a
    /// conversation with open ones.
    pub(super) fn mend(&mut self) -> Result<(), StoreError> {
        for Call { id, tool, .. } in self.conversation.unanswered() {
            let text = "the agent ended before this call was answered; it may have taken effect".to_owned();
            let answered =
                Answered { call: id, tool, text, failed: true, ran_badly: false, notices: Vec::new() };
            self.note(Record::Result(answered))?;
        }
        Ok(())
    }

    /// Notes what happened. It is on disk when this returns.
    pub(super) fn note(&mut self, record: Record) -> Result<(), StoreError> {
        tokio::task::block_in_place(|| self.store.append(&record))?;
        self.conversation.take(record);
        Ok(())
    }
}
