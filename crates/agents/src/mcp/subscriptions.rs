//! Notifies clients that a resource has changed. One thread watches the home while there are subscribers.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use meanwhile::engine::Runtime;
use meanwhile::{Scope, Settings};
use rmcp::RoleServer;
use rmcp::model::{ClientConfig, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::Notify;

use super::resources::addresses;

/// How long the listener sleeps without a wake-up. Growing output is checked at the same interval.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How many events are taken at a time.
const MOST: u32 = 500;

/// Who wants to know about which resources.
pub(super) struct Subscriptions {
    settings: Arc<Settings>,
    wanted: Arc<Mutex<Wanted>>,
}

/// What is wanted. The listener ends when it is empty.
#[derive(Default)]
struct Wanted {
    /// Clients of older revisions, by what they said of themselves when they came.
    old: Vec<(Arc<ClientConfig>, Arc<Ear>)>,
    /// Clients of the present one; an ear lasts as long as its subscription.
    new: Vec<Weak<Ear>>,
    is_listened_for: bool,
}

/// What one client wants to hear, and has not heard yet. However slow it is, no address waits twice.
#[derive(Default)]
struct Ear {
    wanted: Mutex<BTreeSet<String>>,
    changed: Mutex<BTreeSet<String>>,
    rung: Notify,
}

impl Ear {
    fn ring(&self, changed: &[String]) {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let news = changed.iter().filter(|uri| wanted.contains(*uri)).cloned();
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).extend(news);
        self.rung.notify_one();
    }

    fn ring_for_all(&self) {
        let wanted: Vec<_> = {
            let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
            wanted.iter().cloned().collect()
        };
        self.ring(&wanted);
    }

    /// Returns what has changed since it was asked last; nothing after a ring that changed nothing of interest.
    async fn hear(&self) -> BTreeSet<String> {
        self.rung.notified().await;
        std::mem::take(&mut *self.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Wanted {
    fn prune(&mut self) {
        self.new.retain(|ear| ear.strong_count() > 0);
        // The task that serves an old client holds its ear as well, until the client has gone.
        self.old.retain(|(_, ear)| {
            let wants = !ear.wanted.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
            wants && Arc::strong_count(ear) > 1
        });
    }

    /// Tells everybody of everything.
    fn ring_for_all(&self) {
        self.new.iter().filter_map(Weak::upgrade).for_each(|ear| ear.ring_for_all());
        self.old.iter().for_each(|(_, ear)| ear.ring_for_all());
    }

    fn ring(&self, changed: &[String]) {
        self.new.iter().filter_map(Weak::upgrade).for_each(|ear| ear.ring(changed));
        self.old.iter().for_each(|(_, ear)| ear.ring(changed));
    }
}

impl Subscriptions {
    pub(super) fn new(settings: Arc<Settings>) -> Self {
        Self { settings, wanted: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a resource for a client of an older revision.
    pub(super) fn add(&self, uri: String, peer: &Peer<RoleServer>) {
        let Some(who) = peer.peer_info() else { return };
        let want = |ear: &Ear| {
            ear.wanted.lock().unwrap_or_else(PoisonError::into_inner).insert(uri);
        };
        let mut wanted = self.lock();
        wanted.prune();
        match wanted.old.iter().find(|(known, _)| Arc::ptr_eq(known, &who)) {
            Some((_, ear)) => want(ear),
            None => {
                let ear = Arc::new(Ear::default());
                want(&ear);
                tokio::spawn(tell(peer.clone(), Arc::clone(&ear)));
                wanted.old.push((who, ear));
            }
        }
        self.watch(wanted);
    }

    /// Takes a resource away again, from this client alone.
    pub(super) fn remove(&self, uri: &str, peer: &Peer<RoleServer>) {
        let Some(who) = peer.peer_info() else { return };
        for (_, ear) in self.lock().old.iter().filter(|(known, _)| Arc::ptr_eq(known, &who)) {
            ear.wanted.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
        }
    }

    /// Serves one subscription until it is cancelled.
    pub(super) async fn listen(&self, context: SubscriptionContext) {
        let accepted = context.accepted();
        let all = addresses("")[0].clone();
        let lists = accepted.resources_list_changed == Some(true);
        let named: BTreeSet<_> = accepted.resource_subscriptions.iter().flatten().cloned().collect();
        let wanted = named.iter().cloned().chain(lists.then(|| all.clone())).collect();
        let ear = Arc::new(Ear { wanted: Mutex::new(wanted), ..Ear::default() });
        {
            let mut wanted = self.lock();
            wanted.new.push(Arc::downgrade(&ear));
            self.watch(wanted);
        }
        let sink = context.sink();
        loop {
            let changed = tokio::select! {
                () = context.cancelled() => return,
                changed = ear.hear() => changed,
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

    /// Starts the listener if it is not running.
    fn watch(&self, mut wanted: MutexGuard<'_, Wanted>) {
        if std::mem::replace(&mut wanted.is_listened_for, true) {
            return;
        }
        let (settings, wanted) = (Arc::clone(&self.settings), Arc::clone(&self.wanted));
        thread::spawn(move || {
            if watch(&settings, &wanted).is_none() {
                // The home cannot be used. Whoever subscribes next tries again.
                wanted.lock().unwrap_or_else(PoisonError::into_inner).is_listened_for = false;
            }
        });
    }
}

/// Serves a client of an older revision until it has gone or wants nothing more.
async fn tell(peer: Peer<RoleServer>, ear: Arc<Ear>) {
    while !peer.is_transport_closed() {
        for uri in ear.hear().await {
            let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
        }
        if ear.wanted.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            return;
        }
    }
}

/// Listens until nobody wants to know any more; nothing if it cannot. It tells of every task: an address is no
/// secret, and what it names is shown to its owner alone.
fn watch(settings: &Settings, wanted: &Mutex<Wanted>) -> Option<()> {
    let scope = Scope::All;
    let runtime = Runtime::open(settings.clone()).ok()?;
    let (ear, mut seen) = (runtime.listen().ok()?, runtime.tasks().last_event().ok()?);
    let mut sizes = HashMap::new();
    // What changed between a subscription and this moment was heard by nobody.
    wanted.lock().unwrap_or_else(PoisonError::into_inner).ring_for_all();
    loop {
        ear.wait(LOOK_EVERY);
        let mut changed = Vec::new();
        while let Ok(events) = runtime.tasks().events_after(seen, &scope, None, MOST) {
            let Some(last) = events.last() else { break };
            seen = last.seq;
            for event in &events {
                changed.extend(addresses(event.task.as_str()));
            }
        }
        changed.extend(grown(&runtime, &scope, &mut sizes));
        changed.sort();
        changed.dedup();
        let mut wanted = wanted.lock().unwrap_or_else(PoisonError::into_inner);
        // Also without news: who serves a client looks then whether it is still there.
        wanted.ring(&changed);
        wanted.prune();
        if wanted.old.is_empty() && wanted.new.is_empty() {
            wanted.is_listened_for = false;
            return Some(());
        }
    }
}

/// Returns the addresses of logs that have grown.
fn grown(runtime: &Runtime, scope: &Scope, sizes: &mut HashMap<String, u64>) -> Vec<String> {
    let filter = meanwhile::Filter::new(scope.clone());
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
