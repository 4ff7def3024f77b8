//! From a request to a task that is written down.
//!
//! `submit` refuses bad input before anything is changed, has the task written down by `write_down`, and launches it or
//! leaves it to the queue.
//! `restart` and `follow_up` start a further run of a task.

pub(crate) mod follow_up;
pub(crate) mod restart;
pub(crate) mod submit;
mod write_down;

use crate::base::part;

part! {
    /// Starts tasks, and starts them again.
    Starts
}
