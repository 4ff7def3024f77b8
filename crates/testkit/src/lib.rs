//! An isolated environment for tests of `mw`, and scripts for misbehaving children.
//!
//! ```text
//! Home ──▶ Invocation ──▶ Outcome            a command, run to its end
//!   │           ├───────▶ Running            a command in the background
//!   │           ├───────▶ Conversation       an interactive command, line by line
//!   │           └───────▶ Terminal           a command on a pseudo-terminal
//!   ├─ ended, log, pid_in, …                 the state and output of a task
//!   └─ tagged, supervisors_of, kill_process  processes of this home only
//! ```
//!
//! A [`Home`] is isolated: the environment is cleared, all paths are in a temporary directory, and every process has a
//! tag in its environment, by which it is found and killed at the end. No test sleeps for a fixed time: [`wait_until`]
//! waits for a condition and panics with its description at the deadline. The kit reads `/proc`, so it needs Linux.
#![forbid(unsafe_code)]
#![expect(
    clippy::expect_used,
    reason = "the kit only runs in tests, where a broken assumption ends the test"
)]

mod capture;
pub mod children;
pub mod clients;
pub mod compiled;
pub mod contract;
mod conversation;
mod disk;
pub mod fixture;
mod home;
pub mod host;
pub mod http;
mod invocation;
pub mod model_endpoint;
mod needs;
mod outcome;
mod outside;
pub mod processes;
mod programs;
mod running;
mod supervisors;
mod task;
mod terminal;
mod wait;

pub use conversation::Conversation;
pub use home::Home;
pub use invocation::Invocation;
pub use needs::{Need, need_program, need_root, skip};
pub use outcome::Outcome;
pub use outside::directory_outside;
pub use processes::alive;
pub use programs::{beside, settle_command};
pub use running::Running;
pub use supervisors::Pair;
pub use terminal::{Screen, Terminal};
pub use wait::{SOON, wait_until};
