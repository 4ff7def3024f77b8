//! Names of sessions.

use mw_model::is_session_name;

use crate::error::{Error, Invalid, Result};

/// Refuses an invalid session name.
///
/// # Errors
/// When the name is empty, longer than [`LONGEST_SESSION_NAME`](mw_model::LONGEST_SESSION_NAME) bytes, or has control characters.
pub fn check_session_name(name: &str) -> Result<()> {
    let invalid = || Error::Invalid(Invalid::SessionName(name.to_owned()));
    if is_session_name(name) { Ok(()) } else { Err(invalid()) }
}
