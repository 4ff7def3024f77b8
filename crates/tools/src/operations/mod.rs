//! The operations behind the tools of all dialects, one file for each.
//!
//! ```text
//! arguments ──▶ parameter ──▶ operation (shell, output, wait, …) ──▶ reply
//!   as sent       as read       in a call context                      text and data
//! ```
//!
//! A dialect defines names, parameters and replies. It converts arguments to the input of an operation, and the
//! operation's result to text and data.

mod agent;
mod clear;
mod excerpt;
mod input;
mod list;
mod output;
mod shell;
mod stop;
mod wait;

pub use agent::{AgentRequest, await_answer, delegate, follow_up};
pub use clear::{ClearCall, Cleared, clear};
pub use excerpt::Excerpt;
pub use input::type_into;
pub use list::{Listed, list, shorten};
pub use output::{OutputCall, OutputReply, SearchReply, output, search};
pub use shell::{Ran, Returned, ShellCall, run, start};
pub use stop::{StopCall, Stopped, stop, stop_one};
pub use wait::{WaitCall, Waited, wait};
