//! Typing into a task.

use crate::call::Desk;
use crate::call::Refusal;

/// Types into a task's standard input or terminal; returns how many bytes
/// were taken.
///
/// # Errors
/// When the task does not run, has no open input, or does not read it.
pub fn type_into(task: &str, text: &str, desk: &Desk<'_>) -> Result<u64, Refusal> {
    Ok(desk.runtime.input(desk.resolve(task)?.as_str(), &desk.scope(), text.as_bytes(), false)?)
}
