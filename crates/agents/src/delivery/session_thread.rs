//! The thread that owns the notifications of one session. No notification is given to two replies.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use meanwhile::engine::{Delivery, Holder, Moment, Runtime, SessionHolder, is_shared};
use meanwhile::{Meanwhile, Scope};
use mw_model::{Notice, TaskId};
use tokio::sync::oneshot;

use super::deliveries::{DeliveryOptions, Drained, Notification};
use super::draft::{Draft, OpenReply};
use mw_tools::call::SessionEnd;

/// The maximum size of the notifications in a reply, in bytes.
const MAX_BYTES: usize = 8 << 10;

/// How often an acknowledgement is tried again, such as on a full disk.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// The ends of tasks that one reply reports or will report. No other reply of the session reports them meanwhile. It is
/// dropped after the delivery was recorded, or when the reply is discarded.
pub(crate) struct Reservation {
    tasks: Vec<TaskId>,
    thread: Sender<ThreadRequest>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let _ = self.thread.send(ThreadRequest::Release(std::mem::take(&mut self.tasks)));
    }
}

/// A request to the thread.
pub(super) enum ThreadRequest {
    Lease(oneshot::Sender<Holder>),
    Reserve(Vec<TaskId>, oneshot::Sender<Reservation>),
    Release(Vec<TaskId>),
    Drain(Vec<TaskId>, oneshot::Sender<Drained>),
    Acknowledge(u64, Sender<()>),
    TakeBack(u64),
    /// No further calls will follow. Replies that are being sent are still recorded.
    Leave,
}

/// Notifications that were given to a reply. If this is dropped before they are acknowledged, the next reply gets them.
pub(crate) struct HeldNotices {
    number: u64,
    thread: Option<Sender<ThreadRequest>>,
    pub(crate) draft: Draft,
}

impl HeldNotices {
    /// Acknowledges the notifications. This is durable when the call returns.
    pub(crate) fn acknowledge(mut self) {
        if let Some(thread) = self.thread.take() {
            let (done, closed) = channel();
            let _ = thread.send(ThreadRequest::Acknowledge(self.number, done));
            let _ = closed.recv();
        }
    }
}

impl Drop for HeldNotices {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.send(ThreadRequest::TakeBack(self.number));
        }
    }
}

/// A session to serve.
pub(super) struct ServedSession {
    pub(super) home: Meanwhile,
    pub(super) session: String,
    pub(super) options: DeliveryOptions,
    /// How long it may be idle.
    pub(super) idle: Duration,
}

impl ServedSession {
    /// Serves the session until it has been idle for long, or the home directory cannot be used. Two kinds of sessions
    /// are held as long as this server runs: those that end with their client, and those that several servers share,
    /// where each reports the tasks that it started. `own` sends to `inbox`.
    pub(super) fn serve(&self, inbox: &Receiver<ThreadRequest>, own: Sender<ThreadRequest>) {
        // If the home directory cannot be used, the calls themselves report it.
        let _ = self.home.with(|runtime| {
            let mut host = runtime.notifications().server(&self.session)?;
            if is_shared(&self.session) {
                host = host.of_own_starts();
            }
            let mut thread = SessionThread {
                runtime,
                host: &host,
                session: &self.session,
                options: &self.options,
                own,
                open: HashMap::new(),
                last: 0,
                written: Vec::new(),
                reserved: Vec::new(),
                claimed: HashSet::new(),
                is_leaving: false,
            };
            thread.run(inbox, self.idle);
            drop(thread);
            // If this fails, the tasks of the session keep running until the server ends.
            host.leave()
        });
    }
}

struct SessionThread<'a> {
    runtime: &'a Runtime,
    host: &'a SessionHolder<'a>,
    session: &'a str,
    options: &'a DeliveryOptions,
    /// Sends requests to this thread.
    own: Sender<ThreadRequest>,
    /// The notifications in replies that are not acknowledged yet, by number.
    open: HashMap<u64, OpenReply<'a>>,
    last: u64,
    /// The notifications in replies that were written, but whose acknowledgement failed. It is tried again.
    written: Vec<Delivery<'a>>,
    /// The ends that replies report or will report, with one element for each reply.
    reserved: Vec<TaskId>,
    /// The ends that this server has claimed. No other server of the session reports them.
    claimed: HashSet<TaskId>,
    is_leaving: bool,
}

