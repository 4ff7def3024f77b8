//! The loop: sleeps until something happens, updates, orders, draws.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use crossterm::event as terminal_event;
use meanwhile::model::chat::{ChatNews, ChatOrder};
use meanwhile::{Clock, SystemClock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::state::{Effect, Event, State};
use super::update::update;
use super::view::view;
pub use crate::tui::Ending;
use crate::tui::{Screen, ThemeChoice};

/// Long enough to take in what has come; with no time at all nothing would be read.
const MOMENT: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// What the screen is given.
pub struct Options {
    /// Colours.
    pub theme: ThemeChoice,
    /// The chat's session.
    pub session: String,
    /// The agent's name.
    pub agent: String,
    /// Panics when something was drawn, to show that the terminal is given back.
    pub panics: bool,
}

enum Inbox {
    News(ChatNews),
    Signal(i32),
}

/// The way to the screen.
#[derive(Clone)]
pub struct Post {
    sender: Sender<Inbox>,
    wake: Arc<UnixStream>,
}

impl Post {
    /// Tells the screen something.
    pub fn tell(&self, news: ChatNews) {
        self.send(Inbox::News(news));
    }

    fn send(&self, message: Inbox) {
        // Once the screen is gone, nobody needs to know.
        let _ = self.sender.send(message);
        // A pipe that is full wakes just as well.
        let _ = (&*self.wake).write(&[1]);
    }
}

/// Where the screen listens.
pub struct Door {
    inbox: Receiver<Inbox>,
    woken: UnixStream,
    post: Post,
}

/// Makes the way to the screen, before there is one.
///
/// # Errors
/// When the system has no sockets left.
pub fn door() -> io::Result<(Post, Door)> {
    let (wake, woken) = UnixStream::pair()?;
    wake.set_nonblocking(true)?;
    woken.set_nonblocking(true)?;
    let (sender, inbox) = mpsc::channel();
    let post = Post { sender, wake: Arc::new(wake) };
    Ok((post.clone(), Door { inbox, woken, post }))
}

/// Shows the chat until somebody leaves; what is to be done goes to `order`.
///
/// # Errors
/// When the terminal fails.
pub fn run(options: &Options, door: Door, order: impl FnMut(ChatOrder)) -> io::Result<Ending> {
    watch_signals(door.post.clone())?;
    let screen = Screen::take()?;
    let size = screen.size()?;
    let state = State::new(size, options.theme, &options.session, &options.agent, SystemClock.now());
    Program { options, door, order, screen, state }.go()
}

struct Program<'a, O> {
    options: &'a Options,
    door: Door,
    order: O,
    screen: Screen,
    state: State,
}

enum Next {
    GoOn,
    Leave(Ending),
}

impl<O: FnMut(ChatOrder)> Program<'_, O> {
    fn go(&mut self) -> io::Result<Ending> {
        let mut tick = Instant::now() + SECOND;
        loop {
            if std::mem::take(&mut self.state.is_changed) {
                let state = &self.state;
                self.screen.draw_linked(|frame| view(state, frame))?;
                assert!(!self.options.panics, "asked to panic");
            }
            let ticks = self.state.wants_ticks();
            let wait = ticks.then(|| tick.saturating_duration_since(Instant::now()));
            if let Next::Leave(ending) = self.sleep(wait)? {
                return Ok(ending);
            }
            if ticks && Instant::now() >= tick {
                tick = Instant::now() + SECOND;
                self.take(Event::Tick(SystemClock.now()))?;
            }
            while let Ok(message) = self.door.inbox.try_recv() {
                let next = match message {
                    Inbox::News(news) => self.take(Event::News(news))?,
                    Inbox::Signal(signal) => self.signalled(signal)?,
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
        let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.door.woken, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let keyboard = fds[0].revents();
        if keyboard.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Ok(Next::Leave(Ending::Signal(SIGHUP)));
        }
        while matches!((&self.door.woken).read(&mut [0; 64]), Ok(1..)) {}
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
        self.take_size()
    }

    /// Takes an event in and does what follows from it.
    fn take(&mut self, event: Event) -> io::Result<Next> {
        self.state.now = SystemClock.now();
        for effect in update(&mut self.state, event) {
            match effect {
                Effect::Order(order) => (self.order)(order),
                Effect::Redraw => self.screen.redraw()?,
                Effect::Suspend => {
                    self.suspend()?;
                }
                Effect::Quit => return Ok(Next::Leave(Ending::Quit)),
            }
        }
        Ok(Next::GoOn)
    }
}

fn watch_signals(post: Post) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH])?;
    std::thread::spawn(move || signals.forever().for_each(|signal| post.send(Inbox::Signal(signal))));
    Ok(())
}
