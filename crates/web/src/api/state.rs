//! The state of the API: the desk, the hubs, and what is limited.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use axum::http::StatusCode;
use meanwhile::model::approval::Proposal;
use mw_desk::action::StartDefaults;
use mw_desk::query::TaskListQuery;
use mw_desk::{Access, Desk};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use super::events::EventHub;
use super::groups::AgentInfo;
use super::live_log::LogHubs;
use super::shared_reads::SharedReads;
use super::usage::UsageSampler;
use crate::guard::Attempts;
use crate::problem::Problem;

/// Maximum number of reads at the same time. The engine keeps as many connections to its database open.
const READS: usize = 4;
/// Maximum number of calls that wait for tasks at the same time.
const WAITS: usize = 64;
/// Maximum number of streams at the same time. It is far below the maximum number of connections, so that others are answered.
const STREAMS: usize = 512;
/// How many changes are allowed at once, and how many more each second.
const CHANGES: (u32, f64) = (60, 20.0);

/// Makes the rule that allows exactly the command of a request from now on. Returns why there is none otherwise.
pub type RuleFor = Arc<dyn Fn(&Proposal) -> Result<NewRule, String> + Send + Sync>;

/// A rule that was checked but is not in the settings yet.
pub struct NewRule {
    /// The file to which it is added, for people.
    pub path: String,
    /// The rule, as it is written there.
    pub text: String,
    /// Adds the rule, after its request was approved. Returns where, or why it could not be added.
    pub add: Box<dyn FnOnce() -> Result<String, String> + Send>,
}

/// What the API serves.
pub struct Options {
    /// Who acts, and which tasks may be seen.
    pub access: Access,
    /// What started tasks get.
    pub start: StartDefaults,
    /// Makes the rule of a permanent approval.
    pub rule_for: RuleFor,
    /// The agents that can be started.
    pub agents: Vec<AgentInfo>,
}

/// The state of the API.
pub struct Api {
    pub(super) desk: Desk,
    pub(super) start: StartDefaults,
    pub(super) rule_for: RuleFor,
    pub(super) agents: Vec<AgentInfo>,
    pub(super) events: EventHub,
    pub(super) logs: LogHubs,
    pub(super) usage: UsageSampler,
    pub(super) lists: SharedReads<TaskListQuery>,
    pub(super) summaries: SharedReads<()>,
    pub(super) began: Instant,
    pub(super) requests: AtomicU64,
    /// Distinguishes this server from the one before it, so that pages load everything again.
    pub(super) instance: String,
    reads: Semaphore,
    waits: Semaphore,
    streams: Arc<Semaphore>,
    changes: Attempts,
    /// Changes that are being made. All permits are taken when the server ends.
    open_changes: Semaphore,
}

const MOST_OPEN_CHANGES: u32 = 64;

impl Api {
    /// Creates the state of an API.
    #[must_use]
    pub fn new(options: Options, instance: String) -> Arc<Self> {
        let Options { access, start, rule_for, agents } = options;
        // Each list of tasks to measure needs its own desk.
        let usage = UsageSampler::new(Desk::new(access.clone()));
        let desk = Desk::new(access);
        let (most, per_second) = CHANGES;
        Arc::new(Self {
            events: EventHub::new(desk.clone()),
            logs: LogHubs::new(desk.clone()),
            usage,
            lists: SharedReads::default(),
            summaries: SharedReads::default(),
            desk,
            start,
            rule_for,
            agents,
            began: Instant::now(),
            requests: AtomicU64::new(0),
            instance,
            reads: Semaphore::new(READS),
            waits: Semaphore::new(WAITS),
            streams: Arc::new(Semaphore::new(STREAMS)),
            changes: Attempts::new(most, per_second),
            open_changes: Semaphore::new(MOST_OPEN_CHANGES as usize),
        })
    }

    /// Makes a read on a thread that may block.
    pub(super) async fn read<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let _permit = self.reads.acquire().await.map_err(|_| ends())?;
        let api = Arc::clone(&self);
        spawn_blocking(move || work(&api)).await.map_err(|_| failed())?
    }

    /// Makes a call that may wait for tasks, on a thread that may block.
    pub(super) async fn wait<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let _permit = self.waits.try_acquire().map_err(|_| {
            Problem::busy(StatusCode::SERVICE_UNAVAILABLE, "too many requests wait for tasks already", 5)
        })?;
        let api = Arc::clone(&self);
        spawn_blocking(move || work(&api)).await.map_err(|_| failed())?
    }

    /// Returns the place of a stream, which is kept as long as the stream is open.
    pub(super) fn stream_place(&self) -> Result<OwnedSemaphorePermit, Problem> {
        Arc::clone(&self.streams).try_acquire_owned().map_err(|_| {
            Problem::busy(StatusCode::SERVICE_UNAVAILABLE, "too many streams are open already", 5)
        })
    }

    /// Makes a change on a thread that may block. It is completed even if the client leaves.
    pub(super) async fn change<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.changes.take().map_err(|wait| {
            Problem::busy(StatusCode::TOO_MANY_REQUESTS, "too many changes at once", wait.as_secs())
        })?;
        let api = Arc::clone(&self);
        let changing = tokio::spawn(async move {
            let _permit = api.open_changes.acquire().await.map_err(|_| ends())?;
            let api = Arc::clone(&api);
            spawn_blocking(move || work(&api)).await.map_err(|_| failed())?
        });
        changing.await.map_err(|_| failed())?
    }

    /// Resolves when all changes that have begun are complete.
    pub async fn changes_complete(&self) {
        drop(self.open_changes.acquire_many(MOST_OPEN_CHANGES).await);
    }
}

fn ends() -> Problem {
    Problem::busy(StatusCode::SERVICE_UNAVAILABLE, "the server ends", 1)
}

fn failed() -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the request failed inside the server")
}
