//! The canonical dialect: names and parameters that models already know, and short replies.

mod agents;
mod definitions;
mod lines;
mod shell;
mod tasks;

pub(super) use definitions::TOOLS;
pub use shell::ran;
