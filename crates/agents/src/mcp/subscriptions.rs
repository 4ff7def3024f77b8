//! Telling clients that a resource has changed. One thread listens to the home as long as somebody wants to know.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use meanwhile::{Runtime, Scope, Settings};
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::resources::addresses;

/// How long the listener sleeps when nobody rings; output that grows is looked for as often.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// How many events are taken at a time.
const MOST: u32 = 500;

/// What one client wants to know about.
pub(super) struct Subscriptions {
    settings: Arc<Settings>,
    wanted: Arc<Mutex<Wanted>>,
}

#[derive(Default)]
struct Wanted {
    /// By address, as clients of older revisions ask.
    peers: HashMap<String, Vec<Peer<RoleServer>>>,
    /// Streams of the present one.
    ears: Vec<UnboundedSender<String>>,
    is_running: bool,
}

impl Wanted {
    fn is_empty(&self) -> bool {
        self.peers.is_empty() && self.ears.is_empty()
    }
}

impl Subscriptions {
    pub(super) fn new(settings: Arc<Settings>) -> Self {
        Self { settings, wanted: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, uri: String, peer: Peer<RoleServer>) {
        self.lock().peers.entry(uri).or_default().push(peer);
        self.run();
    }

    pub(super) fn remove(&self, uri: &str) {
        self.lock().peers.remove(uri);
    }

    /// Serves one subscription until it is cancelled.
    pub(super) async fn listen(&self, context: SubscriptionContext) {
        let (tell, mut told) = unbounded_channel();
        self.lock().ears.push(tell);
        self.run();
        tokio::select! {
            () = context.cancelled() => {}
            () = pass_on(&context, &mut told) => {}
        }
    }

    fn run(&self) {
        let mut wanted = self.lock();
        if wanted.is_running {
            return;
        }
        wanted.is_running = true;
        let (settings, wanted) = (Arc::clone(&self.settings), Arc::clone(&self.wanted));
        let handle = tokio::runtime::Handle::current();
        thread::spawn(move || watch(&settings, &wanted, &handle));
    }
}

async fn pass_on(context: &SubscriptionContext, told: &mut UnboundedReceiver<String>) {
    let sink = context.sink();
    while let Some(uri) = told.recv().await {
        let wanted = context.accepted().resource_subscriptions.as_ref();
        if wanted.is_some_and(|uris| uris.contains(&uri)) {
            let _ = sink.notify_resource_updated(uri.clone()).await;
        }
        if uri == addresses("")[0] && context.accepted().resources_list_changed == Some(true) {
            let _ = sink.notify_resource_list_changed().await;
        }
    }
}

/// Tells of every task: an address is no secret, and what it names is shown to its owner alone.
fn watch(settings: &Settings, wanted: &Mutex<Wanted>, handle: &tokio::runtime::Handle) {
    let lock = || wanted.lock().unwrap_or_else(PoisonError::into_inner);
    let scope = Scope::All;
    let opened = Runtime::open(settings.clone());
    let Ok(runtime) = opened else { return lock().is_running = false };
    let (Ok(ear), Ok(mut seen)) = (runtime.listen(), runtime.last_event()) else {
        return lock().is_running = false;
    };
    let mut sizes = HashMap::new();
    loop {
        ear.wait(LOOK_EVERY);
        {
            let mut wanted = lock();
            wanted.ears.retain(|tell| !tell.is_closed());
            wanted.peers.retain(|_, peers| {
                peers.retain(|peer| !peer.is_transport_closed());
                !peers.is_empty()
            });
            if wanted.is_empty() {
                wanted.is_running = false;
                return;
            }
        }
        let mut changed = Vec::new();
        while let Ok(events) = runtime.events_after(seen, &scope, None, MOST) {
            let Some(last) = events.last() else { break };
            seen = last.seq;
            for event in &events {
                changed.extend(addresses(event.task.as_str()));
            }
        }
        changed.extend(grown(&runtime, &scope, &mut sizes));
        changed.sort();
        changed.dedup();
        let wanted = lock();
        for uri in changed {
            for peer in wanted.peers.get(&uri).into_iter().flatten() {
                let (peer, update) = (peer.clone(), ResourceUpdatedNotificationParam::new(uri.clone()));
                handle.spawn(async move { peer.notify_resource_updated(update).await });
            }
            for tell in &wanted.ears {
                let _ = tell.send(uri.clone());
            }
        }
    }
}

/// Returns the addresses of logs that have grown.
fn grown(runtime: &Runtime, scope: &Scope, sizes: &mut HashMap<String, u64>) -> Vec<String> {
    let filter = meanwhile::Filter::new(scope.clone());
    let tasks = runtime.list(&filter).map(|page| page.tasks).unwrap_or_default();
    let mut grown = Vec::new();
    for task in tasks.into_iter().filter(|task| !task.status.is_terminal()) {
        let before = sizes.insert(task.id.to_string(), task.output_bytes);
        if before != Some(task.output_bytes) {
            grown.push(addresses(task.id.as_str())[2].clone());
        }
    }
    grown
}
