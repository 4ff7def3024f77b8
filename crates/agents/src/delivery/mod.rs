//! Delivers notifications with replies: to a client of the MCP server, or to the model of the built-in agent.
//!
//! A `teller` hosts a session and takes its notifications from the ledger. `receipts` acknowledge them after the reply that
//! carries them was written. An end that a wait will report must not be in another reply: no reply with notifications is
//! written while there are `arrivals` that may still wait, and a `seal` removes a notification from a reply until it is
//! written. `calls` counts the running calls, and `instructions` tells a model what to expect.

pub(crate) mod arrivals;
pub(crate) mod calls;
pub(crate) mod instructions;
pub(crate) mod receipts;
pub(crate) mod seal;
pub(crate) mod teller;

pub use teller::Tells;
