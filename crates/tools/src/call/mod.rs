//! One call of a tool: what it was called with, what it works on, and what it returns.
//!
//! A [`Tool`] declares [`Parameter`]s, which give its schema and read its [`Arguments`]. It works on a [`Desk`], a session
//! of the engine, and returns a [`Reply`] or a [`Refusal`].

mod desk;
mod parameter;
mod refusal;
mod reply;
mod tool;

pub use desk::{
    Background, CallTrace, Caller, Desk, LOOK_EVERY, Patience, Patient, Premises, SessionEnd, put_below,
};
pub use parameter::{Arguments, Kind, Offered, Parameter, Range};
pub use refusal::Refusal;
pub use reply::{Reply, Started};
pub use tool::{Effect, Field, Tool};
