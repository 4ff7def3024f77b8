//! One wait over any or all of many tasks. Waiters sleep; supervisors and writers wake them.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use mw_model::wire::{ControlReply, Operation};
use mw_model::{TaskId, TaskState};
use regex::bytes::Regex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::output::{LineSearch, last_write_us};
use super::redact::Redactor;
use crate::error::{Error, Result};
use crate::live::control::Line;
use crate::notify::bell::Bell;
use crate::runtime::Runtime;
use crate::settle::index;
use crate::task::Task;

/// How often a port is tried; no kernel tells when one opens.
const PORT_INTERVAL: Duration = Duration::from_millis(50);
/// How soon a task that runs, but whose supervisor cannot be reached, is looked at again: at first so soon,
/// because it may just have been started, then ever more rarely.
const NO_LINE_INTERVAL: Duration = Duration::from_millis(1);
const LONGEST_NO_LINE_INTERVAL: Duration = Duration::from_millis(50);

/// What to wait for.
#[derive(Clone, Debug)]
pub enum Condition {
    /// The end.
    Exit,
    /// That it is ready, see [`TaskRequest::ready`](crate::TaskRequest::ready).
    Ready,
    /// A line of output that fits this regular expression.
    Match(Regex),
    /// A port on this machine that takes connections.
    Port(u16),
    /// No output for this many milliseconds.
    Silence(u64),
}

impl Condition {
    /// Reads a regular expression.
    ///
    /// # Errors
    /// When it is none.
    pub fn matching(pattern: &str) -> Result<Self> {
        super::output::compile(pattern).map(Self::Match)
    }
}

/// A wait.
#[derive(Clone, Debug)]
pub struct WaitRequest {
    /// For which tasks.
    pub tasks: Vec<TaskId>,
    /// Whether one is enough.
    pub any: bool,
    /// For what.
    pub condition: Condition,
    /// For how long at most.
    pub timeout: Option<Duration>,
    /// Longest time between two looks, for those who show something meanwhile.
    pub look_every: Option<Duration>,
}

/// How a wait ended.
#[derive(Clone, Debug)]
pub struct WaitReply {
    /// The tasks as they are now, in the order asked for.
    pub tasks: Vec<Task>,
    /// Those for which the condition came true, in the order in which it did.
    pub met: Vec<TaskId>,
    /// Whether the time was up.
    pub timed_out: bool,
}

struct Watched {
    task: Task,
    /// Made before there is anything to tell: whoever waits for news waits for nothing else.
    redactor: Redactor,
    line: Option<Line>,
    /// How many looks in a row its supervisor could not be reached.
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

impl Runtime {
    /// Waits until the condition is true of all tasks (or of one), until it can no longer be, or until
    /// the time is up. A wait that ends never touches a task.
    ///
    /// # Errors
    /// When a task is unknown or the database fails.
    pub fn wait(&self, request: &WaitRequest) -> Result<WaitReply> {
        self.wait_with(request, |_| true)
    }

