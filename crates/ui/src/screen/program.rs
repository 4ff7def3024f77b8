//! The main loop: waits for input, passes it to the program, performs the program's requests, and draws.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossterm::event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGTSTP, SIGWINCH};

use super::app::{App, Ending, Input, Request};
use super::outside::{Outside, Return};
use super::post::{Door, Message};
use super::second_look::SecondLook;
use super::signals;
use super::signals::Stopped;
use super::terminal::Screen;

/// Long enough to read the available input; with a timeout of 0 nothing would be read.
pub(super) const MOMENT: Duration = Duration::from_millis(1);
/// Long enough that it does not pass before anything was read.
const LONG_MOMENT: Duration = Duration::from_millis(20);
const SECOND: Duration = Duration::from_secs(1);
/// How long messages are processed before keys are read again, so that a constant stream of messages does not block the
/// keyboard.
const ROUND: Duration = Duration::from_millis(50);

/// Takes the terminal over, creates the program for its size and runs it until the user quits.
///
/// # Errors
/// When the terminal fails.
pub(crate) fn run<A: App>(door: Door<A::News>, app: impl FnOnce((u16, u16)) -> A) -> io::Result<Ending> {
    let is_outside = Arc::new(AtomicBool::new(false));
    signals::watch(&door.post, Arc::clone(&is_outside))?;
    let screen = Screen::take()?;
    let app = app(screen.size()?);
    Program {
        app,
        door,
        is_outside,
        screen,
        is_stale: true,
        is_more_there: false,
        second_look: SecondLook::default(),
    }
    .go()
}

pub(super) struct Program<A: App> {
    pub(super) app: A,
    pub(super) door: Door<A::News>,
    is_outside: Arc<AtomicBool>,
    screen: Screen,
    /// Whether another program had the terminal, so that everything must be redrawn.
    is_stale: bool,
    /// Whether messages may be left from the last round.
    is_more_there: bool,
    second_look: SecondLook,
}

/// The next step.
enum Next {
    GoOn,
    Leave(Ending),
}

impl<A: App> Program<A> {
    /// Runs the program until the user quits. A closed terminal fails before its signal arrives, and has the same
    /// effect.
    fn go(&mut self) -> io::Result<Ending> {
        match self.show() {
            Err(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => {
                Ok(Ending::Signal(SIGHUP))
            }
            other => other,
        }
    }

    fn show(&mut self) -> io::Result<Ending> {
        let mut tick = Instant::now() + SECOND;
        if let Next::Leave(ending) = self.take_size()? {
            return Ok(ending);
        }
        loop {
            if self.app.take_changed() || self.is_stale {
                self.is_stale = false;
                let app = &mut self.app;
                self.screen.draw(|frame| app.draw(frame))?;
            }
            let ticks = self.app.wants_ticks();
            let wait = if self.is_more_there {
                Some(Duration::ZERO)
            } else {
                ticks.then(|| tick.saturating_duration_since(Instant::now()))
            };
            let wait = self.second_look.shorten(Instant::now(), wait);
            if let Next::Leave(ending) = self.sleep(wait)? {
                return Ok(ending);
            }
            if ticks && Instant::now() >= tick {
                tick = Instant::now() + SECOND;
                if let Next::Leave(ending) = self.take(Input::Tick)? {
                    return Ok(ending);
                }
            }
            let end = Instant::now() + ROUND;
            while let Some(message) = self.door.next_until(end) {
                let next = match message {
                    Message::News(news) => self.take(Input::News(news))?,
                    Message::Signal(signal) => self.signalled(signal)?,
                    Message::Crashed => Next::Leave(Ending::Crashed),
                    // From a program that still runs.
                    Message::Ended(_) => Next::GoOn,
                };
                if let Next::Leave(ending) = next {
                    return Ok(ending);
                }
            }
            self.is_more_there = Instant::now() >= end;
        }
    }

    /// Sleeps until there is input; keys are processed here.
    fn sleep(&mut self, longest: Option<Duration>) -> io::Result<Next> {
        let timeout = longest.map(|longest| Timespec {
            tv_sec: longest.as_secs() as i64,
            tv_nsec: longest.subsec_nanos().into(),
        });
        let stdin = io::stdin();
        let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.door, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let keyboard = fds[0].revents();
        if keyboard.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Ok(Next::Leave(Ending::Signal(SIGHUP)));
        }
        self.door.hush();
        let moment = match keyboard.contains(PollFlags::IN) {
            true => MOMENT,
            false if self.second_look.take_due(Instant::now()) => LONG_MOMENT,
            false => return Ok(Next::GoOn),
        };
        while event::poll(moment)? {
            self.second_look.want(Instant::now());
            let input = match event::read()? {
                event::Event::Key(key) => Input::Key(key),
                event::Event::Mouse(mouse) => Input::Mouse(mouse),
                event::Event::Paste(text) => Input::Paste(text),
                event::Event::Resize(width, height) => Input::Resized(width, height),
                event::Event::FocusGained | event::Event::FocusLost => continue,
            };
            if let Next::Leave(ending) = self.take(input)? {
                return Ok(Next::Leave(ending));
            }
        }
        Ok(Next::GoOn)
    }

