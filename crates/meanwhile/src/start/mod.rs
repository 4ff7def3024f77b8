//! Turns a request into a task on disk.
//!
//! `submit` lets `check` refuse bad input before anything is changed and `write_down` write the task to disk, and launches
//! or queues it. `direct` does the same for the usual case, without the database. `restart` and `follow_up` start another
//! run of a task. `queued` changes what is still queued. `compare` says how a running task differs from a request.

mod check;
mod compare;
pub(crate) mod direct;
pub(crate) mod follow_up;
pub mod queued;
pub(crate) mod restart;
pub(crate) mod submit;
mod write_down;

use crate::base::part;

part! {
    /// Starts and restarts tasks.
    pub struct Starts;
}
