//! Where tasks run.
//!
//! A back-end turns a spec into what a supervisor executes. The supervisor, the log, the ledger and the layers above
//! do not depend on the back-end. Back-ends differ only in what they support, what they refuse, what they execute,
//! how it is asked to stop, and whether they are available.
//!
//! `process` runs the command itself or the driver of an agent, `mock` nothing, `sandbox` the command with a confinement that it
//! cannot be started without. A back-end of the configuration is
//! `driven`: the supervisor runs its driver, which is in the crate `mw-backends`.

mod choose;
mod driven;
mod interface;
mod mock;
mod process;
mod sandbox;

pub(crate) use choose::{backend_of, check_backend};
pub use choose::{backends, capabilities_of};
pub use interface::{BackendReport, Capabilities};
pub(crate) use interface::{Plan, Stop};

use interface::Backend;
