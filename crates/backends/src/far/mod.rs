//! Runs a command through a shell at the far side, which keeps its output and its wait status in files.
//!
//! `transport` is the way to that shell. `script` makes the texts that it executes: `launch` starts a run once,
//! `keep` stays with it, `follow` sends its output from an offset on, `signal` reaches all its processes. `frames` reads
//! what they send. `session` puts them together.

mod frames;
mod script;
mod session;
mod transport;

pub(crate) use session::FarSide;
pub(crate) use transport::{Connection, Transport};
