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

pub(crate) use agent::{AgentRequest, await_answer, delegate, follow_up};
pub(crate) use clear::clear;
pub use excerpt::Excerpt;
pub(crate) use input::type_into;
pub(crate) use list::{list, shorten};
pub(crate) use output::{OutputCall, output, search};
pub use shell::{ForegroundRun, ReturnReason, ShellCall, run, start};
pub(crate) use stop::{StopCall, StopResult, stop, stop_one};
pub(crate) use wait::{WaitCall, wait};
