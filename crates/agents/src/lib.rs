//! What agents and their hosts see of meanwhile.
//!
//! ```text
//! hosts     we live in them: their set-up, hooks and sessions
//! mcp       we serve them tools
//! subagent  we drive other agents, each as a task
//! builtin   we are an agent ourselves
//! chat      a person talks with an agent; what is behind the screen
//! delivery  how notifications reach whoever is connected
//! ```
#![forbid(unsafe_code)]

pub mod builtin;
pub mod chat;
mod delivery;
pub mod event_loop;
pub mod hosts;
mod line_file;
pub mod mcp;
mod question;
pub mod subagent;

pub use delivery::Tells;
