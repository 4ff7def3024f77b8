//! Communication with running tasks.
//!
//! `control` sends requests, and `kill`, `input`, `ready` and `holders` use the control socket of the task's supervisor. `usage` and `ports` inspect
//! the task's processes. `keepers` handles the processes that keep an agent alive, and `background` moves a command from the foreground to the background.

mod background;
pub(crate) mod control;
pub(crate) mod holders;
pub(crate) mod input;
pub(crate) mod keepers;
pub(crate) mod kill;
pub(crate) mod ports;
pub(crate) mod ready;
pub(crate) mod usage;

use crate::base::part;

part! {
    /// Talks to running tasks.
    pub struct Live;
}
