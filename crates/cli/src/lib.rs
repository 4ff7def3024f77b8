//! The `mw` command: arguments in, one call of the library, text or JSON out.
//!
//! It is three executables. [`mw`] has the common forms of the most frequent commands (`direct.rs`), without the database.
//! [`engine`] has all commands of the engine, and [`surfaces`] those that need protocols, servers or screens. The list in
//! `commands/mod.rs` says which one runs a command. The linker leaves the other commands out.
#![forbid(unsafe_code)]
// These panic if a stream cannot be written; `render` returns an error.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod approval;
mod arguments;
mod browser;
mod commands;
mod config;
mod context;
mod desktop;
mod direct;
mod doctor;
mod entry;
mod error;
mod exit_code;
mod foreground;
mod help;
mod hints;
mod hosts;
mod inside;
mod otel;
mod panics;
mod programs;
mod render;
mod services;
mod systemd;
mod templates;

pub use direct::mw;
pub use entry::{engine, surfaces};
