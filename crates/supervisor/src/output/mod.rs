//! Moving output from the pipes to the log.
//!
//! `pump` reads the pipes; `log` appends to the log and its index and holds both to their limits.

pub(crate) mod log;
pub(crate) mod pump;
