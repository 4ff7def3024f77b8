//! What a screen does to tasks and with questions.
//!
//! ```text
//! TaskAction ─▶ Desk::act ─▶ Outcome ─▶ lines
//!                 └▶ kill, restart, input, clear, answer      a file each: what is asked, what came of it
//! ```
//!
//! Of one task a failure is an error. Of several, what failed for one is told beside what was done to the others.

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
