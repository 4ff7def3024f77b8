//! The desk itself: who stands at it, and the open homes behind it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use meanwhile::{Result, Runtime, Scope, Settings};

use crate::sample::Samples;

/// How many open homes are kept for the next call.
const MOST_IDLE: usize = 4;

/// Who asks and acts, and what they may see.
#[derive(Clone)]
pub struct Access {
    /// How to open the home.
    pub settings: Settings,
    /// The only session that is seen and acted on, if there is one.
    pub session: Option<String>,
    /// Who acts, for the record of what is done to tasks.
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
    /// Open homes that nobody uses at the moment: one serves one call at a time.
    idle: Mutex<Vec<Runtime>>,
}

impl Desk {
    /// Makes a desk. The home is opened by the first call that needs it.
    #[must_use]
    pub fn new(access: Access) -> Self {
        Self(Arc::new(Shared { access, samples: Samples::default(), idle: Mutex::default() }))
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

    /// Does something with an open home. After a failure it is opened anew: what was wrong with it may be over.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Runtime) -> Result<T>) -> Result<T> {
        let idle = self.idle().pop();
        let runtime = idle.map_or_else(|| Runtime::open(self.0.access.settings.clone()), Ok)?;
        let result = work(&runtime)?;
        let mut idle = self.idle();
        if idle.len() < MOST_IDLE {
            idle.push(runtime);
        }
        Ok(result)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Runtime>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
