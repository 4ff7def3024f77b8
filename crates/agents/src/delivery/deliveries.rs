//! The sessions whose notifications this process delivers with its replies.

use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use meanwhile::Meanwhile;
use meanwhile::engine::Holder;
use mw_model::{Notice, TaskId};
use tokio::sync::oneshot;

use super::session_thread::{HeldNotices, Reservation, ServedSession, ThreadRequest};
use crate::lock::Lock;
use mw_tools::call::SessionEnd;
use mw_tools::dialects::Dialect;

/// How long a session may be idle before its thread and its lease are released, unless a call may take longer. The next
/// call acquires them again.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// The process that delivers the notifications of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveredWith {
    /// The server that answers the session's calls adds them to the next reply.
    Replies,
    /// The host of the session, which is another process, delivers them.
    Host,
}

/// The options of the delivery of notifications.
#[derive(Clone)]
pub(crate) struct DeliveryOptions {
    pub(crate) dialect: Dialect,
    /// The start time of the server, if it has a single client. Task numbers of another context do not belong to it;
    /// see [`CallSettings::context_stamp`](mw_tools::call::CallSettings::context_stamp).
    pub(crate) context: Option<String>,
    pub(crate) session_end: SessionEnd,
    /// The maximum duration of a call.
    pub(crate) longest_call: Duration,
}

/// The thread that serves each recipient.
type Known = Arc<Mutex<HashMap<Recipient, Arc<Sender<ThreadRequest>>>>>;

/// A recipient of notifications: a session, or one of several independent clients of a server that share a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Recipient {
    pub(crate) session: String,
    pub(crate) client: Option<String>,
}

impl From<&str> for Recipient {
    fn from(session: &str) -> Self {
        Self { session: session.to_owned(), client: None }
    }
}

/// The delivery threads of all sessions in use.
pub(crate) struct Deliveries {
    home: Meanwhile,
    options: DeliveryOptions,
    tells: DeliveredWith,
    known: Known,
    idle: Duration,
}

/// The notifications for one reply. If they are dropped before they are delivered, the next reply gets them.
#[derive(Default)]
pub(crate) struct Drained {
    pub(crate) held: Option<HeldNotices>,
    pub(crate) notices: Vec<Notification>,
    /// The number of notifications that must wait for the next reply, because this one has no room.
    pub(crate) left: usize,
    /// The task ends that the reply itself reports.
    pub(crate) own: Option<Reservation>,
}

/// A notification in the format of a dialect.
pub(crate) struct Notification {
    pub(crate) notice: Notice,
    pub(crate) block: String,
}

impl Deliveries {
    pub(crate) fn new(home: Meanwhile, options: DeliveryOptions, tells: DeliveredWith) -> Self {
        let idle = IDLE_TIMEOUT.max(options.longest_call * 2);
        Self { home, options, tells, known: Known::default(), idle }
    }

    /// Hosts a session from now on, even before its first call, because a client that reconnects initialises first.
    pub(crate) fn hold(&self, session: &str) {
        drop(self.thread(&session.into()));
    }

    /// Releases a session, because its last client has left and this server keeps running.
    pub(crate) fn leave(&self, session: &str) {
        for (_, thread) in self.known.locked().extract_if(|recipient, _| recipient.session == session) {
            let _ = thread.send(ThreadRequest::Leave);
        }
    }

    /// Releases the notifications of a client that has left. Those that were not delivered go to the other clients of
    /// its session.
    pub(crate) fn forget(&self, recipient: &Recipient) {
        let known = self.known.locked().remove(recipient);
        if let Some(thread) = known {
            let _ = thread.send(ThreadRequest::Leave);
        }
    }

    /// Returns the lease of this process on the notifications of a session. Returns `None` if the home directory cannot
    /// be used. The call itself then reports the error.
    pub(crate) async fn lease(&self, recipient: &Recipient) -> Option<Holder> {
        self.ask(recipient, ThreadRequest::Lease).await
    }

    /// Reserves the ends of tasks for a reply that will report them, until the returned value is dropped. Blocks until
    /// no other reply can take them and they are removed from replies that are not being written yet. Returns `None` if
    /// the home directory cannot be used.
    pub(crate) fn reserve(&self, recipient: &Recipient, tasks: &[TaskId]) -> Option<Reservation> {
        if self.tells == DeliveredWith::Host {
            return None;
        }
        let (answer, answered) = oneshot::channel();
        self.thread(recipient).send(ThreadRequest::Reserve(tasks.to_vec(), answer)).ok()?;
        answered.blocking_recv().ok()
    }

