//! The file tools: read, write, edit and search files of the project, and read files of the session's own tasks.

mod call;
mod edit;
mod own_task;
mod place;
mod search;
mod tool;
mod view;

pub(super) use call::{call, read_own};
pub(super) use place::Place;
pub(super) use tool::FileTool;
