//! The loop: sleeps until something happens, updates, acts, draws.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use crossterm::event as terminal_event;
use meanwhile::{Scope, Settings};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGTSTP, SIGWINCH};
use signal_hook::low_level::emulate_default_handler;

use super::deeds;
use super::event::{Effect, Event};
use super::outside;
use super::reader::Reader;
use super::screen::Screen;
use super::state::State;
use super::theme::ThemeChoice;
use super::update::update;
use super::watch;
use super::worker::Worker;

/// Long enough to take in what has come; with no time at all nothing would be read.
const MOMENT: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// What the task manager is given.
pub struct Options {
    /// How to open the home.
    pub settings: Settings,
    /// The only session to be seen, if there is one.
    pub session: Option<String>,
    /// Who asks, for the record.
    pub requester: String,
    /// Colours.
    pub theme: ThemeChoice,
    /// The command line of `mw`, for what asks or joins the terminal to a task.
    pub mw: OsString,
    /// Whether kills, restarts and input must go through the gate: by the command line, which asks.
    pub gated: bool,
    /// The task that this runs in, if it does: what an agent runs cannot answer for a person.
    pub inside: Option<String>,
    /// How long a question may be answered.
    pub keep: Duration,
    /// The editor, as a shell would take it.
    pub editor: String,
    /// The pager, as a shell would take it.
    pub pager: String,
    /// Panics when something was drawn, to show that the terminal is given back.
    pub panics: bool,
}

impl Options {
    pub(super) fn scope(&self) -> Scope {
        self.session.clone().map_or(Scope::All, Scope::Session)
    }
}

/// Why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Somebody left.
    Quit,
    /// This signal came.
    Signal(i32),
    /// A part of it failed; what it said is on the terminal.
    Crashed,
}

/// What other threads have for the main one.
pub(super) enum Inbox {
    Event(Event),
    Signal(i32),
    Crashed,
}

/// The way into the main thread's inbox.
#[derive(Clone)]
pub(super) struct Post {
    sender: Sender<Inbox>,
    wake: Arc<UnixStream>,
}

impl Post {
    pub(super) fn event(&self, event: Event) {
        self.send(Inbox::Event(event));
    }

    pub(super) fn send(&self, message: Inbox) {
        // Once the main thread has left, nobody needs to know.
        let _ = self.sender.send(message);
        // A pipe that is full wakes just as well.
        let _ = (&*self.wake).write(&[1]);
    }

    /// Runs something on a thread of its own; if it panics, the main thread leaves.
    pub(super) fn spawn(&self, work: impl FnOnce(&Self) + Send + 'static) {
        struct Guard(Post);
        impl Drop for Guard {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.send(Inbox::Crashed);
                }
            }
        }
        let guard = Guard(self.clone());
        std::thread::spawn(move || work(&guard.0));
    }
}

/// Shows the tasks until somebody leaves.
///
/// # Errors
/// When the terminal fails, or the home cannot be opened.
pub fn run(options: Options) -> Result<Ending, io::Error> {
    let options = Arc::new(options);
    let (wake, woken) = UnixStream::pair()?;
    wake.set_nonblocking(true)?;
    woken.set_nonblocking(true)?;
    let (sender, inbox) = mpsc::channel();
    let post = Post { sender, wake: Arc::new(wake) };
    let is_outside = Arc::new(AtomicBool::new(false));
    watch::signals(&post, Arc::clone(&is_outside))?;

    let mut screen = Screen::take()?;
    let state = State::new(screen.size()?, options.theme, options.session.clone());
    let worker = Worker::start(Arc::clone(&options), &post);
    let reader = Reader::new(Arc::clone(&options), post.clone());
    watch::news(Arc::clone(&options), &post);
    screen.draw(&state)?;
    let mut program = Program { options, post, inbox, woken, is_outside, screen, state, worker, reader };
    program.go()
}

struct Program {
    options: Arc<Options>,
    post: Post,
    inbox: Receiver<Inbox>,
    woken: UnixStream,
    is_outside: Arc<AtomicBool>,
    screen: Screen,
    state: State,
    worker: Worker,
    reader: Reader,
}

/// What is to be done next.
enum Next {
    GoOn,
    Leave(Ending),
}

