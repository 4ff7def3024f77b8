//! From the command line and one message on standard input to a running supervisor.
//!
//! `bootstrap` receives the `start_message`, prepares the `run` and forks guardian and supervisor. The `guardian`
//! sleeps while the supervisor lives and takes its place when it is killed; `takeover` restores what a predecessor
//! recorded. `fork_server` forks guardians for a host that starts many tasks.

pub(crate) mod bootstrap;
pub(crate) mod check;
pub(crate) mod descriptors;
pub(crate) mod fork_server;
pub(crate) mod guardian;
pub(crate) mod process_setup;
pub(crate) mod run;
pub(crate) mod start_message;
pub(crate) mod takeover;
