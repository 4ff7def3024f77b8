//! Moving output from the pipes to the log.
//!
//! `pump` reads the pipes; `log` appends to the log and its index and holds both to their limits. `direct` is for tasks that
//! write the log themselves.

pub(crate) mod direct;
pub(crate) mod log;
pub(crate) mod pump;
