//! One call of a tool: what it was called with, what it works on, and what it returns.
//!
//! A [`ToolDefinition`] declares [`Parameter`]s, which give its schema and read its [`Arguments`]. It works on a [`CallContext`], a session
//! of the engine, and returns a [`Reply`] or a [`Refusal`].

mod caller;
mod context;
mod definition;
mod next_step;
mod parameter;
mod premises;
mod refusal;
mod reply;

pub use caller::{Caller, LOOK_EVERY, Patience, Patient};
pub use context::{CallContext, CallTrace, put_below};
pub use definition::{Field, ToolDefinition};
pub use next_step::next_step;
pub use parameter::{Arguments, Kind, Offered, Parameter, Range};
pub use premises::{Background, Premises, SessionEnd};
pub use refusal::Refusal;
pub use reply::{End, Over, Reply, StartedTask};
