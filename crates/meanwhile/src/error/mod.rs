//! Errors as an agent or a person sees them: a stable code, one sentence, and what to do next.
//!
//! `library_error` is the error of every operation, `class` contains its codes and classes, `reason` contains the
//! details as data, `retained` describes a task that was not removed, `database_error` hides the types of SQLite, and
//! `hint` says what to do.

mod class;
mod database_error;
mod hint;
mod library_error;
mod reason;
mod retained;

pub use class::{ErrorClass, ErrorCode};
pub use database_error::DatabaseError;
pub(crate) use hint::LACK_HINT;
pub use library_error::{Error, Result};
pub(crate) use library_error::{is_disk_full, is_shortage};
pub use reason::{Denial, ForeignEntry, HomeProblem, Invalid, NoConsent};
pub use retained::{KeepCause, Retained};
