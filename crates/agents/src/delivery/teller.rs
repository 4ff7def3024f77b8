//! Delivers the notifications of a session. One thread per session holds them, so that no notification is given to two
//! replies.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use meanwhile::engine::{Moment, Runtime, Teller, is_shared};
use meanwhile::{Scope, Settings};
use mw_model::{Notice, TaskId};
use tokio::sync::oneshot;

use super::seal::{Open, Seal};
use mw_tools::call::SessionEnd;
use mw_tools::dialects::Dialect;

/// How long a session may be idle before its thread and its lease are released, unless a call may take longer. The next
/// call takes them again.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// Maximum size of the notifications in front of a reply, in bytes.
const MOST_BYTES: usize = 8 << 10;

/// Who delivers the notifications of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    /// The server that answers its calls, in front of the next reply.
    Replies,
    /// The host of the session, which is another process.
    Host,
}

/// The settings of a server for its sessions.
#[derive(Clone)]
pub(crate) struct Manner {
    pub(crate) dialect: Dialect,
    /// When the server started, if it has one client. Task numbers of another context do not belong to it; see
    /// [`Premises::context_stamp`](mw_tools::call::Premises::context_stamp).
    pub(crate) context: Option<String>,
    pub(crate) session_end: SessionEnd,
    /// Maximum duration of a call.
    pub(crate) longest_call: Duration,
}

/// The thread that serves each recipient.
type Known = Arc<Mutex<HashMap<Recipient, Sender<Wish>>>>;

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
pub(crate) struct Tellers {
    settings: Arc<Settings>,
    manner: Manner,
    tells: Tells,
    known: Known,
    idle: Duration,
}

/// The ends of tasks that one reply reports or will report. No other reply of the session reports them meanwhile.
/// Dropped after the delivery was recorded, or when the reply is discarded.
pub(crate) struct Reserved {
    tasks: Vec<TaskId>,
    teller: Sender<Wish>,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let _ = self.teller.send(Wish::Release(std::mem::take(&mut self.tasks)));
    }
}

enum Wish {
    Name(oneshot::Sender<Teller>),
    Reserve(Vec<TaskId>, oneshot::Sender<Reserved>),
    Release(Vec<TaskId>),
    Drain(Vec<TaskId>, oneshot::Sender<Drained>),
    Acknowledge(u64, Sender<()>),
    TakeBack(u64),
    /// No further calls come; replies that are being sent are still recorded.
    Leave,
}

/// The notifications for one reply. If they are dropped before they are delivered, the next reply gets them.
#[derive(Default)]
pub(crate) struct Drained {
    pub(crate) held: Option<Held>,
    pub(crate) notices: Vec<Told>,
    /// How many must wait for the next reply, because this one has no room.
    pub(crate) left: usize,
    /// The ends that the reply itself reports.
    pub(crate) own: Option<Reserved>,
}

/// A notification in the format of a dialect.
pub(crate) struct Told {
    pub(crate) notice: Notice,
    pub(crate) block: String,
}

/// Notifications that were given to a reply. If this is dropped, the next reply gets them.
pub(crate) struct Held {
    number: u64,
    teller: Option<Sender<Wish>>,
    seal: Seal,
}

impl Held {
    /// Composes a reply from them, see [`Seal::compose`].
    pub(crate) fn compose(&self, notices: Vec<Told>, stays: impl Fn(&Told) -> bool) -> Vec<Told> {
        self.seal.compose(notices, stays)
    }

    /// Called when the reply is being written, see [`Seal::close`].
    pub(crate) fn close(&self) -> Vec<String> {
        self.seal.close()
    }

    /// Acknowledges them. They are acknowledged durably when this returns.
    pub(crate) fn acknowledge(mut self) {
        if let Some(teller) = self.teller.take() {
            let (done, closed) = channel();
            let _ = teller.send(Wish::Acknowledge(self.number, done));
            let _ = closed.recv();
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(teller) = self.teller.take() {
            let _ = teller.send(Wish::TakeBack(self.number));
        }
    }
}

impl Tellers {
    pub(crate) fn new(settings: Arc<Settings>, manner: Manner, tells: Tells) -> Self {
        let idle = IDLE.max(manner.longest_call * 2);
        Self { settings, manner, tells, known: Known::default(), idle }
    }

    /// Hosts a session from now on, even before its first call: a client that comes back initialises first.
    pub(crate) fn hold(&self, session: &str) {
        drop(self.teller(&session.into()));
    }

    /// Releases a session, because its last client has left and this server keeps running.
    pub(crate) fn leave(&self, session: &str) {
        let known: Vec<Recipient> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.keys().filter(|recipient| recipient.session == session).cloned().collect()
        };
        known.iter().for_each(|recipient| self.forget(recipient));
    }

