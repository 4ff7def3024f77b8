//! The parts of every full-screen program: terminal, loop and theme.
//!
//! ```text
//! keyboard, mouse ─┐
//! signals ─────────┼─▶ Input ─▶ App::take ─▶ Request ─▶ loop ─▶ terminal
//! other threads ───┘ (Post)         └▶ its own threads     └▶ App::draw
//! ```
//!
//! The loop sleeps until there is input. However it ends, the terminal is restored.

mod ansi;
mod app;
mod depth;
mod keyboard;
mod outside;
mod post;
mod program;
mod second_look;
mod signals;
mod terminal;
mod text;
mod theme;

pub(crate) use ansi::{Painted, paint};
pub use app::Ending;
pub(crate) use app::{App, Input, Request};
pub(crate) use outside::{Afterwards, Outside};
pub use post::{Door, Post, door};
pub(crate) use program::run;
pub(crate) use terminal::{Link, MouseUse};
pub(crate) use text::shortened_path;
pub use text::{bar, shortened};
pub(crate) use theme::Theme;
pub use theme::ThemeChoice;
