//! Ends and signals tasks: one request, the whole process tree, a receipt.
//!
//! `kill_tasks` sends the `request` to the supervisors of all tasks, and each `conversation` waits for a receipt.
//! `direct` does it for one task without the database. `unsupervised` ends processes whose supervisor cannot be reached.

mod conversation;
mod direct;
mod kill_tasks;
mod request;
mod unsupervised;

pub use request::{KillFailure, KillReport, KillRequest};
