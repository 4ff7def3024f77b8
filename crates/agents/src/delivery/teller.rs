//! Who passes the news of a session on. One thread per session holds it, so that what was handed to one reply is
//! handed to no other.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use meanwhile::{Moment, Runtime, Scope, Settings, Teller};
use mw_model::{Notice, TaskId};
use tokio::sync::oneshot;

use meanwhile::is_shared;
use mw_tools::call::SessionEnd;
use mw_tools::dialects::Dialect;

/// How long a session may be silent before its thread and its lease are given back, where no call takes longer. The next call
/// takes them again.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// Most bytes of notices in front of one reply.
const MOST_BYTES: usize = 8 << 10;

/// Who tells a session's agent what it has not been told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    /// Whoever answers its calls, in front of the next reply.
    Replies,
    /// The host of the session, which is not here.
    Host,
}

/// How a server speaks to its sessions, and what holds for them.
#[derive(Clone)]
pub(crate) struct Manner {
    pub(crate) dialect: Dialect,
    /// When the server began, where it has one client: a number of another context is none of its own; see [`Premises::context_stamp`](mw_tools::call::Premises::context_stamp).
    pub(crate) context: Option<String>,
    pub(crate) session_end: SessionEnd,
    /// Longest time one call may take.
    pub(crate) longest_call: Duration,
}

/// Who serves whom.
type Known = Arc<Mutex<HashMap<Member, Sender<Wish>>>>;

/// Who is told: a session; where several clients of one server share it without knowing of each other, one of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Member {
    pub(crate) session: String,
    pub(crate) client: Option<String>,
}

impl From<&str> for Member {
    fn from(session: &str) -> Self {
        Self { session: session.to_owned(), client: None }
    }
}

/// The tellers of all sessions that were asked for.
pub(crate) struct Tellers {
    settings: Arc<Settings>,
    manner: Manner,
    tells: Tells,
    known: Known,
    idle: Duration,
}

/// The ends of tasks that one reply tells, or will tell: no other reply of the session tells them meanwhile. Dropped once
/// it is noted that they were told, or when the reply came to nothing.
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
    /// Nobody asks any more; replies on their way are still noted.
    Leave,
}

/// Notices for one reply, and what holds them. Dropped on the way, they are handed to the next.
#[derive(Default)]
pub(crate) struct Drained {
    pub(crate) held: Option<Held>,
    pub(crate) notices: Vec<Told>,
    /// How many wait for the next reply, because this one has no room for them.
    pub(crate) left: usize,
    /// The ends that the reply tells itself.
    pub(crate) own: Option<Reserved>,
}

/// A notice in the words of a dialect.
pub(crate) struct Told {
    pub(crate) notice: Notice,
    pub(crate) block: String,
}

/// Notices that were handed to a reply. Dropped, they are handed to the next.
pub(crate) struct Held {
    number: u64,
    teller: Option<Sender<Wish>>,
}

impl Held {
    /// Closes them. They are closed for good when this returns, so that a reply that is written later proves it.
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

    /// Holds a session from now on: a client that comes back says so before it calls anything.
    pub(crate) fn hold(&self, session: &str) {
        drop(self.teller(&session.into()));
    }

