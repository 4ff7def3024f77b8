//! What models can ask for, whatever words their dialect has for it: one file per operation.
//!
//! ```text
//! arguments ──▶ parameter ──▶ operation (shell, output, wait, …) ──▶ reply
//!   as sent       as read       on a desk: a session of the engine     text and data
//! ```
//!
//! A dialect names the tools, reads their arguments into operations, and puts the results into its words.

mod agent;
mod clear;
mod excerpt;
mod input;
mod list;
mod output;
mod shell;
mod stop;
mod wait;

pub use agent::{Wish, await_answer, delegate, follow_up};
pub use clear::{ClearCall, Cleared, clear};
pub use excerpt::Excerpt;
pub use input::type_into;
pub use list::{Listed, list, shorten};
pub use output::{Found, OutputCall, OutputReply, output, search};
pub use shell::{Ran, Returned, ShellCall, run, start};
pub use stop::{StopCall, Stopped, stop, told};
pub use wait::{WaitCall, Waited, wait};
