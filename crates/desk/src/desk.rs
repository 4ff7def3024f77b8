//! The desk: access to one home directory on behalf of one actor.

use std::sync::Arc;
use std::time::Duration;

use meanwhile::engine::Runtime;
use meanwhile::{Meanwhile, Result, Scope, Settings};

use crate::sample::Samples;

/// The identity of the actor and the tasks that it may see.
#[derive(Clone)]
pub struct Access {
    /// The settings for opening the home directory.
    pub settings: Settings,
    /// The only session that is visible, if access is limited to one.
    pub session: Option<String>,
    /// The name of the requester in records.
    pub requester: String,
    /// The name of the screen on which a person answers, for the records of answers.
    pub screen: String,
    /// The task that the screen runs in, if any. A screen inside a task cannot answer approval requests, because it may
    /// be controlled by an agent.
    pub inside: Option<String>,
    /// How long an approval request can be answered.
    pub keep: Duration,
}

/// The interface of a screen for queries and actions. Clones share their state, and calls may come from several threads
/// at once.
#[derive(Clone)]
pub struct Desk(Arc<Shared>);

struct Shared {
    access: Access,
    samples: Samples,
    home: Meanwhile,
}

impl Desk {
    /// Creates a desk. The first call that needs the home directory opens it.
    #[must_use]
    pub fn new(access: Access) -> Self {
        let home = Meanwhile::open_lazy(access.settings.clone());
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
