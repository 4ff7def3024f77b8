//! Telling owners what happened, exactly once.
//!
//! `notices` delivers the rows of the ledger until they are acknowledged and `told` says how far that has come. `bell`
//! wakes waiting processes, `subscription` streams events, `hooks` runs the user's commands, and `summary` reads the
//! outcome of a run from its output.

pub(crate) mod bell;
pub(crate) mod delivery;
pub(crate) mod hooks;
pub(crate) mod notices;
pub(crate) mod subscription;
pub mod summary;
pub(crate) mod told;
