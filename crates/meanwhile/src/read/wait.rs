//! Waits for any or all of several tasks. Waiters sleep until supervisors and writers wake them.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use mw_model::wire::{ControlReply, Operation};
use mw_model::{TaskId, TaskState};
use rustix::event::{PollFd, PollFlags};

use super::condition::{Condition, WaitReply, WaitRequest};
use super::output::LineSearch;
use crate::database::on_disk;
use crate::disk::platform;
use crate::disk::task_dir::log_view::last_write_us;
use crate::disk::wake_up::Listener;
use crate::error::{Error, Result};
use crate::read::{Reader, Tasks};
use crate::reconcile::Reconciler;
use crate::redact::{Redaction, Redactor};
use crate::supervisor::control::Connection;
use crate::task::Task;

/// How often a port is tried; the kernel does not report when one opens.
const PORT_INTERVAL: Duration = Duration::from_millis(50);
/// How soon a starting or running task whose supervisor cannot be reached is checked again: soon at first, because it
/// may have just been started, then less and less often.
const NO_LINE_INTERVAL: Duration = Duration::from_millis(1);
const LONGEST_NO_LINE_INTERVAL: Duration = Duration::from_millis(50);

struct Watched {
    task: Task,
    /// Built in advance, because building it after a wake-up would delay the reply.
    redactor: Redactor,
    connection: Option<Connection>,
    /// How often in a row its supervisor could not be reached.
    unheard: u32,
    /// The condition came true.
    met: bool,
    /// It can no longer come true.
    hopeless: bool,
    search: LineSearch,
}

impl Watched {
    const fn is_decided(&self) -> bool {
        self.met || self.hopeless
    }

    fn shown(&self) -> Task {
        let mut task = self.task.clone();
        self.redactor.task(&mut task);
        task
    }
}