impl Program {
    fn go(&mut self) -> io::Result<Ending> {
        let mut tick = Instant::now() + SECOND;
        let (width, height) = self.state.size;
        if let Next::Leave(ending) = self.take(Event::Resized(width, height))? {
            return Ok(ending);
        }
        loop {
            if self.state.take_changed() {
                self.screen.draw(&self.state)?;
                assert!(!self.options.panics, "asked to panic");
            }
            let ticks = self.state.wants_ticks();
            let wait = ticks.then(|| tick.saturating_duration_since(Instant::now()));
            if let Next::Leave(ending) = self.sleep(wait)? {
                return Ok(ending);
            }
            if ticks && Instant::now() >= tick {
                tick = Instant::now() + SECOND;
                self.take(Event::Tick)?;
            }
            while let Ok(message) = self.inbox.try_recv() {
                let next = match message {
                    Inbox::Event(event) => self.take(event)?,
                    Inbox::Signal(signal) => self.signalled(signal)?,
                    Inbox::Crashed => Next::Leave(Ending::Crashed),
                };
                if let Next::Leave(ending) = next {
                    return Ok(ending);
                }
            }
        }
    }

    /// Sleeps until something comes; keys are taken in here.
    fn sleep(&mut self, longest: Option<Duration>) -> io::Result<Next> {
        let timeout = longest.map(|longest| Timespec {
            tv_sec: longest.as_secs() as i64,
            tv_nsec: longest.subsec_nanos().into(),
        });
        let stdin = io::stdin();
        let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.woken, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let keyboard = fds[0].revents();
        if keyboard.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Ok(Next::Leave(Ending::Signal(SIGHUP)));
        }
        while matches!((&self.woken).read(&mut [0; 64]), Ok(1..)) {}
        if !keyboard.contains(PollFlags::IN) {
            return Ok(Next::GoOn);
        }
        while terminal_event::poll(MOMENT)? {
            let event = match terminal_event::read()? {
                terminal_event::Event::Key(key) => Event::Key(key),
                terminal_event::Event::Mouse(mouse) => Event::Mouse(mouse),
                terminal_event::Event::Paste(text) => Event::Paste(text),
                terminal_event::Event::Resize(width, height) => Event::Resized(width, height),
                terminal_event::Event::FocusGained | terminal_event::Event::FocusLost => continue,
            };
            if let Next::Leave(ending) = self.take(event)? {
                return Ok(Next::Leave(ending));
            }
        }
        Ok(Next::GoOn)
    }

    fn signalled(&mut self, signal: i32) -> io::Result<Next> {
        match signal {
            SIGTSTP => self.suspend(),
            SIGCONT => {
                self.screen.enter()?;
                self.state.is_changed = true;
                self.take_size()
            }
            SIGWINCH => self.take_size(),
            signal => Ok(Next::Leave(Ending::Signal(signal))),
        }
    }

    fn take_size(&mut self) -> io::Result<Next> {
        let (width, height) = self.screen.size()?;
        self.take(Event::Resized(width, height))
    }

    fn suspend(&mut self) -> io::Result<Next> {
        self.screen.leave();
        emulate_default_handler(SIGTSTP)?;
        self.screen.enter()?;
        self.state.is_changed = true;
        self.take_size()
    }

    /// Takes an event in and does what follows from it.
    fn take(&mut self, event: Event) -> io::Result<Next> {
        for effect in update(&mut self.state, event) {
            match effect {
                Effect::Follow(target) => self.reader.follow(target),
                Effect::List(..)
                | Effect::Know(_)
                | Effect::LookUpRuns(_)
                | Effect::LookUpSessions
                | Effect::ReadBefore(..) => self.worker.ask(effect),
                Effect::Kill(..) | Effect::Restart(_) | Effect::Input(..) if self.options.gated => {
                    let command = super::event::Program::Command(outside::words(&effect));
                    if let Next::Leave(ending) = self.run_outside(&command)? {
                        return Ok(Next::Leave(ending));
                    }
                }
                Effect::Kill(..)
                | Effect::Restart(_)
                | Effect::Input(..)
                | Effect::Answer(..)
                | Effect::Clear(_) => {
                    let options = Arc::clone(&self.options);
                    self.post.spawn(move |post| post.event(deeds::act(&options, effect)));
                }
                Effect::Run(program) => {
                    if let Next::Leave(ending) = self.run_outside(&program)? {
                        return Ok(Next::Leave(ending));
                    }
                }
                Effect::Mouse(mouse) => self.screen.set_mouse(mouse)?,
                Effect::Redraw => self.screen.redraw()?,
                Effect::Suspend => {
                    if let Next::Leave(ending) = self.suspend()? {
                        return Ok(Next::Leave(ending));
                    }
                }
                Effect::Quit => return Ok(Next::Leave(Ending::Quit)),
            }
        }
        Ok(Next::GoOn)
    }

    fn run_outside(&mut self, program: &super::event::Program) -> io::Result<Next> {
        self.screen.leave();
        self.is_outside.store(true, Ordering::SeqCst);
        let done = outside::run(&self.options, program);
        self.is_outside.store(false, Ordering::SeqCst);
        self.screen.enter()?;
        self.state.is_changed = true;
        if let Err(problem) = done {
            self.post.event(Event::Failed(problem));
        }
        self.post.event(Event::News);
        self.take_size()
    }
}
