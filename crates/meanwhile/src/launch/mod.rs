//! From a recorded task to a running process.
//!
//! `launcher` starts a task that was given a slot. `backend` decides what is executed and where, and `message` is what a
//! supervisor receives. `before` asks the user's hook first; `user_command` runs a hook. `adopt` gives a task whose supervisor was killed a new one.

pub(crate) mod adopt;
pub(crate) mod backend;
pub(crate) mod before;
pub(crate) mod launcher;
pub(crate) mod message;
pub(crate) mod program;
pub(crate) mod user_command;

use crate::base::part;

part! {
    /// Turns a recorded task into a running process.
    pub struct Launcher;
}