    /// The same, calling back at every look; returning false ends the wait as if the time were up.
    ///
    /// # Errors
    /// As [`Runtime::wait`].
    pub fn wait_with(
        &self,
        request: &WaitRequest,
        mut on_look: impl FnMut(&[Task]) -> bool,
    ) -> Result<WaitReply> {
        let deadline = request.timeout.map(|timeout| Instant::now() + timeout);
        let mut bell = None;
        let mut watched = Vec::new();
        for id in &request.tasks {
            let task = self.glance(id)?;
            if matches!(request.condition, Condition::Ready) {
                self.check_awaits_ready(id)?;
            }
            watched.push(Watched {
                task,
                redactor: self.redactor(id),
                line: None,
                unheard: 0,
                met: false,
                hopeless: false,
                search: LineSearch::default(),
            });
        }
        if watched.iter().any(|one| matches!(one.task.state, TaskState::Pending { .. })) {
            self.reconcile()?;
        }
        let mut met = Vec::new();
        let mut looked = Instant::now();
        loop {
            for one in watched.iter_mut().filter(|one| !one.is_decided()) {
                match self.look(one, &request.condition) {
                    // Nobody is told anything that was not seen; others may give back what they use meanwhile.
                    Err(error) if error.is_lack() => one.unheard += 1,
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
            if bell.is_none() && watched.iter().any(|one| matches!(one.task.state, TaskState::Pending { .. }))
            {
                // No supervisor will call for a task that waits. What happened before the bell hung shows
                // in another look.
                bell = Some(Bell::hang(&self.home).map_err(Error::io("cannot listen for wake-ups"))?);
                continue;
            }
            self.sleep(&watched, bell.as_ref(), request, deadline);
            bell.iter().for_each(Bell::clear);
            if looked.elapsed() >= Duration::from_millis(self.settings.fallback_ms) {
                // Whoever should have rung may have been killed.
                match self.reconcile() {
                    Err(error) if error.is_lack() => {}
                    done => done?,
                }
                looked = Instant::now();
            }
        }
    }

    fn wait_reply(&self, mut tasks: Vec<Task>, met: Vec<TaskId>, timed_out: bool) -> Result<WaitReply> {
        for task in tasks.iter_mut().filter(|task| !task.status.is_terminal()) {
            self.complete(task)?;
        }
        Ok(WaitReply { tasks, met, timed_out })
    }

    /// Looks at one task, asking its supervisor to call when there is something new.
    fn look(&self, one: &mut Watched, condition: &Condition) -> Result<()> {
        let ended = self.hear(one)?;
        match condition {
            Condition::Exit => one.met = ended,
            Condition::Ready => {
                one.met = one.task.ready.is_some();
                one.hopeless = ended && !one.met;
            }
            Condition::Match(pattern) => {
                one.met = one.search.go_on(self, &one.task, pattern)?.is_some();
                one.hopeless = ended && !one.met;
            }
            Condition::Port(port) => {
                one.met = port_open(*port);
                one.hopeless = ended && !one.met;
            }
            Condition::Silence(ms) => {
                let running =
                    matches!(one.task.state, TaskState::Running { .. } | TaskState::Cancelling { .. });
                one.met = running && self.silent_ms(&one.task) >= *ms;
                one.hopeless = ended && !one.met;
            }
        }
        if !one.is_decided() && one.line.is_none() {
            self.call(one, condition);
        }
        let unheard = one.line.is_none() && one.task.state.process().is_some();
        one.unheard = if unheard { one.unheard + 1 } else { 0 };
        Ok(())
    }

    /// Takes what the supervisor has said; tells whether the task is over.
    fn hear(&self, one: &mut Watched) -> Result<bool> {
        if let Some(mut line) = one.line.take() {
            let ready = is_readable(&line);
            match ready.then(|| line.reply()) {
                None => one.line = Some(line),
                Some(Ok(ControlReply::Ended { record })) => {
                    // The record is the news; the database follows at its own pace.
                    one.task.show_record(&record);
                    if one.task.status.is_terminal() {
                        return Ok(true);
                    }
                }
                Some(_) => {}
            }
            if one.line.is_some() {
                return Ok(false);
            }
        }
        one.task = self.glance(&one.task.id)?;
        Ok(one.task.status.is_terminal())
    }

    /// Returns a task as it is: one that runs from its directory alone, others from the database.
    fn glance(&self, id: &TaskId) -> Result<Task> {
        match index::running_task(&self.home, id)? {
            Some(task) => Ok(task),
            None => self.current(id),
        }
    }

    fn call(&self, one: &mut Watched, condition: &Condition) {
        let operation = match condition {
            Condition::Exit | Condition::Port(_) => Operation::Wait,
            Condition::Ready => Operation::WaitReady,
            Condition::Match(_) => Operation::Watch { offset: one.search.known_end, after_end: false },
            Condition::Silence(_) => Operation::Watch { offset: u64::MAX, after_end: false },
        };
        if let Ok(mut line) = Line::connect(&self.home, &one.task.id)
            && line.send(operation).is_ok()
        {
            one.line = Some(line);
        }
    }

    fn silent_ms(&self, task: &Task) -> u64 {
        let now = self.clock.now();
        let started = task.started_at.map_or(0, |started| started.as_micros());
        let last = last_write_us(&self.home.task(&task.id)).unwrap_or(0).max(started);
        now.ms_since(mw_model::Timestamp::from_micros(last))
    }

    fn sleep(
        &self,
        watched: &[Watched],
        bell: Option<&Bell>,
        request: &WaitRequest,
        deadline: Option<Instant>,
    ) {
        let fallback = Duration::from_millis(self.settings.fallback_ms);
        let mut longest = request.look_every.map_or(fallback, |every| every.min(fallback));
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
        let patience = |one: &Watched| (NO_LINE_INTERVAL * one.unheard).min(LONGEST_NO_LINE_INTERVAL);
        for one in watched.iter().filter(|one| !one.is_decided() && one.unheard > 0) {
            longest = longest.min(patience(one));
        }
        if let Some(deadline) = deadline {
            longest = longest.min(deadline.saturating_duration_since(Instant::now()));
        }
        let timeout = Timespec { tv_sec: longest.as_secs() as i64, tv_nsec: longest.subsec_nanos().into() };
        let lines = watched.iter().filter_map(|one| one.line.as_ref()).map(AsFd::as_fd);
        let mut fds: Vec<_> = lines
            .chain(bell.map(AsFd::as_fd))
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        let _ = poll(&mut fds, Some(&timeout));
    }

    /// Waits for a run's exit record for a moment; returns whether it is there.
    pub(crate) fn await_record(&self, id: &TaskId, run: u32, patience: Duration) -> Result<bool> {
        let deadline = Instant::now() + patience;
        while self.home.result(id, run)?.is_none() {
            if Instant::now() > deadline {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(true)
    }

    /// Waits until the supervisors of an ended task are gone.
    pub(crate) fn await_unsupervised(&self, id: &TaskId) -> Result<()> {
        let deadline = Instant::now() + Duration::from_secs(10);
        while self.home.is_supervised(id)? {
            if Instant::now() > deadline {
                return Err(Error::Refused {
                    id: id.to_string(),
                    message: "its supervisor has not gone away".to_owned(),
                });
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

fn is_readable(line: &Line) -> bool {
    let mut fds = [PollFd::new(line, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

fn port_open(port: u16) -> bool {
    let addresses =
        [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))];
    addresses.iter().any(|address| TcpStream::connect_timeout(address, Duration::from_millis(200)).is_ok())
}
