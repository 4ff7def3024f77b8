//! Where a path leads: into the project, out of it, to a secret, a device, or a file that controls other programs.

pub(crate) mod cached_files;
pub(crate) mod destination;
pub(crate) mod mentioned;
pub(crate) mod project;
pub(crate) mod protected;
pub(crate) mod secret_files;
