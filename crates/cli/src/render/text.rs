//! Text for people: coloured if wanted, cut to the terminal, without control characters.

use std::env;
use std::fmt;
use std::io::{IsTerminal, Write};

use meanwhile::Task;
use meanwhile::engine::model::wire::KillReceipt;
use meanwhile::engine::{PortHolders, Started};
use meanwhile::model::Status;
use mw_desk::rows::{Fact, facts, receipt_lines, sign, state_words, waits};
use mw_desk::text::{duration, shortened};
use serde::Serialize;

use crate::foreground::terminal;

/// Writes to stdout. A closed pipe is an error that the caller passes on.
pub(crate) fn out(text: &str) -> std::io::Result<()> {
    out_bytes(text.as_bytes())
}

/// Writes bytes to stdout.
pub(crate) fn out_bytes(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| unwritten("standard output", &error))
}

/// The error of a stream that could not be written, in words.
#[derive(Debug)]
struct Unwritten(String);

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unwritten {}

/// Names the stream that could not be written.
pub(crate) fn unwritten(stream: &str, error: &std::io::Error) -> std::io::Error {
    std::io::Error::new(error.kind(), Unwritten(format!("cannot write to {stream}: {error}")))
}

/// Returns whether an error is about a stream that could not be written.
pub(crate) fn is_unwritten(error: &std::io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Unwritten>())
}

/// Prints an error and a hint on stderr, in the format of argument errors.
pub(crate) fn failure(message: &str, hint: &str) {
    complain(&label("error:", "1;31"), message, hint);
}

/// Prints a warning on stderr.
pub(crate) fn warning(message: &str, hint: &str) {
    complain(&label("warning:", "1;33"), message, hint);
}

fn complain(label_of_message: &str, message: &str, hint: &str) {
    aside(&format!("{label_of_message} {message}"));
    if !hint.is_empty() {
        aside(&format!("{} {hint}", label("hint:", "36")));
    }
}

fn label(word: &str, code: &str) -> String {
    let wants_colour = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    paint(word, code, wants_colour && std::io::stderr().is_terminal())
}

/// Adds the escape sequences of a colour, if colours are wanted.
pub(crate) fn paint(text: &str, code: &str, colour: bool) -> String {
    if colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

/// Prints a note on stderr. A failure to do so is ignored.
pub(crate) fn note(text: &str) {
    aside(&format!("mw: {text}"));
}

/// Prints a note on stderr without the prefix.
pub(crate) fn aside(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Writes a value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> std::io::Result<()> {
    out_bytes(&json_line(value)?)
}

/// Returns a value as one line of JSON.
pub(crate) fn json_line(value: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    Ok(text)
}

pub(crate) fn coloured(text: &str, status: Status, colour: bool) -> String {
    let code = match status {
        Status::Pending => "2",
        Status::Running | Status::Resumed => "36",
        Status::Completed => "32",
        Status::Failed | Status::TimedOut => "31",
        Status::Cancelling | Status::Cancelled => "33",
        Status::Lost => "35",
    };
    paint(text, code, colour)
}

/// Returns the name of a task with its id, or the id alone.
pub(crate) fn named(task: &Task) -> String {
    task.name.as_ref().map_or_else(|| task.id.to_string(), |name| format!("{name} ({})", task.id))
}

fn what(task: &Task) -> String {
    task.description.clone().unwrap_or_else(|| task.command.clone())
}

/// Colours the words about a task.
pub(crate) fn painted(text: &str, task: &Task, colour: bool) -> String {
    match waits(task) {
        Some(_) => paint(text, "33", colour),
        None => coloured(text, task.status, colour),
    }
}

/// Returns the columns that are left on a line for a text; unlimited without a terminal.
fn room(others: usize) -> usize {
    terminal::size().map_or(usize::MAX, |(columns, _)| usize::from(columns).saturating_sub(others).max(20))
}

/// One line for one task.
pub(crate) fn line(task: &Task, colour: bool) -> String {
    let elapsed = task.duration_ms.map(duration).unwrap_or_default();
    let head = painted(&format!("{} {} {}", sign(task), named(task), state_words(task)), task, colour);
    let rest = shortened(&what(task), room(20));
    format!("{head}  {elapsed}  {rest}")
}

/// Returns whether standard output gets colours.
pub(crate) fn is_coloured(json: bool) -> bool {
    !json && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && std::io::stdout().is_terminal()
}

/// Returns the reply to a start.
pub(crate) fn started(started: &Started, colour: bool) -> String {
    let task = &started.task;
    let id = &named(task);
    if task.never_ran() {
        let cause = task.cause.as_deref().unwrap_or(task.status.word());
        let head = coloured(&format!("{id} did not start: {cause}"), task.status, colour);
        return format!("{head}\nafter fixing that: mw restart {}\n", task.id);
    }
    let head = match (started.existed, task.status, task.queue_position) {
        (true, _, _) => format!("{id} is already {}", task.status.word()),
        (false, Status::Pending, _) => {
            let words = state_words(task);
            match words.strip_prefix("queued") {
                Some(place) => format!("queued {id}{place}"),
                None => format!("queued {id}, {words}"),
            }
        }
        (false, _, _) => format!("started {id}, pid {}", task.pid.unwrap_or(0)),
    };
    let output = paint(&format!("output {}", task.output_path), "2", colour);
    format!("{}\n{output}\n", coloured(&head, Status::Running, colour))
}

/// Returns one task with all details.
pub(crate) fn status(task: &Task, output: &str, colour: bool) -> String {
    let line = |fact: &Fact| {
        let value = match fact.name {
            "status" => painted(&fact.value, task, colour),
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

/// Returns which tasks and processes listen on a port.
pub(crate) fn port(port: u16, found: &PortHolders, colour: bool) -> String {
    let mut text = String::new();
    for task in &found.tasks {
        text.push_str(&format!("{}\n", line(task, colour)));
    }
    for other in &found.others {
        let command = shortened(&other.command, room(40));
        let whose = if found.silent.is_empty() {
            "not a task"
        } else {
            "not part of a task whose supervisor answers"
        };
        text.push_str(&format!("process {}, {whose}: {command}\n", other.pid));
    }
    if text.is_empty() { format!("No visible process listens on port {port}.\n") } else { text }
}

/// Returns the result of a kill.
pub(crate) fn receipt(receipt: &KillReceipt, name: Option<&str>) -> String {
    receipt_lines(receipt, name).join("\n") + "\n"
}
