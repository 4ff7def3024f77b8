//! A client that waits for a call to end.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use meanwhile::Task;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::tools::{Caller, Patience};

/// How often a client that asked for it hears that the call goes on. One gives up after 60 s of silence.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// A client that waits for a call to end.
pub(super) struct Client {
    cancelled: CancellationToken,
    /// Cancelled when the server is about to end.
    closing: CancellationToken,
    token: Option<ProgressToken>,
    peer: Peer<RoleServer>,
    handle: Handle,
    begun: Instant,
    told: Mutex<Instant>,
}

impl Client {
    pub(super) fn of(context: &RequestContext<RoleServer>, closing: CancellationToken) -> Self {
        let now = Instant::now();
        Self {
            cancelled: context.ct.clone(),
            closing,
            token: context.meta.get_progress_token(),
            peer: context.peer.clone(),
            handle: Handle::current(),
            begun: now,
            told: Mutex::new(now),
        }
    }

    fn tell(&self, tasks: &[Task]) {
        let Some(token) = self.token.clone() else { return };
        let Ok(mut told) = self.told.lock() else { return };
        if told.elapsed() < TELL_EVERY {
            return;
        }
        *told = Instant::now();
        let live: Vec<_> = tasks.iter().filter(|task| !task.status.is_terminal()).map(words).collect();
        let progress = ProgressNotificationParam::new(token, self.begun.elapsed().as_secs_f64())
            .with_message(format!("{} of {} tasks run: {}", live.len(), tasks.len(), live.join("; ")));
        let peer = self.peer.clone();
        self.handle.spawn(async move {
            // A client that does not want it ends nothing.
            let _ = peer.notify_progress(progress).await;
        });
    }
}

fn words(task: &Task) -> String {
    match &task.progress {
        Some(progress) => format!("{} {}", task.id, progress.to_words()),
        None => task.id.to_string(),
    }
}

impl Caller for Client {
    fn meanwhile(&self, tasks: &[Task]) -> Patience {
        if self.closing.is_cancelled() {
            return Patience::Leave;
        }
        if self.cancelled.is_cancelled() {
            return Patience::GiveUp;
        }
        self.tell(tasks);
        Patience::GoOn
    }
}