    /// Gives a session back, because its last client has left and this server goes on.
    pub(crate) fn leave(&self, session: &str) {
        let known: Vec<Member> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.keys().filter(|member| member.session == session).cloned().collect()
        };
        known.iter().for_each(|member| self.forget(member));
    }

    /// Holds the news of a client no longer: it is gone. What it was not told passes to those who share its session.
    pub(crate) fn forget(&self, member: &Member) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(member);
        if let Some(teller) = known {
            let _ = teller.send(Wish::Leave);
        }
    }

    /// Returns by what name the news of a session is held. Nothing where the home cannot be used; the call that
    /// asks finds out why.
    pub(crate) async fn name(&self, member: &Member) -> Option<Teller> {
        self.ask(member, Wish::Name).await
    }

    /// Leaves the ends of tasks to a reply that will tell them, until what is returned is dropped. Blocks until no reply
    /// can take them any more. Nothing where the home cannot be used.
    pub(crate) fn reserve(&self, member: &Member, tasks: &[TaskId]) -> Option<Reserved> {
        if self.tells == Tells::Host {
            return None;
        }
        let (answer, answered) = oneshot::channel();
        self.teller(member).send(Wish::Reserve(tasks.to_vec(), answer)).ok()?;
        answered.blocking_recv().ok()
    }

    /// Takes what a session has not been told, and no other reply tells. The ends that this reply tells are reserved for it
    /// first, and held with the rest, so that nobody else tells them before it is written; the caller leaves them out of its
    /// text.
    pub(crate) async fn drain(&self, member: &Member, own: &[TaskId]) -> Drained {
        let wish = |answer| Wish::Drain(own.to_vec(), answer);
        match self.tells {
            Tells::Replies => self.ask(member, wish).await.unwrap_or_default(),
            Tells::Host => Drained::default(),
        }
    }

    async fn ask<T>(&self, member: &Member, wish: impl Fn(oneshot::Sender<T>) -> Wish) -> Option<T> {
        // Its thread may just have left, or its home could not be used; perhaps it can now.
        for _ in 0..2 {
            let (answer, answered) = oneshot::channel();
            if self.teller(member).send(wish(answer)).is_ok()
                && let Ok(answer) = answered.await
            {
                return Some(answer);
            }
        }
        None
    }

    fn teller(&self, member: &Member) -> Sender<Wish> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let start = || {
            let (wishes, inbox) = channel();
            let (settings, session, manner) =
                (Arc::clone(&self.settings), member.session.clone(), self.manner.clone());
            let (own, idle) = (wishes.clone(), self.idle);
            let (here, member) = (Arc::clone(&self.known), member.clone());
            thread::spawn(move || {
                tell(&settings, &session, &manner, &inbox, &own, idle);
                here.lock().unwrap_or_else(PoisonError::into_inner).remove(&member);
            });
            wishes
        };
        known.entry(member.clone()).or_insert_with(start).clone()
    }
}

/// Serves one session until it has been silent for long, or its home cannot be used. Two sorts are held as long as this
/// server lives, because silence is no end: one that ends with its client, and one that several servers share, where each
/// tells its own starts.
fn tell(
    settings: &Settings,
    session: &str,
    manner: &Manner,
    inbox: &Receiver<Wish>,
    own: &Sender<Wish>,
    idle: Duration,
) {
    let Ok(runtime) = Runtime::open(settings.clone()) else { return };
    let Ok(mut host) = runtime.server(session) else { return };
    if is_shared(session) {
        host = host.of_own_starts();
    }
    let stays = manner.session_end == SessionEnd::Kill || is_shared(session);
    let mut open = HashMap::new();
    let mut last = 0;
    let mut is_leaving = false;
    // What replies tell, or will tell, once for each of them.
    let mut reserved: Vec<TaskId> = Vec::new();
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
                // One that nobody takes is released at once.
                let _ = answer.send(reservation(tasks));
            }
            Wish::Release(tasks) => {
                for task in &tasks {
                    if let Some(at) = reserved.iter().position(|known| known == task) {
                        reserved.swap_remove(at);
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
                // A reply has an end; what does not fit leads the next one.
                let fitting = fitting(&notices);
                let left = notices.len() - fitting;
                notices.truncate(fitting);
                if delivery.keep(fitting).is_err() {
                    let _ = answer.send(Drained { own: own_ends, ..Drained::default() });
                    continue;
                }
                open.insert(last, delivery);
                let held = Some(Held { number: last, teller: Some(own.clone()) });
                let _ = answer.send(Drained { held, notices, left, own: own_ends });
            }
            Wish::Acknowledge(number, done) => {
                if let Some(delivery) = open.remove(&number) {
                    // What fails here is told once more.
                    let _ = delivery.acknowledge();
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
    // A task that does not hear of it goes on until the server ends.
    let _ = host.leave();
}

/// Returns how many notices one reply has room for; one at least.
fn fitting(notices: &[Told]) -> usize {
    let mut taken = 0;
    let fits = |told: &&Told| {
        taken += told.block.len();
        taken <= MOST_BYTES
    };
    notices.iter().take_while(fits).count().max(1)
}

/// Of whatever was started otherwise it is told in the words of this conversation, too.
fn in_words(notice: &Notice, manner: &Manner, runtime: &Runtime, session: &str) -> Told {
    let mut notice = notice.clone();
    let task = runtime.task(notice.task.as_str(), &Scope::Session(session.to_owned()));
    notice.handle = match task {
        // The number that another context gave it means another task here.
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
        let is_known = |tellers: &Tellers| tellers.known.lock().unwrap().contains_key(&Member::from("s"));
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
