//! From the command line and one message on standard input to a running supervisor.
//!
//! `bootstrap` forks guardian and supervisor of a `run`, which receives the `start_message`; `prepare` makes everything ready before
//! that message arrives. The `guardian` sleeps while the supervisor lives, holds what it was `entrusted` with, and takes the
//! supervisor's place when it is killed; `takeover` restores what a predecessor recorded. `fork_server` forks guardians for a
//! host that starts many tasks.

pub(crate) mod bootstrap;
pub(crate) mod check;
pub(crate) mod descriptors;
mod entrusted;
pub(crate) mod fork_server;
pub(crate) mod guardian;
mod prepare;
pub(crate) mod process_setup;
pub(crate) mod run;
pub(crate) mod start_message;
pub(crate) mod takeover;
