//! The actions of a screen on tasks and approval requests.
//!
//! ```text
//! TaskAction ─▶ Desk::act ─▶ Outcome ─▶ lines
//!                 └▶ kill, restart, input, clear, answer      a file each: the request and its result
//! ```
//!
//! If an action on a single task fails, that is an error. For several tasks, the result has the failures beside the
//! successes.

mod answer;
mod clear;
mod input;
mod kill;
mod outcome;
mod restart;
mod tally;
mod wanted;

pub use answer::Answered;
pub use clear::Cleared;
pub use input::Given;
pub use kill::Killed;
pub use outcome::{Failure, Outcome};
pub use restart::{Again, Restarted};
pub use wanted::{Force, Removal, Reply, TaskAction};
