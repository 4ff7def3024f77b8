//! The main loop: waits for input, passes it to the program, performs the program's requests, and draws.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossterm::event;
use ratatui::Frame;
use ratatui::layout::Rect;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGTSTP, SIGWINCH};

use super::app::{App, Ending, Input, TerminalRequest};
use super::channel::{EventReceiver, Message};
use super::outside::Outside;
use super::second_read::SecondRead;
use super::signals::{self, Stopped};
use super::terminal::{Link, Screen};

/// The timeout for reading available input. With a timeout of 0, crossterm reads nothing.
pub(super) const READ_TIMEOUT: Duration = Duration::from_millis(1);
/// A longer timeout for a second read. It is long enough that crossterm checks its buffer before the timeout passes.
const SECOND_READ_TIMEOUT: Duration = Duration::from_millis(20);
/// The maximum time for processing messages before keys are read again. It keeps a constant stream of messages from
/// blocking the keyboard.
const MAX_MESSAGE_TIME: Duration = Duration::from_millis(50);

/// The reason why the loop stops.
pub(super) enum Stop {
    Ended(Ending),
    Failed(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Takes over the terminal, creates the program for its size, and runs it until the user quits.
///
/// # Errors
/// Fails if the terminal fails.
pub(crate) fn run<A: App>(
    receiver: EventReceiver<A::Event>,
    app: impl FnOnce((u16, u16)) -> A,
) -> io::Result<Ending> {
    let is_outside = Arc::new(AtomicBool::new(false));
    signals::watch(&receiver.events, Arc::clone(&is_outside))?;
    let screen = Screen::take()?;
    let size = screen.size()?;
    let app = app(size);
    let second_read = SecondRead::default();
    let mut program = Program {
        app,
        receiver,
        is_outside,
        screen,
        size,
        is_stale: true,
        is_more_there: false,
        second_read,
    };
    let Err(stop) = program.show();
    match stop {
        Stop::Ended(ending) => Ok(ending),
        // On a closed terminal, reads fail before the signal arrives. Both end the program in the same way.
        Stop::Failed(error) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => {
            Ok(Ending::Signal(SIGHUP))
        }
        Stop::Failed(error) => Err(error),
    }
}

pub(super) struct Program<A: App> {
    pub(super) app: A,
    pub(super) receiver: EventReceiver<A::Event>,
    is_outside: Arc<AtomicBool>,
    screen: Screen,
    /// The size that the program knows.
    size: (u16, u16),
    /// Whether everything must be redrawn, because another program had the terminal.
    is_stale: bool,
    /// Whether the last round has left messages in the queue.
    is_more_there: bool,
    second_read: SecondRead,
}

impl<A: App> Program<A> {
    fn show(&mut self) -> Result<Infallible, Stop> {
        let mut ticked = Instant::now();
        self.take_size()?;
        loop {
            if self.app.take_changed() || self.is_stale {
                self.is_stale = false;
                self.draw()?;
            }
            let tick = self.app.ticks().map(|every| ticked + every);
            let wait = if self.is_more_there {
                Some(Duration::ZERO)
            } else {
                tick.map(|tick| tick.saturating_duration_since(Instant::now()))
            };
            let wait = self.second_read.shorten(Instant::now(), wait);
            self.read_keys(wait)?;
            if tick.is_some_and(|tick| Instant::now() >= tick) {
                ticked = Instant::now();
                self.take(Input::Tick)?;
            }
            let end = Instant::now() + MAX_MESSAGE_TIME;
            while let Some(message) = self.receiver.next_until(end) {
                match message {
                    Message::Event(event) => self.take(Input::Event(event))?,
                    Message::Signal(signal) => self.signalled(signal)?,
                    Message::Crashed => return Err(Stop::Ended(Ending::Crashed)),
                    // Only `Program::outside` waits for this message.
                    Message::Ended(_) => {}
                }
            }
            self.is_more_there = Instant::now() >= end;
        }
    }

    fn draw(&mut self) -> Result<(), Stop> {
        let (app, size) = (&mut self.app, &mut self.size);
        let mut wanted = Vec::new();
        self.screen.draw(|frame| {
            let (links, requests) = draw_fitting(app, size, frame);
            wanted = requests;
            links
        })?;
        self.fulfil(wanted)
    }

    /// Waits for input until the timeout. Returns whether there are keys.
    pub(super) fn wait(&self, longest: Option<Duration>) -> Result<bool, Stop> {
        let stdin = io::stdin();
        let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.receiver, PollFlags::IN)];
        poll_until(&mut fds, longest)?;
        let keyboard = fds[0].revents();
        if keyboard.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Err(Stop::Ended(Ending::Signal(SIGHUP)));
        }
        self.receiver.clear_wake_up();
        Ok(keyboard.contains(PollFlags::IN))
    }

    /// Waits for input until the timeout, and processes keys.
    fn read_keys(&mut self, longest: Option<Duration>) -> Result<(), Stop> {
        let moment = match self.wait(longest)? {
            true => READ_TIMEOUT,
            false if self.second_read.take_due(Instant::now()) => SECOND_READ_TIMEOUT,
            false => return Ok(()),
        };
        while event::poll(moment)? {
            self.second_read.want(Instant::now());
            self.take(match event::read()? {
                event::Event::Key(key) => Input::Key(key),
                event::Event::Mouse(mouse) => Input::Mouse(mouse),
                event::Event::Paste(text) => Input::Paste(text),
                event::Event::Resize(width, height) => Input::Resized(width, height),
                event::Event::FocusGained | event::Event::FocusLost => continue,
            })?;
        }
        Ok(())
    }

    fn signalled(&mut self, signal: i32) -> Result<(), Stop> {
        match signal {
            SIGTSTP => self.suspend(),
            SIGCONT => self.come_back(),
            SIGWINCH => self.take_size(),
            signal => Err(Stop::Ended(Ending::Signal(signal))),
        }
    }

    /// Passes input to the program, and performs its requests.
    fn take(&mut self, input: Input<A::Event>) -> Result<(), Stop> {
        if let Input::Resized(width, height) = input {
            self.size = (width, height);
        }
        let wanted = self.app.take(input);
        self.fulfil(wanted)
    }

    fn fulfil(&mut self, wanted: Vec<TerminalRequest>) -> Result<(), Stop> {
        for request in wanted {
            match request {
                TerminalRequest::Run(outside) => self.run_outside(&outside)?,
                TerminalRequest::Mouse(mouse) => self.screen.set_mouse(mouse)?,
                TerminalRequest::Copy(text) => Screen::copy(&text)?,
                TerminalRequest::Redraw => {
                    self.screen.redraw()?;
                    self.is_stale = true;
                }
                TerminalRequest::Suspend => self.suspend()?,
                TerminalRequest::Quit => return Err(Stop::Ended(Ending::Quit)),
            }
        }
        Ok(())
    }

    fn take_size(&mut self) -> Result<(), Stop> {
        let (width, height) = self.screen.size()?;
        self.take(Input::Resized(width, height))
    }

    fn suspend(&mut self) -> Result<(), Stop> {
        self.screen.leave();
        let stopped = signals::stop()?;
        self.come_back()?;
        match stopped {
            Stopped::Woken => Ok(()),
            Stopped::Never => {
                let text = "cannot suspend: not started by a shell with job control; press q to quit";
                self.take(Input::Back(Err(text.to_owned())))
            }
        }
    }

    /// Takes the terminal back from another program.
    fn come_back(&mut self) -> Result<(), Stop> {
        self.screen.enter()?;
        self.is_stale = true;
        self.second_read.want(Instant::now());
        self.take_size()
    }

    fn run_outside(&mut self, outside: &Outside) -> Result<(), Stop> {
        self.screen.leave();
        self.is_outside.store(true, Ordering::SeqCst);
        let mut wanted = Vec::new();
        let done = self.outside(outside, &mut wanted);
        self.is_outside.store(false, Ordering::SeqCst);
        let done = done?;
        self.come_back()?;
        wanted.extend(self.app.take(Input::Back(done)));
        self.fulfil(wanted)
    }
}

