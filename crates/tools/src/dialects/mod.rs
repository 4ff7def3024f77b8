//! The dialects: our own and five of other tools.
//!
//! Each file or folder contains the tools of one dialect, with their names, parameters, defaults and replies, based on
//! the same operations. No dialect has state.
//!
//! `mw_model::Dialect` describes the same dialects to the crates below: the names of tools and tasks, and the words for
//! states.

mod background_task;
pub mod canonical;
mod co_cli;
mod dialect_tools;
mod mycode;
mod opta;
mod zidane;

pub use dialect_tools::DialectTools;
use dialect_tools::failure;
pub(crate) use dialect_tools::state;
pub use mw_model::Dialect;
