//! A sealed place to run `mw` in, and children that misbehave.
//!
//! ```text
//! Home ──▶ Invocation ──▶ Outcome            a command, run to its end
//!   │           ├───────▶ Running            a command in the background
//!   │           ├───────▶ Conversation       a command that is talked to line by line
//!   │           └───────▶ Terminal           a command on a terminal of its own
//!   ├─ ended, log, pid_in, …                 what became of a task
//!   └─ tagged, supervisors_of, slay          its processes, and no others
//! ```
//!
//! Nothing leaves a [`Home`]: the environment is cleared, every path lies in a directory of its own, and
//! everything that is started carries a tag in its environment by which it is found and killed at the end.
//! Nothing waits for time: [`wait_until`] waits for a condition, and gives up with a sentence. All of it
//! reads `/proc`, so it needs Linux.
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
mod invocation;
pub mod model_endpoint;
mod needs;
mod outcome;
pub mod processes;
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
pub use processes::alive;
pub use running::Running;
pub use supervisors::Pair;
pub use terminal::{Screen, Terminal};
pub use wait::{SOON, wait_until};
