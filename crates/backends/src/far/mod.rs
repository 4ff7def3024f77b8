//! Runs a command through a shell at the far side, which keeps its output and its wait status in files.
//!
//! `transport` is the way to that shell. `script` makes the scripts that it executes: `launch.sh` starts a run
//! once, `keep.sh` waits for its end, `follow.sh` sends its output from an offset on, and `signal.sh` signals all its processes.
//! `frames` parses what they send. `session` does a whole run with them.

mod frames;
mod script;
mod session;
mod transport;

pub(crate) use script::{SIGNAL, command, mark, quoted};
pub(crate) use session::FarSide;
pub(crate) use transport::{Connection, Transport};
