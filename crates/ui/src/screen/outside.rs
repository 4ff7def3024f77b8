//! Runs other programs that use the terminal meanwhile, such as an editor.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Child, Command, ExitStatus};

use crossterm::event::{self, KeyEventKind};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use signal_hook::consts::SIGHUP;

use super::app::{App, Ending, Input, Request};
use super::keyboard;
use super::post::Message;
use super::program::{MOMENT, Program};

/// A program that gets the terminal.
pub(crate) struct Outside {
    /// What people call it.
    pub(crate) name: &'static str,
    /// The program and its arguments.
    pub(crate) words: Vec<OsString>,
    pub(crate) afterwards: Afterwards,
}

/// What happens when such a program has ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Afterwards {
    /// The screen comes back.
    Return,
    /// Its output is the result, so it stays until a key is pressed.
    Read,
}

impl Outside {
    /// Opens a file. A variable like `$EDITOR` may hold arguments, so a shell takes it apart.
    pub(crate) fn on_file(name: &'static str, program: &str, path: &str) -> Self {
        let words = ["sh", "-c", &format!("{program} \"$1\""), "sh", path].map(OsString::from).into();
        Self { name, words, afterwards: Afterwards::Return }
    }

    fn start(&self) -> Result<Child, String> {
        let name = self.name;
        let [program, arguments @ ..] = &self.words[..] else {
            return Err(format!("no program set for {name}"));
        };
        Command::new(program).args(arguments).spawn().map_err(|error| format!("cannot run {name}: {error}"))
    }
}

/// How another program returned the terminal.
pub(super) enum Return {
    /// The program has ended, or could not be run.
    Here(Result<(), String>),
    /// By a signal that ends this program, too.
    Leave(Ending),
}

impl<A: App> Program<A> {
    /// Lets another program have the terminal. News are taken in meanwhile, and what is wanted because of them kept for
    /// later. A program that fails leaves what it said on the terminal until a key is pressed.
    pub(super) fn outside(&mut self, outside: &Outside, wanted: &mut Vec<Request>) -> io::Result<Return> {
        let mut child = match outside.start() {
            Ok(child) => child,
            Err(problem) => return Ok(Return::Here(Err(problem))),
        };
        self.door.post.spawn(move |post| post.send(Message::Ended(child.wait())));
        let status = loop {
            poll(&mut [PollFd::new(&self.door, PollFlags::IN)], None).or_else(interrupted)?;
            match self.hear(wanted) {
                Some(Heard::Ended(status)) => break status,
                Some(Heard::Leave(ending)) => return Ok(Return::Leave(ending)),
                None => {}
            }
        };
        let name = outside.name;
        match status {
            Err(error) => return Ok(Return::Here(Err(format!("cannot wait for {name}: {error}")))),
            Ok(status) if status.success() && outside.afterwards == Afterwards::Return => {}
            Ok(status) => {
                let mut err = io::stderr().lock();
                let _ =
                    write!(err, "\r\n{name}: {status}. Press any key to return. ").and_then(|()| err.flush());
                drop(err);
                enable_raw_mode()?;
                keyboard::take();
                let ending = self.wait_for_key(wanted);
                keyboard::give_back();
                disable_raw_mode()?;
                if let Some(ending) = ending? {
                    return Ok(Return::Leave(ending));
                }
            }
        }
        Ok(Return::Here(Ok(())))
    }

    /// Processes the messages of other threads.
    fn hear(&mut self, wanted: &mut Vec<Request>) -> Option<Heard> {
        self.door.hush();
        while let Some(message) = self.door.next() {
            match message {
                Message::News(news) => wanted.extend(self.app.take(Input::News(news))),
                Message::Signal(signal) => return Some(Heard::Leave(Ending::Signal(signal))),
                Message::Crashed => return Some(Heard::Leave(Ending::Crashed)),
                Message::Ended(status) => return Some(Heard::Ended(status)),
            }
        }
        None
    }

    fn wait_for_key(&mut self, wanted: &mut Vec<Request>) -> io::Result<Option<Ending>> {
        let stdin = io::stdin();
        loop {
            let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.door, PollFlags::IN)];
            poll(&mut fds, None).or_else(interrupted)?;
            let keyboard = fds[0].revents();
            if keyboard.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
                return Ok(Some(Ending::Signal(SIGHUP)));
            }
            if let Some(Heard::Leave(ending)) = self.hear(wanted) {
                return Ok(Some(ending));
            }
            while keyboard.contains(PollFlags::IN) && event::poll(MOMENT)? {
                if matches!(event::read()?, event::Event::Key(key) if key.kind != KeyEventKind::Release) {
                    return Ok(None);
                }
            }
        }
    }
}

enum Heard {
    Ended(io::Result<ExitStatus>),
    Leave(Ending),
}

const fn interrupted(error: Errno) -> Result<usize, Errno> {
    match error {
        Errno::INTR => Ok(0),
        error => Err(error),
    }
}
