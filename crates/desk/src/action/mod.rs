//! The actions of a screen on tasks and approval requests.
//!
//! ```text
//! TaskAction ─▶ Desk::act ─▶ lines that describe the result
//!                 └▶ kill, restart, input, clear, answer      a file each
//! StartOrder ─▶ Desk::start ─▶ the task
//! ```
//!
//! A failed action on a single task is an error. For several tasks, the returned lines name both failures and
//! successes.

mod answer;
mod clear;
mod input;
mod kill;
mod restart;
mod start;
mod tally;
mod task_action;

pub use answer::approve_always;
pub use start::{StartDefaults, StartOrder};
pub use task_action::{ApprovalReply, Force, Removal, TaskAction};
