//! The terminal screen of a task, drawn from the end of its log.

use meanwhile::engine::{ReadFrom, ReadRequest, Runtime, render_screen};
use serde_json::json;

use crate::context::Context;
use crate::error::CommandResult;

/// How much of a log is used to draw a screen.
const SCREEN_BYTES: u64 = 256 << 10;

/// Prints the screen of a task.
pub(crate) fn show(context: &Context, runtime: &Runtime, handle: &str, run: Option<u32>) -> CommandResult {
    let task = runtime.tasks().task(handle, &context.scope())?;
    let from = ReadFrom::TailBytes(SCREEN_BYTES);
    let request = ReadRequest { from, max_bytes: SCREEN_BYTES, run, ..ReadRequest::default() };
    let bytes = runtime.reader().read(handle, &context.scope(), &request)?.bytes();
    let (rows, cols, bytes) = match runtime.home().task(&task.id).spec()?.io.terminal() {
        Some((rows, cols)) => (rows, cols, bytes),
        // Only a terminal converts newlines.
        None => (24, 80, String::from_utf8_lossy(&bytes).replace('\n', "\r\n").into_bytes()),
    };
    let screen = render_screen(&bytes, rows, cols);
    let screen = runtime.redaction().redactor(&task.id).text(&screen).into_owned();
    context.show(&json!({"screen": screen, "rows": rows, "cols": cols}), || format!("{screen}\n"))
}
