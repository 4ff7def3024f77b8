//! Writing what a host has to know into its own files.
//!
//! [`Host::plan`](super::Host::plan) reads the files and returns them as they are and as they should be, so that a front end can show
//! the difference; [`FileChange::apply`] writes one. Nothing is remembered elsewhere: the layout of an entry says how the
//! file was before, and a change that could not be taken back to the byte is refused.

pub(super) mod entry;
pub(super) mod error;
mod files;
pub(super) mod json;
mod plan;
mod toml;
pub(super) mod value;

pub use error::SetupError;
pub use plan::{FileChange, Installed, Wish, lasting_path};