/// Draws a program that knows this size. If the terminal was resized since the last input, the program gets the new size
/// first, because nothing may be drawn outside the frame.
fn draw_fitting<A: App>(
    app: &mut A,
    known: &mut (u16, u16),
    frame: &mut Frame<'_>,
) -> (Vec<Link>, Vec<TerminalRequest>) {
    let Rect { width, height, .. } = frame.area();
    let requests = if *known == (width, height) {
        Vec::new()
    } else {
        *known = (width, height);
        app.take(Input::Resized(width, height))
    };
    (app.draw(frame), requests)
}

/// Polls these descriptors until the timeout. A signal also ends the wait.
pub(super) fn poll_until(fds: &mut [PollFd<'_>], longest: Option<Duration>) -> io::Result<()> {
    let timeout = longest.and_then(|longest| Timespec::try_from(longest).ok());
    match poll(fds, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    /// A program that draws at the end of the size it knows.
    struct Corner {
        size: (u16, u16),
        resizes: usize,
    }

    impl App for Corner {
        type Event = ();

        fn take(&mut self, input: Input<()>) -> Vec<TerminalRequest> {
            let Input::Resized(width, height) = input else { return Vec::new() };
            self.size = (width, height);
            self.resizes += 1;
            vec![TerminalRequest::Redraw]
        }

        fn take_changed(&mut self) -> bool {
            false
        }

        fn ticks(&self) -> Option<Duration> {
            None
        }

        fn draw(&mut self, frame: &mut Frame<'_>) -> Vec<Link> {
            frame.buffer_mut()[(self.size.0 - 1, self.size.1 - 1)].set_symbol("x");
            Vec::new()
        }
    }

    #[test]
    fn a_program_draws_for_the_size_of_the_frame() {
        let mut app = Corner { size: (80, 24), resizes: 0 };
        let mut known = app.size;
        let mut terminal = Terminal::new(TestBackend::new(78, 16)).unwrap();
        let mut wanted = Vec::new();
        for _ in 0..2 {
            terminal.draw(|frame| wanted.push(draw_fitting(&mut app, &mut known, frame).1)).unwrap();
        }
        assert_eq!((app.size, known, app.resizes), ((78, 16), (78, 16), 1));
        assert_eq!(wanted, [vec![TerminalRequest::Redraw], vec![]]);
        assert_eq!(terminal.backend().buffer()[(77, 15)].symbol(), "x");
    }
}
