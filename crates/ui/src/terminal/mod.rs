//! One terminal and one loop for every full-screen program of ours.
//!
//! ```text
//! keyboard, mouse ─┐
//! signals ─────────┼─▶ Input ─▶ App::take ─▶ Request ─▶ loop ─▶ terminal
//! other threads ───┘ (Post)         └▶ its own threads     └▶ App::draw
//! ```
//!
//! The loop sleeps until something comes. Whatever ends it, the terminal is as it was before.

mod keyboard;
mod outside;
mod post;
mod program;
mod screen;
mod signals;

pub(crate) use outside::{Afterwards, Outside};
pub use post::{Door, Post, door};
pub use program::Ending;
pub(crate) use program::{App, Input, Request, run};
pub(crate) use screen::Link;
pub use screen::MouseUse;
