//! Text for people: colour where wanted, cut to the terminal, safe to show.

use std::io::Write;

use comfy_table::{ContentArrangement, Table, presets};
use meanwhile::model::Status;
use meanwhile::model::wire::KillReceipt;
use meanwhile::{Page, PortHolders, Started, Task};
use mw_ui::{Fact, Row, duration, facts, icon, receipt_lines, shortened, state_words};
use serde::Serialize;

use crate::terminal;

/// Writes to stdout; a reader that went away is an error the caller passes on quietly.
pub(crate) fn out(text: &str) -> std::io::Result<()> {
    out_bytes(text.as_bytes())
}

/// The same for bytes that need not be text.
pub(crate) fn out_bytes(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| unwritten("standard output", &error))
}

/// Names the stream that took nothing.
pub(crate) fn unwritten(stream: &str, error: &std::io::Error) -> std::io::Error {
    std::io::Error::new(error.kind(), format!("cannot write to {stream}: {error}"))
}

/// Says something on stderr beside the answer. Where nobody can hear it, the answer is still one.
pub(crate) fn note(text: &str) {
    aside(&format!("mw: {text}"));
}

/// The same, without saying who speaks.
pub(crate) fn aside(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Writes a value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> std::io::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    out_bytes(&text)
}

fn coloured(text: &str, status: Status, colour: bool) -> String {
    let code = match status {
        Status::Pending => "2",
        Status::Running | Status::Resumed => "36",
        Status::Completed => "32",
        Status::Failed | Status::TimedOut => "31",
        Status::Cancelling | Status::Cancelled => "33",
        Status::Lost => "35",
    };
    if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

fn title(task: &Task) -> String {
    task.name.clone().or_else(|| task.description.clone()).unwrap_or_else(|| task.command.clone())
}

/// One line for one task.
pub(crate) fn line(task: &Task, colour: bool) -> String {
    let elapsed = task.duration_ms.map(duration).unwrap_or_default();
    let head =
        coloured(&format!("{} {} {}", icon(task.status), task.id, state_words(task)), task.status, colour);
    let rest = shortened(&title(task), terminal::width().saturating_sub(20).max(20));
    format!("{head}  {elapsed}  {rest}")
}

/// The reply to a start.
pub(crate) fn started(started: &Started, colour: bool) -> String {
    let task = &started.task;
    let id = task.id.as_str();
    if task.never_ran() {
        let cause = task.cause.as_deref().unwrap_or(task.status.word());
        let head = coloured(&format!("{id} did not start: {cause}"), task.status, colour);
        return format!("{head}\nonce that is mended: mw restart {id}\n");
    }
    let head = match (started.existed, task.status, task.queue_position) {
        (true, _, _) => format!("{id} is {} already", task.status.word()),
        (false, Status::Pending, Some(place)) => format!("queued {id} ({place}. in queue)"),
        (false, Status::Pending, None) => format!("queued {id}"),
        (false, _, _) => format!("started {id} (pid {})", task.pid.unwrap_or(0)),
    };
    let output = if colour {
        format!("\x1b[2moutput {}\x1b[0m", task.output_path)
    } else {
        format!("output {}", task.output_path)
    };
    format!("{}\n{output}\n", coloured(&head, Status::Running, colour))
}

/// The list.
pub(crate) fn list(page: &Page, colour: bool) -> String {
    if page.tasks.is_empty() {
        return "No tasks.\n".to_owned();
    }
    let width = terminal::width();
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["", "ID", "STATUS", "TIME", "WHAT"]);
    let room = width.saturating_sub(52).max(16);
    for task in &page.tasks {
        let row = Row::of(task);
        table.add_row([
            row.icon.to_owned(),
            row.id,
            shortened(&row.state, 28),
            row.time,
            shortened(&row.what, room),
        ]);
    }
    let mut text = String::new();
    for (position, row) in table.to_string().lines().enumerate() {
        let row = row.trim_end();
        let painted = match position.checked_sub(1).and_then(|at| page.tasks.get(at)) {
            Some(task) => coloured(row, task.status, colour),
            None if colour => format!("\x1b[1m{row}\x1b[0m"),
            None => row.to_owned(),
        };
        text.push_str(&painted);
        text.push('\n');
    }
    let hidden = page.total.saturating_sub(page.tasks.len() as u64);
    if hidden > 0 {
        text.push_str(&format!("{hidden} more: mw list --all\n"));
    }
    text
}

/// One task in full.
pub(crate) fn status(task: &Task, output: &str, colour: bool) -> String {
    let line = |fact: &Fact| {
        let value = match fact.name {
            "status" => coloured(&fact.value, task.status, colour),
            _ => fact.value.clone(),
        };
        format!("{:<10} {}\n", fact.name, visible(&value, colour))
    };
    let mut text: String = facts(task).iter().map(line).collect();
    if !output.is_empty() {
        text.push_str(&format!("{}\n{}\n", "─".repeat(terminal::width().min(60)), output.trim_end()));
    }
    text
}

fn visible(value: &str, colour: bool) -> String {
    if colour && value.starts_with("\x1b[") {
        value.to_owned()
    } else {
        shortened(&value.replace('\n', " ⏎ "), 400)
    }
}

/// Who listens on a port.
pub(crate) fn port(port: u16, found: &PortHolders, colour: bool) -> String {
    let mut text = String::new();
    for task in &found.tasks {
        text.push_str(&format!("{}\n", line(task, colour)));
    }
    for other in &found.others {
        let command = shortened(&other.command, terminal::width().saturating_sub(40).max(20));
        text.push_str(&format!("process {}, which is no task: {command}\n", other.pid));
    }
    if text.is_empty() { format!("Nobody listens on port {port}, as far as can be seen.\n") } else { text }
}

/// What a kill did.
pub(crate) fn receipt(receipt: &KillReceipt) -> String {
    receipt_lines(receipt).join("\n") + "\n"
}
