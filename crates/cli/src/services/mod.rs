//! What a project declares to be started with `mw up`: `[services.NAME]` in `meanwhile.toml`, or a `Procfile`.
//!
//! A service is a task with its name, in a batch that is named after the file. There is no other record of it.

mod bring_up;
mod declared;
mod env_file;
mod order;
mod procfile;
mod project;
mod report;
mod service;

pub(crate) use bring_up::BringUp;
pub(crate) use project::Project;
