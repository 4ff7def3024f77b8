//! Where tasks run.
//!
//! A back-end turns a spec into what a supervisor executes. The supervisor, the log, the ledger and the layers above
//! do not depend on the back-end. Back-ends differ only in what they support, what they refuse, what they execute,
//! how it is asked to stop, and whether they are available.
//!
//! `process` runs the command itself or the driver of an agent, `mock` nothing. A new back-end is a variant of
//! `Place`, a file here that implements `Backend`, and an arm in `choose`. A remote one executes its client (`ssh`,
//! `docker`, `srun`) under the supervisor; the client's streams and exit are those of the task.

mod choose;
mod interface;
mod mock;
mod process;

pub use choose::backends;
pub(crate) use choose::{backend_for, backend_of};
pub(crate) use interface::Stop;
pub use interface::{BackendReport, Capabilities};

use interface::Backend;
