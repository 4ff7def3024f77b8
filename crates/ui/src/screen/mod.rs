//! The parts that every full-screen program needs: terminal, main loop and theme.
//!
//! ```text
//! keyboard, mouse ─┐
//! signals ─────────┼─▶ Input ─▶ App::take ─▶ Request ─▶ loop ─▶ terminal
//! other threads ───┘ (EventSender)  └▶ its own threads     └▶ App::draw
//! ```
//!
//! The loop sleeps until there is input. The terminal is always restored at the end.

mod ansi;
mod app;
mod channel;
mod depth;
mod file_url;
mod keyboard;
mod outside;
mod program;
mod read_position;
mod second_read;
mod signals;
mod terminal;
mod text_field;
mod theme;
mod wrap;

pub(crate) use ansi::{Painted, paint};
pub use app::Ending;
pub(crate) use app::{App, Input, TerminalRequest};
pub use channel::{EventReceiver, EventSender, channel};
pub(crate) use outside::{Afterwards, Outside};
pub(crate) use program::run;
pub(crate) use read_position::ReadPosition;
pub(crate) use terminal::{Link, MouseUse};
pub(crate) use text_field::TextField;
pub(crate) use theme::Theme;
pub use theme::ThemeChoice;
pub(crate) use wrap::wrap;
