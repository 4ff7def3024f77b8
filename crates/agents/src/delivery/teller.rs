//! Who passes the news of a session on. One thread per session holds it, so that what was handed to one reply is
//! handed to no other.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use meanwhile::{Moment, Runtime, Scope, Settings, Teller};
use mw_model::{Notice, TaskId};
use tokio::sync::oneshot;

use meanwhile::is_shared;
use mw_tools::dialects::Dialect;

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
}

/// The tellers of all sessions that were asked for.
pub(crate) struct Tellers {
    settings: Arc<Settings>,
    manner: Manner,
    tells: Tells,
    known: Mutex<HashMap<String, Sender<Wish>>>,
    /// What replies tell that are on their way.
    underway: Underway,
}

/// Tasks whose ends are told by replies that are on their way: no other reply tells them meanwhile.
#[derive(Clone, Default)]
struct Underway(Arc<Mutex<Vec<TaskId>>>);

impl Underway {
    fn tasks(&self) -> Vec<TaskId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A reply on its way that tells the ends of tasks. Dropped once that is noted, or when it came to nothing.
pub(crate) struct OnItsWay {
    tasks: Vec<TaskId>,
    underway: Underway,
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        let mut underway = self.underway.0.lock().unwrap_or_else(PoisonError::into_inner);
        for task in &self.tasks {
            if let Some(at) = underway.iter().position(|known| known == task) {
                underway.swap_remove(at);
            }
        }
    }
}

enum Wish {
    Name(oneshot::Sender<Teller>),
    Drain(Vec<TaskId>, oneshot::Sender<Drained>),
    Acknowledge(u64, Sender<()>),
    TakeBack(u64),
    Leave,
}

/// Notices for one reply, and what holds them. Dropped on the way, they are handed to the next.
#[derive(Default)]
pub(crate) struct Drained {
    pub(crate) held: Option<Held>,
    pub(crate) notices: Vec<Told>,
    /// How many wait for the next reply, because this one has no room for them.
    pub(crate) left: usize,
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
        Self { settings, manner, tells, known: Mutex::default(), underway: Underway::default() }
    }

    /// Holds a session from now on: a client that comes back says so before it calls anything.
    pub(crate) fn hold(&self, session: &str) {
        drop(self.teller(session));
    }

    /// Gives a session back, because its last client has left and this server goes on.
    pub(crate) fn leave(&self, session: &str) {
        let left = self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
        if let Some(teller) = left {
            let _ = teller.send(Wish::Leave);
        }
    }

    /// Returns by what name the news of a session is held. Nothing where the home cannot be used; the call that
    /// asks finds out why.
    pub(crate) async fn name(&self, session: &str) -> Option<Teller> {
        self.ask(session, Wish::Name).await
    }

    /// Notes that a reply tells the ends of these tasks, until what is returned is dropped.
    pub(crate) fn on_its_way(&self, tasks: &[TaskId]) -> OnItsWay {
        self.underway.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(tasks);
        OnItsWay { tasks: tasks.to_vec(), underway: self.underway.clone() }
    }

    /// Takes what a session has not been told, and no other reply on its way tells. The ends that this reply tells are held
    /// with the rest, so that nobody else tells them before it is written; the caller leaves them out of its text.
    pub(crate) async fn drain(&self, session: &str, own: &[TaskId]) -> Drained {
        let wish = |answer| Wish::Drain(own.to_vec(), answer);
        match self.tells {
            Tells::Replies => self.ask(session, wish).await.unwrap_or_default(),
            Tells::Host => Drained::default(),
        }
    }

    async fn ask<T>(&self, session: &str, wish: impl Fn(oneshot::Sender<T>) -> Wish) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        if self.teller(session).send(wish(answer)).is_err() {
            // Its home could not be used; perhaps it can now.
            self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
            return None;
        }
        answered.await.ok()
    }

    fn teller(&self, session: &str) -> Sender<Wish> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let start = || {
            let (wishes, inbox) = channel();
            let (settings, session, manner) =
                (Arc::clone(&self.settings), session.to_owned(), self.manner.clone());
            let (own, underway) = (wishes.clone(), self.underway.clone());
            thread::spawn(move || tell(&settings, &session, &manner, &inbox, &own, &underway));
            wishes
        };
        known.entry(session.to_owned()).or_insert_with(start).clone()
    }
}

/// Serves one session until nobody can ask any more, or its home cannot be used.
fn tell(
    settings: &Settings,
    session: &str,
    manner: &Manner,
    inbox: &Receiver<Wish>,
    own: &Sender<Wish>,
    underway: &Underway,
) {
    let Ok(runtime) = Runtime::open(settings.clone()) else { return };
    let Ok(mut host) = runtime.server(session) else { return };
    if is_shared(session) {
        host = host.of_own_starts();
    }
    let mut open = HashMap::new();
    let mut last = 0;
    while let Ok(wish) = inbox.recv() {
        match wish {
            Wish::Name(answer) => _ = answer.send(host.teller()),
            Wish::Drain(of_reply, answer) => {
                let told = underway.tasks();
                let by_others = |task: &TaskId| told.contains(task) && !of_reply.contains(task);
                let drained = host.drain_but(Moment::Idle, by_others);
                let Some(mut delivery) = drained.ok().filter(|found| !found.notices().is_empty()) else {
                    let _ = answer.send(Drained::default());
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
                    let _ = answer.send(Drained::default());
                    continue;
                }
                open.insert(last, delivery);
                let held = Some(Held { number: last, teller: Some(own.clone()) });
                let _ = answer.send(Drained { held, notices, left });
            }
            Wish::Acknowledge(number, done) => {
                if let Some(delivery) = open.remove(&number) {
                    // What fails here is told once more.
                    let _ = delivery.acknowledge();
                }
                drop(done);
            }
            Wish::TakeBack(number) => drop(open.remove(&number)),
            Wish::Leave => {
                drop(open);
                // A task that does not hear of it goes on until the server ends.
                let _ = host.leave();
                return;
            }
        }
    }
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
