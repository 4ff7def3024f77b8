//! The `mw` command: arguments in, one call of the library, text or JSON out.
//!
//! It is two executables. [`mw`] has the commands of the engine, which must start fast; [`surfaces`] has those that need
//! protocols, servers or screens. Both parse the same arguments, and the list in `commands/mod.rs` says which one runs a
//! command. The linker leaves the other commands out.
#![forbid(unsafe_code)]
// These panic if a stream cannot be written; `render` returns an error.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod approval;
mod arguments;
mod commands;
mod config;
mod context;
mod doctor;
mod entry;
mod error;
mod exit_code;
mod foreground;
mod hints;
mod hosts;
mod otel;
mod panics;
mod programs;
mod render;

pub use entry::{mw, surfaces};
