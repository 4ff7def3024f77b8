//! The terminal screen of a task, drawn from the end of its log.

use meanwhile::engine::{From, ReadRequest, Runtime, render_screen};
use meanwhile::model::Io;
use serde_json::json;

use crate::context::Context;
use crate::error::CommandResult;
use crate::render;

/// How much of a log is used to draw a screen.
const SCREEN_BYTES: u64 = 256 << 10;

/// Prints the screen of a task.
pub(crate) fn show(context: &Context, runtime: &Runtime, handle: &str, run: Option<u32>) -> CommandResult {
    let task = runtime.tasks().task(handle, &context.scope())?;
    let (rows, cols) = match runtime.home().task(&task.id).spec()?.io {
        Io::Pty { rows, cols } => (rows, cols),
        Io::Pipes | Io::Stdin => (24, 80),
    };
    let request = ReadRequest {
        from: From::TailBytes(SCREEN_BYTES),
        max_bytes: SCREEN_BYTES,
        run,
        within: 0,
        ..ReadRequest::default()
    };
    let reply = runtime.reader().read(handle, &context.scope(), &request)?;
    let mut bytes = reply.bytes();
    if matches!(runtime.home().task(&task.id).spec()?.io, Io::Pipes | Io::Stdin) {
        // Only a terminal converts newlines.
        bytes = String::from_utf8_lossy(&bytes).replace('\n', "\r\n").into_bytes();
    }
    let screen = render_screen(&bytes, rows, cols);
    let screen = runtime.redaction().redactor(&task.id).text(&screen).into_owned();
    if context.json {
        render::out(&format!("{}\n", json!({"screen": screen, "rows": rows, "cols": cols})))?;
    } else {
        render::out(&format!("{screen}\n"))?;
    }
    Ok(0)
}
