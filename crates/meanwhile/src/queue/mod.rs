//! Which task runs next.
//!
//! A slot is a lock, one for each task that may run. `limits` says how many there are. `next` gives a free slot to the
//! first task in the queue, `followers` releases the tasks that wait for another task, `session_end` decides what happens
//! to a queued task when its session has no holder, and `waiting` says what a task waits for.

pub(crate) mod followers;
mod limits;
pub(crate) mod next;
pub(crate) mod session_end;
pub mod waiting;

use crate::base::part;

part! {
    /// Decides which task runs next.
    pub struct Queue;
}
