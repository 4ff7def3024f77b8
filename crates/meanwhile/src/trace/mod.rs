//! Spans made from records.
//!
//! `spans` is a function of a task's records, `own_spans` keeps what a front end measured itself, `traces` reads both,
//! and `outbox` delivers them.

pub(crate) mod outbox;
pub(crate) mod own_spans;
pub(crate) mod spans;
pub(crate) mod traces;