impl SessionThread<'_> {
    fn run(&mut self, inbox: &Receiver<ThreadRequest>, idle: Duration) {
        let stays = self.options.session_end == SessionEnd::Kill || is_shared(self.session);
        loop {
            let patience = if self.written.is_empty() { idle } else { RETRY_INTERVAL };
            let received = inbox.recv_timeout(patience);
            self.written.retain_mut(|delivery| delivery.try_acknowledge().is_err());
            match received {
                Ok(request) => self.handle(request),
                Err(RecvTimeoutError::Timeout) if patience < idle => {}
                Err(RecvTimeoutError::Timeout) if stays || self.is_in_use() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
            if self.is_leaving && !self.is_in_use() {
                return;
            }
        }
    }

    fn is_in_use(&self) -> bool {
        !self.open.is_empty() || !self.reserved.is_empty()
    }

    fn handle(&mut self, request: ThreadRequest) {
        match request {
            ThreadRequest::Lease(answer) => _ = answer.send(self.host.holder()),
            // If the receiver is gone, the reservation is released at once.
            ThreadRequest::Reserve(tasks, answer) => _ = answer.send(self.reserve(tasks)),
            ThreadRequest::Release(tasks) => tasks.iter().for_each(|task| self.release(task)),
            ThreadRequest::Drain(own_ends, answer) => _ = answer.send(self.drain(own_ends)),
            ThreadRequest::Acknowledge(number, done) => {
                if let Some(OpenReply { mut delivery, .. }) = self.open.remove(&number)
                    && delivery.try_acknowledge().is_err()
                {
                    self.written.push(delivery);
                }
                drop(done);
            }
            ThreadRequest::TakeBack(number) => drop(self.open.remove(&number)),
            ThreadRequest::Leave => self.is_leaving = true,
        }
    }

    fn reservation(&self, tasks: Vec<TaskId>) -> Reservation {
        Reservation { tasks, thread: self.own.clone() }
    }

    fn reserve(&mut self, tasks: Vec<TaskId>) -> Reservation {
        self.reserved.extend_from_slice(&tasks);
        self.open.values_mut().for_each(|open| open.take_out(&tasks));
        // Other servers of the session, and hooks, leave these ends to this server. If the claim fails, they may report
        // them as well.
        let _ = self.host.reserve_ends(&tasks);
        self.claimed.extend(tasks.iter().cloned());
        self.reservation(tasks)
    }

    fn release(&mut self, task: &TaskId) {
        if let Some(at) = self.reserved.iter().position(|known| known == task) {
            self.reserved.swap_remove(at);
        }
        if !self.reserved.contains(task) && self.claimed.remove(task) {
            let _ = self.runtime.notifications().release_reservation(task, &self.host.holder());
        }
    }

    /// Takes notifications for a reply that itself reports these ends.
    fn drain(&mut self, own_ends: Vec<TaskId>) -> Drained {
        self.reserved.extend_from_slice(&own_ends);
        let by_others = |task: &TaskId| self.reserved.contains(task) && !own_ends.contains(task);
        let drained = self.host.drain_but(Moment::Idle, by_others);
        let nothing = Drained { own: Some(self.reservation(own_ends)), ..Drained::default() };
        let Some(mut delivery) = drained.ok().filter(|found| !found.notices().is_empty()) else {
            return nothing;
        };
        let mut notices: Vec<_> = delivery.notices().iter().map(|notice| self.in_dialect(notice)).collect();
        // A reply has limited room. The rest goes into the next one.
        let fitting = fitting(MAX_BYTES, notices.iter().map(|one| one.block.len()));
        let left = notices.len() - fitting;
        notices.truncate(fitting);
        if delivery.keep(fitting).is_err() {
            return nothing;
        }
        self.last += 1;
        let draft = Draft::default();
        let blocks = notices.iter().map(|one| (one.notice.number, one.block.clone())).collect();
        self.open.insert(self.last, OpenReply { delivery, blocks, draft: draft.clone() });
        let held = Some(HeldNotices { number: self.last, thread: Some(self.own.clone()), draft });
        Drained { held, notices, left, ..nothing }
    }

    /// Formats a notification in the dialect of this conversation, even if the task was started in another one.
    fn in_dialect(&self, notice: &Notice) -> Notification {
        let (mut notice, options) = (notice.clone(), self.options);
        let scope = Scope::Session(self.session.to_owned());
        notice.handle = match self.runtime.tasks().task(notice.task.as_str(), &scope) {
            // In another context, the number of the task refers to another task.
            Ok(task)
                if options.context.is_some() && task.context.is_some() && task.context != options.context =>
            {
                task.id.to_string()
            }
            Ok(task) => options.dialect.handle(&task),
            Err(_) => notice.task.to_string(),
        };
        notice.dialect = Some(options.dialect);
        let block = notice.to_block();
        Notification { notice, block }
    }
}

/// Returns how many texts of these lengths fit into a reply. If there is a text, it is at least one.
pub(crate) fn fitting(max_bytes: usize, lengths: impl ExactSizeIterator<Item = usize>) -> usize {
    let (count, mut taken) = (lengths.len(), 0);
    let fits = |length: &usize| {
        taken += length;
        taken <= max_bytes
    };
    lengths.take_while(fits).count().max(1).min(count)
}
