//! Which task runs next.
//!
//! A slot is a lock, one for each task that may run. `limits` says how many there are. `next` gives a free
//! slot to the first task in the queue, `followers` releases those that waited for a task, `vacancy` decides what becomes of a queued task when nobody holds its session, and `waiting` says what a task waits for.

pub(crate) mod followers;
mod limits;
pub(crate) mod next;
pub(crate) mod vacancy;
pub(crate) mod waiting;

use crate::base::part;

part! {
    /// Says which task runs next.
    Queue
}