impl Reader<'_> {
    /// Refuses to wait for readiness if the task has no readiness condition.
    fn check_awaits_ready(&self, id: &TaskId) -> Result<()> {
        if self.base.home.task(id).spec()?.ready.is_some() {
            return Ok(());
        }
        Err(Error::NeverReady { id: id.clone() })
    }

    /// Waits until the condition is true of all tasks (or of one), until it can no longer become true, or until the timeout.
    /// The end of a wait never affects a task.
    ///
    /// # Errors
    /// When a task is unknown or the database fails.
    pub fn wait(&self, request: &WaitRequest) -> Result<WaitReply> {
        self.wait_with(request, |_| true)
    }

    /// Like [`Reader::wait`](crate::engine::Reader::wait), with a callback at every check; if it returns false, the wait ends as
    /// after a timeout.
    ///
    /// # Errors
    /// As [`Reader::wait`](crate::engine::Reader::wait).
    pub fn wait_with(
        &self,
        request: &WaitRequest,
        mut on_look: impl FnMut(&[Task]) -> bool,
    ) -> Result<WaitReply> {
        let deadline = request.timeout.map(|timeout| Instant::now() + timeout);
        let mut listener = None;
        let mut watched = self.watch(request)?;
        let is_any_queued = |watched: &[Watched]| {
            watched.iter().any(|one| matches!(one.task.state, TaskState::Pending { .. }))
        };
        if is_any_queued(&watched) {
            Reconciler::on(self.base).reconcile()?;
        }
        let mut met = Vec::new();
        let mut looked = Instant::now();
        loop {
            for one in watched.iter_mut().filter(|one| !one.is_decided()) {
                match self.look(one, &request.condition) {
                    // Report nothing that was not observed; other processes may free resources meanwhile.
                    Err(error) if error.is_shortage() => one.unheard += 1,
                    looked => looked?,
                }
                if one.met {
                    met.push(one.task.id.clone());
                }
            }
            let done = if request.any {
                !met.is_empty() || watched.iter().all(Watched::is_decided)
            } else {
                watched.iter().all(Watched::is_decided)
            };
            let out_of_time = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let tasks: Vec<_> = watched.iter().map(Watched::shown).collect();
            if done || out_of_time || !on_look(&tasks) {
                return self.wait_reply(tasks, met, !done);
            }
            if listener.is_none() && is_any_queued(&watched) {
                // A queued task has no supervisor that could wake us. Check once more, for changes from before this process
                // listened.
                listener = Some(self.base.listen()?);
                continue;
            }
            self.sleep(&watched, listener.as_ref(), request, deadline);
            listener.iter().for_each(Listener::clear);
            if looked.elapsed() >= self.base.settings.wait_fallback {
                // The process that should have sent the wake-up may have been killed.
                match Reconciler::on(self.base).reconcile() {
                    Err(error) if error.is_shortage() => {}
                    done => done?,
                }
                looked = Instant::now();
            }
        }
    }

    fn watch(&self, request: &WaitRequest) -> Result<Vec<Watched>> {
        let watch = |id| {
            let task = self.glance(id)?;
            if matches!(request.condition, Condition::Ready) {
                self.check_awaits_ready(id)?;
            }
            Ok(Watched {
                task,
                redactor: Redaction::on(self.base).redactor(id),
                connection: None,
                unheard: 0,
                met: false,
                hopeless: false,
                search: LineSearch::default(),
            })
        };
        request.tasks.iter().map(watch).collect()
    }

    fn wait_reply(&self, mut tasks: Vec<Task>, met: Vec<TaskId>, timed_out: bool) -> Result<WaitReply> {
        for task in tasks.iter_mut().filter(|task| !task.status.is_terminal()) {
            Tasks::on(self.base).complete(task)?;
        }
        Ok(WaitReply { tasks, met, timed_out })
    }

    /// Checks one task, and asks its supervisor to report the next change.
    fn look(&self, one: &mut Watched, condition: &Condition) -> Result<()> {
        let ended = self.hear(one)?;
        one.met = match condition {
            Condition::Exit => ended,
            Condition::Ready => one.task.ready.is_some(),
            Condition::Match(pattern) => one.search.go_on(self.base, &one.task, pattern)?.is_some(),
            Condition::Port(port) => port_open(*port),
            Condition::Silence(ms) => one.task.state.process().is_some() && self.silent_ms(&one.task) >= *ms,
        };
        one.hopeless = ended && !one.met;
        if !one.is_decided() && one.connection.is_none() {
            self.call(one, condition);
        }
        // Until its supervisor can be reached, no process reports the end of a task that is being started.
        let is_active =
            matches!(one.task.state, TaskState::Starting { .. }) || one.task.state.process().is_some();
        let unheard = one.connection.is_none() && is_active;
        one.unheard = if unheard { one.unheard + 1 } else { 0 };
        Ok(())
    }

    /// Reads the reports of the supervisor; returns whether the task has ended.
    fn hear(&self, one: &mut Watched) -> Result<bool> {
        if let Some(mut connection) = one.connection.take() {
            let ready = platform::is_readable_within(&connection, Duration::ZERO);
            match ready.then(|| connection.reply()) {
                None => one.connection = Some(connection),
                Some(Ok(ControlReply::Ended { record })) => {
                    // The exit record is enough; the database is updated later.
                    one.task.show_record(&record);
                    if one.task.status.is_terminal() {
                        return Ok(true);
                    }
                }
                Some(_) => {}
            }
            if one.connection.is_some() {
                return Ok(false);
            }
        }
        one.task = self.glance(&one.task.id)?;
        Ok(one.task.status.is_terminal())
    }

    /// Returns the current state of a task: from its directory alone if it runs, else from the database.
    fn glance(&self, id: &TaskId) -> Result<Task> {
        match on_disk::running_task(&self.base.home, id)? {
            Some(task) => Ok(task),
            None => Reconciler::on(self.base).current(id),
        }
    }

    fn call(&self, one: &mut Watched, condition: &Condition) {
        let operation = match condition {
            Condition::Exit | Condition::Port(_) => Operation::Wait,
            Condition::Ready => Operation::WaitReady,
            Condition::Match(_) => Operation::Watch { offset: one.search.known_end, after_end: false },
            Condition::Silence(_) => Operation::Watch { offset: u64::MAX, after_end: false },
        };
        if let Ok(mut connection) = Connection::connect(&self.base.home, &one.task.id)
            && connection.send(operation).is_ok()
        {
            one.connection = Some(connection);
        }
    }

    fn silent_ms(&self, task: &Task) -> u64 {
        let now = self.base.clock.now();
        let started = task.started_at.map_or(0, |started| started.as_micros());
        let last = last_write_us(&self.base.home.task(&task.id)).unwrap_or(0).max(started);
        now.ms_since(mw_model::Timestamp::from_micros(last))
    }

    fn sleep(
        &self,
        watched: &[Watched],
        listener: Option<&Listener>,
        request: &WaitRequest,
        deadline: Option<Instant>,
    ) {
        let fallback = self.base.settings.wait_fallback;
        let mut longest = request.poll_interval.map_or(fallback, |every| every.min(fallback));
        match &request.condition {
            Condition::Exit | Condition::Ready | Condition::Match(_) => {}
            Condition::Port(_) => longest = longest.min(PORT_INTERVAL),
            Condition::Silence(ms) => {
                for one in watched.iter().filter(|one| !one.is_decided()) {
                    longest = longest
                        .min(Duration::from_millis(ms.saturating_sub(self.silent_ms(&one.task)).max(1)));
                }
            }
        }
        let timeout = |one: &Watched| (NO_LINE_INTERVAL * one.unheard).min(LONGEST_NO_LINE_INTERVAL);
        for one in watched.iter().filter(|one| !one.is_decided() && one.unheard > 0) {
            longest = longest.min(timeout(one));
        }
        if let Some(deadline) = deadline {
            longest = longest.min(deadline.saturating_duration_since(Instant::now()));
        }
        let connections = watched.iter().filter_map(|one| one.connection.as_ref()).map(AsFd::as_fd);
        let mut fds: Vec<_> = connections
            .chain(listener.map(AsFd::as_fd))
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        platform::poll_within(&mut fds, longest);
    }
}

fn port_open(port: u16) -> bool {
    let addresses =
        [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))];
    addresses.iter().any(|address| TcpStream::connect_timeout(address, Duration::from_millis(200)).is_ok())
}
