//! The interface between a full-screen program and the main loop.

use std::time::Duration;

use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::Frame;

use super::outside::Outside;
use super::terminal::{Link, MouseUse};

/// A full-screen program.
pub(crate) trait App {
    /// The type of the messages from its other threads.
    type Event: Send + 'static;

    /// Processes input. Returns requests to the terminal.
    fn take(&mut self, input: Input<Self::Event>) -> Vec<TerminalRequest>;

    /// Returns whether the screen is out of date, and resets the flag.
    fn take_changed(&mut self) -> bool;

    /// Returns how often the content of the screen changes with time alone; `None` if it does not.
    fn ticks(&self) -> Option<Duration>;

    /// Draws the whole screen. Returns the links on it.
    fn draw(&mut self, frame: &mut Frame<'_>) -> Vec<Link>;
}

/// Input of a full-screen program.
#[derive(Clone, Debug)]
pub(crate) enum Input<E> {
    Key(KeyEvent),
    Mouse(MouseEvent),
    Paste(String),
    /// The terminal has this many columns and rows. This is always the first input.
    Resized(u16, u16),
    /// The time between two ticks has passed.
    Tick,
    /// A message from another thread.
    Event(E),
    /// Another program has returned the terminal, or could not be run.
    Back(Result<(), String>),
}

/// A request to the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TerminalRequest {
    /// Give the terminal to another program.
    Run(Outside),
    /// Capture the mouse, or leave it to the terminal.
    Mouse(MouseUse),
    /// Copy a text to the clipboard, if the terminal supports it.
    Copy(String),
    /// Redraw everything.
    Redraw,
    /// Suspend the process, as a shell expects it of a job.
    Suspend,
    /// Quit.
    Quit,
}

/// The reason why a full-screen program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The user has quit.
    Quit,
    /// The process received this signal.
    Signal(i32),
    /// A thread has panicked; its message is on the terminal.
    Crashed,
}
