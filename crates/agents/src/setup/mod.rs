//! Telling hosts of meanwhile, in their own files.
//!
//! A host is data: where its files are, how they are written, and what is put into them (`hosts/`, a file each).
//! [`Host::plan`] reads the files and returns them as they are and as they should be, so that a front end can show
//! the difference; [`FileChange::apply`] writes one. Nothing is remembered elsewhere: how an entry is laid out says
//! how the file was before, and a change that could not be taken back to the byte is refused.

mod error;
mod files;
mod host;
mod hosts;
mod json;
mod plan;
mod toml;
mod value;

pub use error::SetupError;
pub use host::{Host, Scope, Surroundings};
pub use hosts::HOSTS;
pub use plan::{FileChange, Installed, Wish, lasting_path};
