//! The file tools: read, write, edit and search files of the project, and read files of the session's own tasks.

mod call;
mod edit;
mod own_task;
mod roots;
mod search;
mod tool;
mod view;

pub(super) use call::{FileCall, read_own};
pub(super) use roots::ProjectRoots;
pub(super) use tool::FileTool;
