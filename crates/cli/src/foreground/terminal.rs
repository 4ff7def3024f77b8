//! The user's terminal: raw mode, size and a progress line.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use meanwhile::engine::{ReadFrom, ReadRequest, Runtime, WaitReply, WaitRequest, clean_text};
use meanwhile::{Scope, Task};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use crate::error::CommandError;

/// How often the line is renewed.
const EVERY: Duration = Duration::from_millis(250);
const DEFAULT_WIDTH: usize = 80;

/// Returns the terminal's size as columns and rows.
pub(crate) fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// Returns the width of lines for people.
pub(crate) fn width() -> usize {
    size().map_or(DEFAULT_WIDTH, |(cols, _)| cols.into())
}

/// Which keys a program reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Single keys, but Ctrl-C stays a signal.
    Single,
    /// Everything.
    All,
}

/// The terminal in raw mode; restored on drop.
pub(crate) struct RawMode(Option<Termios>);

impl RawMode {
    /// Changes nothing.
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    /// Changes the mode of standard input, if that is a terminal.
    pub(crate) fn enter(keys: Keys) -> Self {
        let stdin = std::io::stdin();
        if !stdin.is_terminal() {
            return Self(None);
        }
        let Ok(before) = tcgetattr(&stdin) else {
            return Self(None);
        };
        let mut mode = before.clone();
        match keys {
            Keys::Single => mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO),
            Keys::All => mode.make_raw(),
        }
        let changed = tcsetattr(&stdin, OptionalActions::Now, &mode).is_ok();
        Self(changed.then_some(before))
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// A line on stderr that is updated in place, if stderr is a terminal.
pub(crate) struct ProgressLine {
    shown: bool,
    drawn: bool,
}

impl ProgressLine {
    pub(crate) fn new(json: bool) -> Self {
        Self { shown: !json && std::io::stderr().is_terminal(), drawn: false }
    }

    pub(crate) const fn is_shown(&self) -> bool {
        self.shown
    }

    /// Waits and updates the line.
    pub(crate) fn follow(
        &mut self,
        runtime: &Runtime,
        request: &WaitRequest,
        begun: Instant,
    ) -> Result<WaitReply, CommandError> {
        let request = WaitRequest { poll_interval: Some(EVERY), ..request.clone() };
        let reply = runtime.reader().wait_with(&request, |tasks| {
            self.draw(&describe(runtime, tasks, begun));
            true
        });
        Ok(reply?)
    }

    /// Updates the line, if there is a terminal.
    pub(crate) fn show(&mut self, runtime: &Runtime, tasks: &[Task], begun: Instant) {
        if self.shown {
            self.draw(&describe(runtime, tasks, begun));
        }
    }

    fn draw(&mut self, text: &str) {
        let text = mw_desk::text::shortened(text, width().saturating_sub(1));
        let mut err = std::io::stderr().lock();
        let _ = write!(err, "\r\x1b[K{text}").and_then(|()| err.flush());
        self.drawn = true;
    }

    /// Removes the line.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let mut err = std::io::stderr().lock();
            let _ = write!(err, "\r\x1b[K").and_then(|()| err.flush());
        }
    }
}

fn describe(runtime: &Runtime, tasks: &[Task], begun: Instant) -> String {
    let elapsed = mw_desk::text::duration(meanwhile::engine::model::millis(begun.elapsed()));
    let live: Vec<_> = tasks.iter().filter(|task| !task.status.is_terminal()).collect();
    let [task] = live[..] else {
        return format!("{elapsed}  {} of {} still running", live.len(), tasks.len());
    };
    let request = ReadRequest { from: ReadFrom::TailBytes(1024), max_bytes: 1024, ..ReadRequest::default() };
    let tail = runtime
        .reader()
        .read_shown(task.id.as_str(), &Scope::All, &request)
        .map(|reply| reply.bytes())
        .unwrap_or_default();
    let text = clean_text(&String::from_utf8_lossy(&tail));
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("").trim();
    let progress = runtime.tasks().progress(task);
    let percent = progress.as_ref().and_then(|progress| progress.percent);
    let bar = percent
        .map(|percent| format!("{} {percent:.0}%  ", mw_desk::text::bar(percent, 10)))
        .unwrap_or_default();
    // A progress report says more than the last line.
    let said = progress.and_then(|progress| progress.text).unwrap_or_else(|| last.to_owned());
    format!("{elapsed}  {} {}  {bar}{said}", task.short_name(), mw_desk::rows::state_words(task))
}
