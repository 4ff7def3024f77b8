//! Delivers notifications with replies: to a client of the MCP server, or to the model of the built-in agent.
//!
//! ```text
//! call received        pending_calls: replies with notifications are held until it is known what the call waits for
//! call waits for ends  session_thread: reserves them, and takes them out of drafts
//! reply composed       session_thread: takes the other notifications; draft: they can still be taken out
//! reply written        draft is closed; receipts: acknowledges the notifications, records the reserved ends as reported
//! reply not written    the next reply gets the notifications
//! ```
//!
//! An end is therefore in one reply only, even if one call waits for it while another one replies. `deliveries` has a
//! thread for each session, `calls` limits the running calls, and `instructions` describes background tasks to a model.

pub(crate) mod calls;
pub(crate) mod deliveries;
pub(crate) mod draft;
pub(crate) mod instructions;
pub(crate) mod pending_calls;
pub(crate) mod receipts;
pub(crate) mod session_thread;

pub use deliveries::DeliveredWith;
pub(crate) use session_thread::fitting;