    /// Takes the notifications of a session that no other reply has. The ends that this reply itself reports are
    /// reserved first, and no other reply reports them before this one is written. The caller does not add them to its
    /// text.
    pub(crate) async fn drain(&self, recipient: &Recipient, own: &[TaskId]) -> Drained {
        let request = |answer| ThreadRequest::Drain(own.to_vec(), answer);
        match self.tells {
            DeliveredWith::Replies => self.ask(recipient, request).await.unwrap_or_default(),
            DeliveredWith::Host => Drained::default(),
        }
    }

    async fn ask<T>(
        &self,
        recipient: &Recipient,
        request: impl Fn(oneshot::Sender<T>) -> ThreadRequest,
    ) -> Option<T> {
        // The thread may just have ended, or the home directory may have become usable.
        for _ in 0..2 {
            let (answer, answered) = oneshot::channel();
            if self.thread(recipient).send(request(answer)).is_ok()
                && let Ok(answer) = answered.await
            {
                return Some(answer);
            }
        }
        None
    }

    fn thread(&self, recipient: &Recipient) -> Arc<Sender<ThreadRequest>> {
        let mut known = self.known.locked();
        let start = || {
            let (requests, inbox) = channel();
            let served = ServedSession {
                home: self.home.clone(),
                session: recipient.session.clone(),
                options: self.options.clone(),
                idle: self.idle,
            };
            let (own, known) = (requests.clone(), Arc::clone(&self.known));
            let requests = Arc::new(requests);
            let this = Arc::clone(&requests);
            thread::spawn(move || {
                served.serve(&inbox, own);
                // The recipient may already have a new thread, which stays.
                let mut known = known.locked();
                known.retain(|_, thread| !Arc::ptr_eq(thread, &this));
            });
            requests
        };
        known.entry(recipient.clone()).or_insert_with(start).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use meanwhile::Settings;
    use meanwhile::engine::is_shared;
    use meanwhile::settings::Executables;
    use mw_testkit::{SOON, wait_until};

    use super::*;

    fn home(dir: &Path) -> Meanwhile {
        let programs = Executables { supervisor: PathBuf::new(), settle: Vec::new(), starter_exits: false };
        Meanwhile::open_lazy(Settings::new(dir.join("state"), programs))
    }

    fn options(session_end: SessionEnd) -> DeliveryOptions {
        let (dialect, context, longest_call) = (Dialect::Canonical, None, Duration::ZERO);
        DeliveryOptions { dialect, context, session_end, longest_call }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_idle_session_releases_its_thread_and_lease_unless_it_must_be_held() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(dir.path());
        let mut deliveries = Deliveries::new(home.clone(), options(SessionEnd::Keep), DeliveredWith::Replies);
        deliveries.idle = Duration::from_millis(50);
        let wait_for_release = |deliveries: &Deliveries| {
            let is_known = || deliveries.known.locked().contains_key(&Recipient::from("s"));
            wait_until(SOON, "the idle session is released", || (!is_known()).then_some(()));
        };
        for _ in 0..3 {
            assert!(deliveries.lease(&"s".into()).await.is_some());
            wait_for_release(&deliveries);
        }
        let count_leases = |session: &str| {
            let held = std::fs::read_dir(home.settings().home.join("sessions").join(session)).unwrap();
            held.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("teller")).count()
        };
        assert_eq!(count_leases("s"), 0);
        for (end, session) in [(SessionEnd::Kill, "s"), (SessionEnd::Keep, "project:x")] {
            assert!(end == SessionEnd::Kill || is_shared(session));
            let mut held = Deliveries::new(home.clone(), options(end), DeliveredWith::Replies);
            held.idle = Duration::from_millis(1);
            let first = held.lease(&session.into()).await;
            // Meanwhile a session that need not be held is idle for longer.
            assert!(deliveries.lease(&"s".into()).await.is_some());
            wait_for_release(&deliveries);
            assert_eq!(
                held.lease(&session.into()).await,
                first,
                "a session that is shared or ends with its client is held"
            );
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_thread_that_ends_late_does_not_remove_its_successor() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(dir.path());
        let deliveries = Deliveries::new(home, options(SessionEnd::Kill), DeliveredWith::Replies);
        for _ in 0..20 {
            assert!(deliveries.lease(&"s".into()).await.is_some());
            let first = deliveries.thread(&"s".into());
            deliveries.leave("s");
            assert!(deliveries.lease(&"s".into()).await.is_some());
            // The first thread drops its own reference last.
            wait_until(SOON, "the first thread has ended", || (Arc::strong_count(&first) == 1).then_some(()));
            assert!(deliveries.known.locked().contains_key(&Recipient::from("s")));
        }
    }
}
