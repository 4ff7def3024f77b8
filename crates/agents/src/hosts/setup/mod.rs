//! Adds `mw` to the configuration files of a host.
//!
//! [`AgentHost::plan`](super::AgentHost::plan) reads the files and returns their current and new contents, so that a front end can
//! show the difference; [`FileChange::apply`] writes one. There is no other record: the layout of an entry shows how the
//! file was before, and a change that could not be undone byte for byte is refused.

pub(super) mod error;
mod files;
pub(super) mod json;
mod plan;
mod planned_entry;
mod toml;
pub(super) mod value;

pub use error::SetupError;
pub use plan::{FileChange, Installed, RequestedChange, lasting_path};
