//! Gives the terminal to another program, such as an editor.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Child, Command, ExitStatus};

use crossterm::event::{self, KeyEventKind};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::event::{PollFd, PollFlags};

use super::app::{App, Ending, Input, TerminalRequest};
use super::channel::Message;
use super::keyboard;
use super::program::{Program, READ_TIMEOUT, Stop, poll_until};

/// Another program that gets the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outside {
    /// The name of the program in messages.
    pub(crate) name: &'static str,
    /// The program and its arguments.
    pub(crate) words: Vec<OsString>,
    pub(crate) afterwards: Afterwards,
}

/// What happens after the program has succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Afterwards {
    /// The screen is shown again at once.
    Return,
    /// The output stays on the terminal until a key is pressed, because the output is the result.
    Read,
}

impl Outside {
    /// Returns the command that opens a file. A variable like `$EDITOR` may contain arguments, so a shell parses it.
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

impl<A: App> Program<A> {
    /// Gives the terminal to another program until it ends. Messages are processed meanwhile, and the requests that
    /// result from them are added to `wanted`. The output of a program that fails stays on the terminal until a key is pressed.
    pub(super) fn outside(
        &mut self,
        outside: &Outside,
        wanted: &mut Vec<TerminalRequest>,
    ) -> Result<Result<(), String>, Stop> {
        let mut child = match outside.start() {
            Ok(child) => child,
            Err(problem) => return Ok(Err(problem)),
        };
        self.receiver.events.spawn(move |events| events.send_message(Message::Ended(child.wait())));
        let status = loop {
            // The keyboard is not polled, because the other program reads it.
            poll_until(&mut [PollFd::new(&self.receiver, PollFlags::IN)], None)?;
            if let Some(status) = self.receive(wanted)? {
                break status;
            }
        };
        let name = outside.name;
        match status {
            Err(error) => return Ok(Err(format!("cannot wait for {name}: {error}"))),
            Ok(status) if status.success() && outside.afterwards == Afterwards::Return => {}
            Ok(status) => {
                let mut err = io::stderr().lock();
                let _ =
                    write!(err, "\r\n{name}: {status}. Press any key to return. ").and_then(|()| err.flush());
                drop(err);
                enable_raw_mode()?;
                keyboard::take();
                let pressed = self.wait_for_key(wanted);
                keyboard::give_back();
                disable_raw_mode()?;
                pressed?;
            }
        }
        Ok(Ok(()))
    }

    /// Processes the messages of other threads. Returns the status of the other program once it has ended.
    fn receive(&mut self, wanted: &mut Vec<TerminalRequest>) -> Result<Option<io::Result<ExitStatus>>, Stop> {
        self.receiver.clear_wake_up();
        while let Some(message) = self.receiver.next() {
            match message {
                Message::Event(event) => wanted.extend(self.app.take(Input::Event(event))),
                Message::Signal(signal) => return Err(Stop::Ended(Ending::Signal(signal))),
                Message::Crashed => return Err(Stop::Ended(Ending::Crashed)),
                Message::Ended(status) => return Ok(Some(status)),
            }
        }
        Ok(None)
    }

    fn wait_for_key(&mut self, wanted: &mut Vec<TerminalRequest>) -> Result<(), Stop> {
        loop {
            let has_keys = self.wait(None)?;
            self.receive(wanted)?;
            while has_keys && event::poll(READ_TIMEOUT)? {
                if matches!(event::read()?, event::Event::Key(key) if key.kind != KeyEventKind::Release) {
                    return Ok(());
                }
            }
        }
    }
}
