//! Tells the person who waits: on the desktop, or else through the terminal.

use std::env;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use meanwhile::engine::model::one_line;

use crate::render;

/// The program that shows a notification on the desktop.
const PROGRAM: &str = "notify-send";
/// How long it may take; without a desktop it may wait for one.
const LONGEST: Duration = Duration::from_secs(3);
/// Terminals that show nothing.
const PLAIN: [&str; 4] = ["", "dumb", "linux", "vt100"];

/// Shows a notification, or says why that is not possible.
pub(crate) fn notify(text: &str) {
    let text = one_line(text);
    let Err(no_desktop) = on_desktop(&text) else { return };
    if let Err(no_terminal) = on_terminal(&text) {
        render::note(&format!("no notification was shown: {no_desktop}, and {no_terminal}"));
    }
}

/// Returns whether a person waits at this terminal.
pub(crate) fn has_person() -> bool {
    io::stderr().is_terminal()
}

fn on_desktop(text: &str) -> Result<(), String> {
    let mut command = Command::new(PROGRAM);
    command.args(["--app-name", "meanwhile", "--", "meanwhile", text]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("{PROGRAM} is not installed"),
        _ => format!("{PROGRAM} cannot be run ({error})"),
    })?;
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait()));
    match ended.recv_timeout(LONGEST) {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(_) => Err(format!("{PROGRAM} failed")),
        // It exits by itself.
        Err(_) => Err(format!("{PROGRAM} does not answer")),
    }
}

/// Asks the terminal to show it, also through ssh.
fn on_terminal(text: &str) -> Result<(), String> {
    if !has_person() {
        return Err("standard error is no terminal".to_owned());
    }
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let term = variable("TERM");
    if PLAIN.contains(&term.as_str()) {
        return Err(format!("the terminal ({term}) shows none"));
    }
    // Terminals of these families know only the second form, all others that show notifications know the first.
    let is_other = term.starts_with("rxvt") || !variable("VTE_VERSION").is_empty();
    let sequence = if is_other {
        format!("\x1b]777;notify;meanwhile;{text}\x1b\\")
    } else {
        format!("\x1b]9;meanwhile: {text}\x07")
    };
    let sequence = if variable("TMUX").is_empty() {
        sequence
    } else {
        // What tmux passes on to its terminal.
        format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"))
    };
    let mut stderr = io::stderr().lock();
    let written = stderr.write_all(sequence.as_bytes()).and_then(|()| stderr.flush());
    written.map_err(|error| format!("the terminal cannot be written ({error})"))
}