    fn signalled(&mut self, signal: i32) -> io::Result<Next> {
        match signal {
            SIGTSTP => self.suspend(),
            SIGCONT => self.come_back(),
            SIGWINCH => self.take_size(),
            signal => Ok(Next::Leave(Ending::Signal(signal))),
        }
    }

    /// Passes input to the program, and performs its requests.
    fn take(&mut self, input: Input<A::News>) -> io::Result<Next> {
        let wanted = self.app.take(input);
        self.fulfil(wanted)
    }

    fn fulfil(&mut self, wanted: Vec<Request>) -> io::Result<Next> {
        for request in wanted {
            let next = match request {
                Request::Run(outside) => self.run_outside(&outside)?,
                Request::Mouse(mouse) => {
                    self.screen.set_mouse(mouse)?;
                    Next::GoOn
                }
                Request::Copy(text) => {
                    Screen::copy(&text)?;
                    Next::GoOn
                }
                Request::Redraw => {
                    self.screen.redraw()?;
                    self.is_stale = true;
                    Next::GoOn
                }
                Request::Suspend => self.suspend()?,
                Request::Quit => Next::Leave(Ending::Quit),
            };
            if let Next::Leave(ending) = next {
                return Ok(Next::Leave(ending));
            }
        }
        Ok(Next::GoOn)
    }

    fn take_size(&mut self) -> io::Result<Next> {
        let (width, height) = self.screen.size()?;
        self.take(Input::Resized(width, height))
    }

    fn suspend(&mut self) -> io::Result<Next> {
        self.screen.leave();
        let stopped = signals::stop()?;
        if let Next::Leave(ending) = self.come_back()? {
            return Ok(Next::Leave(ending));
        }
        match stopped {
            Stopped::Woken => Ok(Next::GoOn),
            Stopped::Never => {
                let text = "cannot suspend: not started by a shell with job control; press q to quit";
                self.take(Input::Back(Err(text.to_owned())))
            }
        }
    }

    /// Takes the terminal back from another program.
    fn come_back(&mut self) -> io::Result<Next> {
        self.screen.enter()?;
        self.is_stale = true;
        self.second_look.want(Instant::now());
        self.take_size()
    }

    fn run_outside(&mut self, outside: &Outside) -> io::Result<Next> {
        self.screen.leave();
        self.is_outside.store(true, Ordering::SeqCst);
        let mut wanted = Vec::new();
        let done = self.outside(outside, &mut wanted);
        self.is_outside.store(false, Ordering::SeqCst);
        let done = match done? {
            Return::Here(done) => done,
            Return::Leave(ending) => return Ok(Next::Leave(ending)),
        };
        if let Next::Leave(ending) = self.come_back()? {
            return Ok(Next::Leave(ending));
        }
        wanted.extend(self.app.take(Input::Back(done)));
        self.fulfil(wanted)
    }
}
