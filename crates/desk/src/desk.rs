//! The desk: who asks and acts, and on which home.

use std::sync::Arc;
use std::time::Duration;

use meanwhile::engine::Runtime;
use meanwhile::{Meanwhile, Result, Scope, Settings};

use crate::sample::Samples;

/// Who asks and acts, and what they may see.
#[derive(Clone)]
pub struct Access {
    /// How to open the home.
    pub settings: Settings,
    /// The only session that is seen and acted on, if there is one.
    pub session: Option<String>,
    /// The requester, for records.
    pub requester: String,
    /// The screen on which a person answers, for the record of answers.
    pub screen: String,
    /// The task that the screen runs in, if it does: what an agent runs cannot answer for a person.
    pub inside: Option<String>,
    /// How long a question may be answered.
    pub keep: Duration,
}

/// What a screen asks and acts through. Clones share what they know; calls may come from any thread at once.
#[derive(Clone)]
pub struct Desk(Arc<Shared>);

struct Shared {
    access: Access,
    samples: Samples,
    home: Meanwhile,
}

impl Desk {
    /// Makes a desk. The home is opened by the first call that needs it.
    #[must_use]
    pub fn new(access: Access) -> Self {
        let home = Meanwhile::open_later(access.settings.clone());
        Self(Arc::new(Shared { access, samples: Samples::default(), home }))
    }

    pub(crate) fn access(&self) -> &Access {
        &self.0.access
    }

    pub(crate) fn samples(&self) -> &Samples {
        &self.0.samples
    }

    pub(crate) fn scope(&self) -> Scope {
        self.0.access.session.clone().map_or(Scope::All, Scope::Session)
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&Runtime) -> Result<T>) -> Result<T> {
        self.0.home.with(work)
    }
}
