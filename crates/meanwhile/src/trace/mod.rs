//! Spans made from records.
//!
//! The spans of a task follow from its records. `own_spans` keeps what a front end measured itself, `traces` reads both, and
//! `outbox` delivers them.

pub(crate) mod outbox;
pub(crate) mod own_spans;
pub(crate) mod traces;

use crate::base::part;

part! {
    /// Makes spans from records, and delivers them.
    Traces
}
