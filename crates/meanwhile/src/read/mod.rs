//! Reading what a task wrote, and waiting for it.
//!
//! `output` reads bytes from any offset and never loads a log whole; `readers` keeps cursors, `wait` sleeps until a
//! condition holds, `runs` lists earlier runs, and `redact` hides secrets in everything that is shown.

pub(crate) mod output;
pub(crate) mod readers;
pub(crate) mod redact;
pub(crate) mod runs;
pub(crate) mod wait;
