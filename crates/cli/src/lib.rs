//! The `mw` command: arguments in, one call of the library, text or JSON out.
//!
//! It is two executables. [`mw`] has the commands of the engine, which must start fast; [`surfaces`] has those that
//! bring protocols, web servers and the like with them. Both read the same arguments, and which of the two does
//! what stands in the list of commands (`commands/mod.rs`). A file of a command is the same for both: what an entry
//! point does not reach, the linker leaves out of its executable.
#![forbid(unsafe_code)]
// These panic where a stream takes nothing; `render` writes and says so.
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