    /// Releases the notifications of a client that has left. Those that were not delivered go to the other clients of
    /// its session.
    pub(crate) fn forget(&self, recipient: &Recipient) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(recipient);
        if let Some(teller) = known {
            let _ = teller.send(Wish::Leave);
        }
    }

    /// Returns the identity under which the notifications of a session are held. Returns `None` if the home cannot be
    /// used; the call itself then reports why.
    pub(crate) async fn name(&self, recipient: &Recipient) -> Option<Teller> {
        self.ask(recipient, Wish::Name).await
    }

    /// Reserves the ends of tasks for a reply that will report them, until the returned value is dropped. Blocks until
    /// no other reply can take them, and they are removed from replies that are not being written yet. Returns `None`
    /// if the home cannot be used.
    pub(crate) fn reserve(&self, recipient: &Recipient, tasks: &[TaskId]) -> Option<Reserved> {
        if self.tells == Tells::Host {
            return None;
        }
        let (answer, answered) = oneshot::channel();
        self.teller(recipient).send(Wish::Reserve(tasks.to_vec(), answer)).ok()?;
        answered.blocking_recv().ok()
    }

    /// Takes the notifications of a session that no other reply has. The ends that this reply itself reports are
    /// reserved for it first and held with the rest, so that no other reply reports them before it is written; the
    /// caller does not add them to its text.
    pub(crate) async fn drain(&self, recipient: &Recipient, own: &[TaskId]) -> Drained {
        let wish = |answer| Wish::Drain(own.to_vec(), answer);
        match self.tells {
            Tells::Replies => self.ask(recipient, wish).await.unwrap_or_default(),
            Tells::Host => Drained::default(),
        }
    }

    async fn ask<T>(&self, recipient: &Recipient, wish: impl Fn(oneshot::Sender<T>) -> Wish) -> Option<T> {
        // Its thread may just have ended, or the home could not be used before but can be now.
        for _ in 0..2 {
            let (answer, answered) = oneshot::channel();
            if self.teller(recipient).send(wish(answer)).is_ok()
                && let Ok(answer) = answered.await
            {
                return Some(answer);
            }
        }
        None
    }

    fn teller(&self, recipient: &Recipient) -> Sender<Wish> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let start = || {
            let (wishes, inbox) = channel();
            let (settings, session, manner) =
                (Arc::clone(&self.settings), recipient.session.clone(), self.manner.clone());
            let (own, idle) = (wishes.clone(), self.idle);
            let (here, recipient) = (Arc::clone(&self.known), recipient.clone());
            thread::spawn(move || {
                tell(&settings, &session, &manner, &inbox, &own, idle);
                here.lock().unwrap_or_else(PoisonError::into_inner).remove(&recipient);
            });
            wishes
        };
        known.entry(recipient.clone()).or_insert_with(start).clone()
    }
}

/// Serves one session until it was idle for long, or its home cannot be used. Two kinds of sessions are held as long as
/// this server runs: those that end with their client, and those that several servers share, where each reports the
/// tasks that it started.
fn tell(
    settings: &Settings,
    session: &str,
    manner: &Manner,
    inbox: &Receiver<Wish>,
    own: &Sender<Wish>,
    idle: Duration,
) {
    let Ok(runtime) = Runtime::open(settings.clone()) else { return };
    let Ok(mut host) = runtime.notifications().server(session) else { return };
    if is_shared(session) {
        host = host.of_own_starts();
    }
    let stays = manner.session_end == SessionEnd::Kill || is_shared(session);
    let mut open: HashMap<u64, Open<'_>> = HashMap::new();
    let mut last = 0;
    let mut is_leaving = false;
    // The ends that replies report or will report, once for each reply.
    let mut reserved: Vec<TaskId> = Vec::new();
    // Those of them that no other server of the session tells.
    let mut claimed: HashSet<TaskId> = HashSet::new();
    let reservation = |tasks: Vec<TaskId>| Reserved { tasks, teller: own.clone() };
    loop {
        let wish = match inbox.recv_timeout(idle) {
            Ok(wish) => wish,
            Err(RecvTimeoutError::Timeout) if stays || !open.is_empty() || !reserved.is_empty() => continue,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        };
        match wish {
            Wish::Name(answer) => _ = answer.send(host.teller()),
            Wish::Reserve(tasks, answer) => {
                reserved.extend_from_slice(&tasks);
                open.values_mut().for_each(|open| open.leave(&tasks));
                // Other servers of the session, and hooks, leave these ends to this server. If this fails, they may report them, too.
                let _ = host.claim_ends(&tasks);
                claimed.extend(tasks.iter().cloned());
                // If nobody takes it, it is released at once.
                let _ = answer.send(reservation(tasks));
            }
            Wish::Release(tasks) => {
                for task in &tasks {
                    if let Some(at) = reserved.iter().position(|known| known == task) {
                        reserved.swap_remove(at);
                    }
                    if !reserved.contains(task) && claimed.remove(task) {
                        let _ = runtime.notifications().leave_promise(task, &host.teller());
                    }
                }
            }
            Wish::Drain(of_reply, answer) => {
                reserved.extend_from_slice(&of_reply);
                let by_others = |task: &TaskId| reserved.contains(task) && !of_reply.contains(task);
                let drained = host.drain_but(Moment::Idle, by_others);
                let own_ends = Some(reservation(of_reply));
                let Some(mut delivery) = drained.ok().filter(|found| !found.notices().is_empty()) else {
                    let _ = answer.send(Drained { own: own_ends, ..Drained::default() });
                    continue;
                };
                last += 1;
                let notices = delivery.notices().iter();
                let mut notices: Vec<_> =
                    notices.map(|notice| in_words(notice, manner, &runtime, session)).collect();
                // A reply has limited room; the rest goes into the next one.
                let fitting = fitting(&notices);
                let left = notices.len() - fitting;
                notices.truncate(fitting);
                if delivery.keep(fitting).is_err() {
                    let _ = answer.send(Drained { own: own_ends, ..Drained::default() });
                    continue;
                }
                let seal = Seal::default();
                let blocks = notices.iter().map(|told| told.block.clone()).collect();
                open.insert(last, Open { delivery, blocks, seal: seal.clone() });
                let held = Some(Held { number: last, teller: Some(own.clone()), seal });
                let _ = answer.send(Drained { held, notices, left, own: own_ends });
            }
            Wish::Acknowledge(number, done) => {
                if let Some(open) = open.remove(&number) {
                    // If this fails, it is delivered again.
                    let _ = open.delivery.acknowledge();
                }
                drop(done);
            }
            Wish::TakeBack(number) => drop(open.remove(&number)),
            Wish::Leave => is_leaving = true,
        }
        if is_leaving && open.is_empty() && reserved.is_empty() {
            break;
        }
    }
    drop(open);
    // A task that does not receive this keeps running until the server ends.
    let _ = host.leave();
}

