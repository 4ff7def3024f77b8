//! Attached tasks: the terminal, input and output, and why a task is still queued.

pub(crate) mod feed;
pub(crate) mod queued;
pub(crate) mod streams;
mod task_terminal;
pub(crate) mod terminal;
pub(crate) mod typing;
