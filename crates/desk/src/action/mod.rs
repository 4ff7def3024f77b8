//! The actions of a screen on tasks and approval requests.
//!
//! ```text
//! TaskAction ─▶ Desk::act ─▶ lines that describe the result
//!                 └▶ kill, restart, input, clear, answer      a file each
//! ```
//!
//! A failed action on a single task is an error. For several tasks, the returned lines name both failures and
//! successes.

mod answer;
mod clear;
mod input;
mod kill;
mod restart;
mod tally;
mod task_action;

pub use task_action::{Force, Removal, Reply, TaskAction};
