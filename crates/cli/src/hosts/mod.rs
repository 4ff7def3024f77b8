//! Hosts on this machine: whether `mw` is set up in them, and waking their agents.

pub(crate) mod state;
pub(crate) mod wake;
