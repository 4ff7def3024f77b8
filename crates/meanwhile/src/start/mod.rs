//! From a request to a task that is written down.
//!
//! `request` refuses bad input before anything is changed, `submit` writes the task down and either launches it or
//! leaves it to the queue. A restart and a follow-up message are starts of a further run.

pub(crate) mod follow_up;
pub(crate) mod request;
pub(crate) mod restart;
pub(crate) mod submit;
