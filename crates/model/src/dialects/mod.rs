//! Dialects: the vocabularies of the designs that meanwhile unites.
//!
//! A file per dialect describes it to the library, the policy and the notifications. Its tools, with their schemas and
//! replies, are in the file of the same name in `crates/tools/src/dialects`.
//!
//! The dialect of a task's start is part of its spec, so notifications, hooks and the header of the log use the same
//! name for the task as the reply to its start.

mod background_task;
mod canonical;
mod co_cli;
mod dialect;
mod mycode;
mod opta;
mod task_name;
mod zidane;

use dialect::DialectFacts;
pub use dialect::{Dialect, SecondName};
pub use task_name::TaskName;
