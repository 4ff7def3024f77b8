//! Keys for a task that runs in a separate terminal, while `mw run` shows it in the user's terminal.
//!
//! The user's terminal is in raw mode, so that every key reaches the task's terminal, which turns Ctrl-C and Ctrl-\\ into signals
//! and Ctrl-D into the end of input, and echoes. `mw` handles two keys itself: Ctrl-B leaves a task that reads whole lines, and the
//! stop key (Ctrl-Z) stops the task and then `mw`, because the kernel does not stop a process group without a parent in its session.
//! While `mw` is a background job of a shell, it reads nothing and changes no mode.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use meanwhile::engine::{KillRequest, Runtime};
use meanwhile::model::TaskId;
use meanwhile::model::signal::{SIGCONT, SIGSTOP, SIGWINCH};
use meanwhile::{Scope, Settings};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpgrp, kill_process_group};
use rustix::termios::tcgetpgrp;

use super::task_terminal::TaskTerminal;
use super::terminal::{Keys, RawMode};
use crate::context::Context;
use crate::render;

const CTRL_B: u8 = 2;
const CTRL_C: u8 = 3;
/// How soon the end of the task, or a change between foreground and background job, is noticed.
const NOTICE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How soon keys are sent again that the task's terminal had no room for.
const AGAIN: Duration = Duration::from_millis(5);

/// Returns whether standard input and output are terminals, so that the command can have one, too.
pub(crate) fn has_terminals() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Requests of the user, made with keys.
#[derive(Default)]
pub(crate) struct UserRequests {
    /// Leave the task running.
    pub(crate) detach: AtomicBool,
    /// How often the user asked to end a task that has not started.
    pub(crate) interrupts: AtomicUsize,
}

/// Keys on their way to a task, until this is dropped.
pub(crate) struct Typing {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    ends: AtomicBool,
    raw: Mutex<Option<RawMode>>,
    asked: Arc<UserRequests>,
}

impl Shared {
    fn set_raw(&self, wanted: bool) {
        let mut raw = self.raw.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = wanted && !self.ends.load(Ordering::SeqCst);
        match (wanted, raw.is_some()) {
            (true, false) => *raw = Some(RawMode::enter(Keys::All)),
            (false, true) => *raw = None,
            (true, true) | (false, false) => {}
        }
    }
}

impl Typing {
    /// Passes keys on from now on.
    pub(crate) fn begin(context: &Context, id: &TaskId, asked: &Arc<UserRequests>) -> Self {
        let shared = Arc::new(Shared {
            ends: AtomicBool::new(false),
            raw: Mutex::new(None),
            asked: Arc::clone(asked),
        });
        if is_foreground() {
            shared.set_raw(true);
        }
        let keys = Arc::clone(&shared);
        let (settings, scope, id) = (context.config.settings.clone(), context.scope(), id.clone());
        let by = context.requester();
        let thread = std::thread::spawn(move || {
            let passed = Passing::open(settings, scope, id, by).and_then(|mut passing| passing.pass(&keys));
            if let Err(error) = passed {
                render::note(&format!("input is not passed on any more: {error}"));
            }
        });
        Self { shared, thread: Some(thread) }
    }

    /// Returns whether our terminal is in raw mode now.
    pub(crate) fn is_raw(&self) -> bool {
        self.shared.raw.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl Drop for Typing {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        // It may wait for a task that does not answer.
        if let Some(thread) = self.thread.take_if(|thread| thread.is_finished()) {
            let _ = thread.join();
        }
        self.shared.set_raw(false);
    }
}

/// Returns whether we are the foreground job of our terminal.
fn is_foreground() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp())
}

/// The thread that reads the keyboard.
struct Passing {
    runtime: Runtime,
    scope: Scope,
    id: TaskId,
    by: String,
    pid: Option<u32>,
}

impl Passing {
    fn open(settings: Settings, scope: Scope, id: TaskId, by: String) -> meanwhile::Result<Self> {
        Ok(Self { runtime: Runtime::open(settings)?, scope, id, by, pid: None })
    }

