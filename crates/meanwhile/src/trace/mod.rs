//! Spans computed from records.
//!
//! The spans of a task are computed from its records. `own_spans` stores spans that a front end measured itself,
//! `traces` reads both, and `outbox` exports them.

pub(crate) mod outbox;
pub(crate) mod own_spans;
pub(crate) mod traces;

use crate::base::part;

part! {
    /// Computes spans from records, and exports them.
    pub struct Traces;
}
