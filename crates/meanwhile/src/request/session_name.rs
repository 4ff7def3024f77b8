//! Names of sessions.

use crate::error::{Error, Invalid, Result};

/// Refuses an invalid session name.
///
/// # Errors
/// When the name is empty, longer than 200 bytes, or has control characters.
pub fn check_session_name(name: &str) -> Result<()> {
    const MOST_BYTES: usize = 200;
    if name.is_empty() || name.len() > MOST_BYTES || name.chars().any(char::is_control) {
        return Err(Error::Invalid(Invalid::SessionName(name.to_owned())));
    }
    Ok(())
}
