//! What a full-screen program implements, and what the loop tells it.

use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::Frame;

use super::outside::Outside;
use super::terminal::{Link, MouseUse};

/// A full-screen program.
pub(crate) trait App {
    /// The messages from its other threads.
    type News: Send + 'static;

    /// Processes input. Returns requests to the terminal.
    fn take(&mut self, input: Input<Self::News>) -> Vec<Request>;

    /// Returns whether the screen is out of date, once.
    fn take_changed(&mut self) -> bool;

    /// Returns whether anything on screen changes by itself from second to second.
    fn wants_ticks(&self) -> bool;

    /// Draws everything. Returns the links.
    fn draw(&mut self, frame: &mut Frame<'_>) -> Vec<Link>;
}

/// Input of the program.
pub(crate) enum Input<News> {
    Key(KeyEvent),
    Mouse(MouseEvent),
    Paste(String),
    /// The size of the terminal: columns, rows. The first input.
    Resized(u16, u16),
    /// A second has passed while ticks were requested.
    Tick,
    /// A message from another thread.
    News(News),
    /// Another program has returned the terminal, or could not be run.
    Back(Result<(), String>),
}

/// A request to the terminal.
pub(crate) enum Request {
    /// Run another program on it.
    Run(Outside),
    /// Capture the mouse, or leave it to the terminal.
    Mouse(MouseUse),
    /// Copy a text to the clipboard, if the terminal supports it.
    Copy(String),
    /// Redraw everything.
    Redraw,
    /// Suspend, as a shell expects it.
    Suspend,
    /// Quit.
    Quit,
}

/// Why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The user has quit.
    Quit,
    /// A signal.
    Signal(i32),
    /// A thread has panicked; its message is on the terminal.
    Crashed,
}
