//! What a person has while they wait for a task: their terminal, their input passed on, the output as it comes, and why
//! it has not started yet.

pub(crate) mod feed;
pub(crate) mod follow;
pub(crate) mod queued;
pub(crate) mod terminal;
