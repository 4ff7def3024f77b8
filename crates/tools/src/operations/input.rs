//! Sends input to a task.

use crate::call::{CallContext, CallRefusal};

/// Writes to a task's standard input or terminal. Returns the number of accepted bytes.
/// Fails if the task is not running, has no open input, or does not read it.
pub(crate) fn type_into(task: &str, text: &str, cx: &CallContext<'_>) -> Result<u64, CallRefusal> {
    Ok(cx.runtime.live().input(cx.resolve(task)?.as_str(), &cx.scope(), text.as_bytes(), false)?)
}
