//! Notifies clients that a resource has changed. One thread watches the home while there are subscribers.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread;
use std::time::Duration;

use meanwhile::engine::Runtime;
use meanwhile::{Error, Meanwhile, Scope};
use rmcp::RoleServer;
use rmcp::model::{ClientConfig, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::Notify;

use super::resources::addresses;
use crate::lock::Lock;

/// How long the thread sleeps without a wake-up. Growing output is checked at the same interval.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How many events are taken at a time.
const MAX: u32 = 500;

/// The subscriptions of all clients.
pub(super) struct Subscriptions {
    home: Meanwhile,
    wanted: Arc<Mutex<Wanted>>,
}

/// The subscribers. Each lives as long as the task that serves it. The watching thread ends when there are none.
#[derive(Default)]
struct Wanted {
    subscribers: Vec<Weak<Subscriber>>,
    is_watched: bool,
}

/// The addresses that one client wants, and those that have changed. An address is kept once, however slow the client is.
#[derive(Default)]
struct Subscriber {
    /// A client of an older revision, identified by the description that it sent. Its subscriptions change.
    client: Option<Arc<ClientConfig>>,
    wanted: Mutex<BTreeSet<String>>,
    changed: Mutex<BTreeSet<String>>,
    woken: Notify,
}

impl Subscriber {
    fn notify(&self, changed: &[String]) {
        let wanted = self.wanted.locked();
        let due = changed.iter().filter(|uri| wanted.contains(*uri)).cloned();
        self.changed.locked().extend(due);
        self.woken.notify_one();
    }

    fn notify_of_all(&self) {
        let wanted: Vec<_> = {
            let wanted = self.wanted.locked();
            wanted.iter().cloned().collect()
        };
        self.notify(&wanted);
    }

    /// Waits for a wake-up. Returns the addresses that have changed since the last call, which may be none.
    async fn next_changes(&self) -> BTreeSet<String> {
        self.woken.notified().await;
        std::mem::take(&mut *self.changed.locked())
    }
}

impl Wanted {
    /// Returns the subscribers that are served.
    fn living(&self) -> impl Iterator<Item = Arc<Subscriber>> {
        self.subscribers.iter().filter_map(Weak::upgrade)
    }

    /// Returns the subscriber of a client of an older revision. One without subscriptions is about to end.
    fn of(&self, client: &Arc<ClientConfig>) -> Option<Arc<Subscriber>> {
        let is_of =
            |known: &Subscriber| known.client.as_ref().is_some_and(|known| Arc::ptr_eq(known, client));
        let wants = |one: &Subscriber| !one.wanted.locked().is_empty();
        self.living().find(|subscriber| is_of(subscriber) && wants(subscriber))
    }
}

impl Subscriptions {
    pub(super) fn new(home: Meanwhile) -> Self {
        Self { home, wanted: Arc::default() }
    }

    /// Adds a resource for a client of an older revision.
    pub(super) fn add(&self, uri: String, peer: &Peer<RoleServer>) {
        let Some(client) = peer.peer_info() else { return };
        let mut wanted = self.wanted.locked();
        let subscriber = wanted.of(&client).unwrap_or_else(|| {
            let subscriber = Arc::new(Subscriber { client: Some(client), ..Subscriber::default() });
            wanted.subscribers.push(Arc::downgrade(&subscriber));
            tokio::spawn(tell(peer.clone(), Arc::clone(&subscriber)));
            subscriber
        });
        subscriber.wanted.locked().insert(uri);
        self.watch(wanted);
    }

    /// Removes a resource of this client.
    pub(super) fn remove(&self, uri: &str, peer: &Peer<RoleServer>) {
        let wanted = self.wanted.locked();
        if let Some(subscriber) = peer.peer_info().and_then(|client| wanted.of(&client)) {
            subscriber.wanted.locked().remove(uri);
        }
    }

    /// Serves one subscription until it is cancelled.
    pub(super) async fn listen(&self, context: SubscriptionContext) {
        let accepted = context.accepted();
        let all = addresses("")[0].clone();
        let lists = accepted.resources_list_changed == Some(true);
        let named: BTreeSet<_> = accepted.resource_subscriptions.iter().flatten().cloned().collect();
        let wanted = named.iter().cloned().chain(lists.then(|| all.clone())).collect();
        let subscriber = Arc::new(Subscriber { wanted: Mutex::new(wanted), ..Subscriber::default() });
        {
            let mut wanted = self.wanted.locked();
            wanted.subscribers.push(Arc::downgrade(&subscriber));
            self.watch(wanted);
        }
        let sink = context.sink();
        loop {
            let changed = tokio::select! {
                () = context.cancelled() => return,
                changed = subscriber.next_changes() => changed,
            };
            for uri in changed {
                if lists && uri == all {
                    let _ = sink.notify_resource_list_changed().await;
                }
                if named.contains(&uri) {
                    let _ = sink.notify_resource_updated(uri).await;
                }
            }
        }
    }

    /// Starts the watching thread if it is not running.
    fn watch(&self, mut wanted: MutexGuard<'_, Wanted>) {
        if std::mem::replace(&mut wanted.is_watched, true) {
            return;
        }
        let (home, wanted) = (self.home.clone(), Arc::clone(&self.wanted));
        thread::spawn(move || {
            if home.with(|runtime| watch(runtime, &wanted)).is_err() {
                // The home cannot be used. The next subscription tries again.
                wanted.locked().is_watched = false;
            }
        });
    }
}

/// Serves a client of an older revision until it has left or has no subscription.
async fn tell(peer: Peer<RoleServer>, subscriber: Arc<Subscriber>) {
    while !peer.is_transport_closed() {
        for uri in subscriber.next_changes().await {
            let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
        }
        if subscriber.wanted.locked().is_empty() {
            return;
        }
    }
}

/// Watches until there are no subscribers. It reports every task: an address is not a secret,
/// and only its owner can read the resource.
fn watch(runtime: &Runtime, wanted: &Mutex<Wanted>) -> Result<(), Error> {
    let scope = Scope::All;
    let (wake_up, mut seen) = (runtime.listen()?, runtime.tasks().last_event()?);
    let mut sizes = HashMap::new();
    // Changes between the subscription and this moment were not noticed.
    wanted.locked().living().for_each(|one| one.notify_of_all());
    loop {
        wake_up.wait(POLL_INTERVAL);
        let mut changed = Vec::new();
        while let Ok(events) = runtime.tasks().events_after(seen, &scope, None, MAX) {
            let Some(last) = events.last() else { break };
            seen = last.seq;
            for event in &events {
                changed.extend(addresses(event.task.as_str()));
            }
        }
        changed.extend(grown(runtime, &scope, &mut sizes));
        changed.sort();
        changed.dedup();
        let mut wanted = wanted.locked();
        // Also without changes, so that tasks notice when their client has left.
        wanted.living().for_each(|subscriber| subscriber.notify(&changed));
        wanted.subscribers.retain(|subscriber| subscriber.strong_count() > 0);
        if wanted.subscribers.is_empty() {
            wanted.is_watched = false;
            return Ok(());
        }
    }
}

/// Returns the addresses of logs that have grown.
fn grown(runtime: &Runtime, scope: &Scope, sizes: &mut HashMap<String, u64>) -> Vec<String> {
    let filter = meanwhile::TaskFilter::new(scope.clone());
    let tasks = runtime.tasks().list(&filter).map(|page| page.tasks).unwrap_or_default();
    let mut grown = Vec::new();
    for task in tasks.into_iter().filter(|task| !task.status.is_terminal()) {
        let before = sizes.insert(task.id.to_string(), task.output_bytes);
        if before != Some(task.output_bytes) {
            grown.push(addresses(task.id.as_str())[2].clone());
        }
    }
    grown
}
