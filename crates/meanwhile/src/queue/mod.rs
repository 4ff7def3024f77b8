//! Which task runs next.
//!
//! A new task is first a line in `arrivals`, outside the database. `slots` are locks, one for each task that may run;
//! `next` gives a free slot to the first task in line, and `waiting` says what a task waits for.

pub(crate) mod arrivals;
pub(crate) mod next;
pub(crate) mod slots;
pub(crate) mod waiting;
