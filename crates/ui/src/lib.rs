//! The terminal screens: the task manager, the chat, and the code that they share.
//!
//! This crate draws the screens and turns keys into actions. Data and actions come from `mw-desk`.
#![forbid(unsafe_code)]

pub mod chat;
mod screen;
pub mod top;

pub use screen::{Ending, ThemeChoice};