/// Returns how many notifications fit into a reply, at least one.
fn fitting(notices: &[Told]) -> usize {
    let mut taken = 0;
    let fits = |told: &&Told| {
        taken += told.block.len();
        taken <= MOST_BYTES
    };
    notices.iter().take_while(fits).count().max(1)
}

/// Tasks that were started in another way are reported in the dialect of this conversation, too.
fn in_words(notice: &Notice, manner: &Manner, runtime: &Runtime, session: &str) -> Told {
    let mut notice = notice.clone();
    let task = runtime.tasks().task(notice.task.as_str(), &Scope::Session(session.to_owned()));
    notice.handle = match task {
        // The number that it has in another context belongs to another task here.
        Ok(task) if manner.context.is_some() && task.context.is_some() && task.context != manner.context => {
            task.id.to_string()
        }
        Ok(task) => manner.dialect.handle(&task),
        Err(_) => notice.task.to_string(),
    };
    notice.dialect = Some(manner.dialect);
    let block = notice.to_block();
    Told { notice, block }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Instant;

    use meanwhile::Programs;
    use mw_testkit::{SOON, wait_until};

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_silent_session_gives_its_thread_and_its_lease_back_and_takes_them_again() {
        let dir = tempfile::tempdir().unwrap();
        let programs = Programs { supervisor: PathBuf::new(), settle: Vec::new(), starter_exits: false };
        let settings = Arc::new(Settings::new(dir.path().join("state"), programs));
        let manner = |session_end| Manner {
            dialect: Dialect::Canonical,
            context: None,
            session_end,
            longest_call: Duration::ZERO,
        };
        let mut tellers = Tellers::new(Arc::clone(&settings), manner(SessionEnd::Keep), Tells::Replies);
        tellers.idle = Duration::from_millis(50);
        let is_known = |tellers: &Tellers| tellers.known.lock().unwrap().contains_key(&Recipient::from("s"));
        for _ in 0..3 {
            assert!(tellers.name(&"s".into()).await.is_some());
            wait_until(SOON, "it is given back", || (!is_known(&tellers)).then_some(()));
        }
        let holds = |session: &str| {
            let runtime = Runtime::open(settings.as_ref().clone()).unwrap();
            let held = std::fs::read_dir(runtime.home().root().join("sessions").join(session)).unwrap();
            held.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("teller")).count()
        };
        assert_eq!(holds("s"), 0);
        for (end, session) in [(SessionEnd::Kill, "s"), (SessionEnd::Keep, "project:x")] {
            assert!(end == SessionEnd::Kill || is_shared(session));
            let mut tellers = Tellers::new(Arc::clone(&settings), manner(end), Tells::Replies);
            tellers.idle = Duration::from_millis(1);
            let first = tellers.name(&session.into()).await;
            let begun = Instant::now();
            wait_until(SOON, "some time has passed", || (begun.elapsed().as_millis() > 100).then_some(()));
            assert_eq!(
                tellers.name(&session.into()).await,
                first,
                "its tasks would end, or others tell its starts"
            );
        }
    }
}
