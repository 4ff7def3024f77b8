//! One call of a tool: its arguments, its context and its result.
//!
//! A [`ToolDefinition`] declares [`Parameter`]s, which define its schema and parse its [`Arguments`]. It runs in a
//! [`CallContext`], which belongs to a session of the engine, and returns a [`Reply`] or a [`CallRefusal`].

mod call_settings;
mod caller;
mod context;
mod definition;
mod next_step;
mod parameter;
mod refusal;
mod reply;

pub use call_settings::{Background, CallSettings, LONGEST_CALL_MS, REPLY_BYTES, STREAM_BYTES, SessionEnd};
pub use caller::{Caller, POLL_INTERVAL, PatientCaller, WaitDecision};
pub use context::{CallContext, CallTrace, put_below};
pub use definition::ToolDefinition;
pub use next_step::next_step;
pub use parameter::{Arguments, Kind, Offered, Parameter, Range};
pub use refusal::CallRefusal;
pub use reply::{Over, Reply, RunEnd, StartedTask};
