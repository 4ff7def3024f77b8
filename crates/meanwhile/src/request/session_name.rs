//! Names of sessions.

use mw_model::LONGEST_SESSION_NAME;

use crate::error::{Error, Invalid, Result};

/// Refuses an invalid session name.
///
/// # Errors
/// When the name is empty, longer than [`LONGEST_SESSION_NAME`] bytes, or has control characters.
pub fn check_session_name(name: &str) -> Result<()> {
    if name.is_empty() || name.len() > LONGEST_SESSION_NAME || name.chars().any(char::is_control) {
        return Err(Error::Invalid(Invalid::SessionName(name.to_owned())));
    }
    Ok(())
}