    fn pass(&mut self, shared: &Shared) -> meanwhile::Result<()> {
        let mut buffer = [0; 4096];
        while !shared.ends.load(Ordering::Relaxed) {
            let is_ours = is_foreground();
            shared.set_raw(is_ours);
            if !is_ours {
                let _ = poll(&mut [], Some(&NOTICE));
                continue;
            }
            if !is_readable() {
                continue;
            }
            let Ok(read @ 1..) = rustix::io::read(io::stdin().as_fd(), &mut buffer) else {
                // The terminal is gone. Its signal ends or detaches us.
                let _ = poll(&mut [], Some(&NOTICE));
                continue;
            };
            self.take(&buffer[..read], shared)?;
        }
        Ok(())
    }

    /// Sends keys to the task, except those that are ours.
    fn take(&mut self, mut keys: &[u8], shared: &Shared) -> meanwhile::Result<()> {
        while let Some(first) = keys.first() {
            let special = keys.iter().position(|key| is_special(*key));
            match special {
                Some(0) => {
                    let terminal = self.started().and_then(TaskTerminal::of);
                    match (*first, terminal) {
                        (CTRL_C, None) if self.pid.is_none() => {
                            shared.asked.interrupts.fetch_add(1, Ordering::Relaxed);
                        }
                        (CTRL_B, None) => shared.asked.detach.store(true, Ordering::Relaxed),
                        (CTRL_B, Some(task)) if task.reads_lines => {
                            shared.asked.detach.store(true, Ordering::Relaxed);
                        }
                        (key, Some(task)) if task.stop_key == Some(key) => self.stop(shared),
                        (_, Some(_)) => self.send(&keys[..1], shared)?,
                        (_, None) => self.send(&keys[..1], shared)?,
                    }
                    keys = &keys[1..];
                }
                at => {
                    let (plain, rest) = keys.split_at(at.unwrap_or(keys.len()));
                    self.send(plain, shared)?;
                    keys = rest;
                }
            }
        }
        Ok(())
    }

    /// Returns the process of the task, if it has started.
    fn started(&mut self) -> Option<u32> {
        if self.pid.is_none() {
            self.pid =
                self.runtime.tasks().task(self.id.as_str(), &self.scope).ok().and_then(|task| task.pid);
        }
        self.pid
    }

    /// Types keys as soon as there is room for them.
    fn send(&mut self, mut keys: &[u8], shared: &Shared) -> meanwhile::Result<()> {
        while !keys.is_empty() && !shared.ends.load(Ordering::Relaxed) {
            let taken = match self.started() {
                None => 0,
                Some(_) => match self.runtime.live().type_some(&self.id, keys, false) {
                    Ok((taken, _)) => taken,
                    Err(meanwhile::Error::Refused { .. } | meanwhile::Error::Unresponsive { .. }) => 0,
                    Err(error) => return Err(error),
                },
            };
            keys = &keys[taken..];
            if taken == 0 {
                std::thread::sleep(AGAIN);
            }
        }
        Ok(())
    }

    /// Stops the task and us; continues both when we are continued.
    fn stop(&self, shared: &Shared) {
        let signal = |signal| {
            let request = KillRequest { by: self.by.clone(), signal, grace_ms: None };
            let _ = self.runtime.live().kill(self.id.as_str(), &self.scope, &request);
        };
        signal(SIGSTOP);
        let _ = render::out("^Z");
        shared.set_raw(false);
        stop_own_group();
        // We were continued, in the foreground or in the background.
        signal(SIGCONT);
        shared.set_raw(is_foreground());
        signal(SIGWINCH);
    }
}

/// Stops this process group, and returns when it was continued. The signal may reach another thread first, so this
/// one may run on for a moment after sending it. Without a shell that controls jobs, the system ignores the signal.
fn stop_own_group() {
    const ATTEMPTS: usize = 20;
    let continued = Arc::new(AtomicBool::new(false));
    let handler = signal_hook::flag::register(SIGCONT, Arc::clone(&continued));
    let _ = kill_process_group(getpgrp(), Signal::TSTP);
    for _ in 0..ATTEMPTS {
        if continued.load(Ordering::Relaxed) {
            break;
        }
        std::thread::sleep(AGAIN);
    }
    if let Ok(handler) = handler {
        signal_hook::low_level::unregister(handler);
    }
}

/// Returns whether a key may be for us.
const fn is_special(key: u8) -> bool {
    matches!(key, CTRL_B | CTRL_C | 0x1a)
}

fn is_readable() -> bool {
    let stdin = io::stdin();
    let mut events = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut events, Some(&NOTICE)).is_ok_and(|ready| ready > 0)
}
