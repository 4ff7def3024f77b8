//! Tasks and their states.
//!
//! A `spec` is written once and never changed. `transition` alone decides the next state from the current `state` and
//! an `event`. `cause` says why a task ended, and `schedule` whether another run follows.

pub(crate) mod agent;
pub(crate) mod cause;
pub(crate) mod dependency;
pub(crate) mod event;
pub(crate) mod grant;
pub(crate) mod id;
pub(crate) mod limits;
pub(crate) mod place;
pub(crate) mod progress;
pub(crate) mod ready;
pub(crate) mod requester;
pub(crate) mod resource_limits;
pub(crate) mod schedule;
pub(crate) mod spec;
pub(crate) mod state;
pub(crate) mod transition;
pub(crate) mod variables;
