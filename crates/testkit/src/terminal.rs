//! A command on a pseudo-terminal, as a person runs it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command};
use std::time::Duration;

use rustix::fd::OwnedFd;
use rustix::process::{Signal, pidfd_send_signal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcgetwinsize, tcsetwinsize};

use crate::capture::Capture;
use crate::running::{ended_within, hold};

/// How long a terminal may stay open after its command has ended.
const DRAIN: Duration = Duration::from_secs(5);
const BEGIN_UPDATE: &[u8] = b"\x1b[?2026h";
const END_UPDATE: &[u8] = b"\x1b[?2026l";

const SIZE: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };

/// A running command on a terminal of 80 by 24 characters. It is killed when this value is dropped.
pub struct Terminal {
    child: Child,
    process: OwnedFd,
    keyboard: File,
    shown: Capture,
    label: String,
    limit: Duration,
}

/// The content and the state of a terminal at one moment.
#[derive(Debug)]
pub struct Screen {
    /// The text, line by line.
    pub text: String,
    /// Whether the alternate screen is in use.
    pub is_full: bool,
    /// Whether the cursor is hidden.
    pub hides_cursor: bool,
    /// Whether the program receives mouse events.
    pub takes_mouse: bool,
    /// Whether bracketed paste is on.
    pub takes_paste: bool,
    /// Whether the terminal is in raw mode.
    pub is_raw: bool,
}

impl Screen {
    /// Returns whether the terminal is in the state that a shell expects.
    #[must_use]
    pub const fn is_given_back(&self) -> bool {
        !self.is_full && !self.hides_cursor && !self.takes_mouse && !self.takes_paste && !self.is_raw
    }
}

impl Terminal {
    /// Starts the command through `setsid --ctty`, which makes the terminal its controlling terminal.
    pub(crate) fn spawn(command: &Command, label: String, limit: Duration) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("the system has terminals");
        grantpt(&master).expect("a new terminal is ours");
        unlockpt(&master).expect("a new terminal can be unlocked");
        tcsetwinsize(&master, SIZE).expect("a terminal has a size");
        let name = ptsname(&master, Vec::new()).expect("a terminal has a name");
        let open = || {
            let path = std::ffi::OsStr::from_bytes(name.as_bytes());
            OpenOptions::new().read(true).write(true).open(path).expect("a new terminal can be opened")
        };

        let mut wrapped = Command::new("setsid");
        wrapped.arg("--ctty").arg(command.get_program()).args(command.get_args()).env_clear();
        wrapped.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        wrapped.env("TERM", "xterm-256color");
        wrapped.current_dir(command.get_current_dir().expect("commands of the kit have a directory"));
        wrapped.stdin(open()).stdout(open()).stderr(open());
        let child = match wrapped.spawn() {
            Ok(child) => child,
            Err(error) => panic!("cannot run {label} on a terminal: {error}"),
        };
        let keyboard = File::from(master);
        let shown = Capture::of(keyboard.try_clone().expect("descriptors can be copied"));
        Self { process: hold(&child), child, keyboard, shown, label, limit }
    }

    /// Presses keys.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn press(&mut self, keys: &str) {
        self.send(keys.as_bytes());
    }

    /// Sends bytes from the keyboard, which need not be complete keys.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn send(&mut self, bytes: &[u8]) {
        self.keyboard.write_all(bytes).expect("a terminal takes keys");
    }

    /// Returns all output so far, including control sequences.
    #[must_use]
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.so_far()).into_owned()
    }

    /// Returns the id of the command's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// When it has ended.
    pub fn signal(&self, signal: Signal) {
        pidfd_send_signal(&self.process, signal).expect("a living process takes signals");
    }

    /// Changes the size of the window.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.keyboard, size).expect("a terminal takes a size");
    }

    /// Returns the current screen. A synchronized update is shown only when it is complete.
    ///
    /// # Panics
    /// When the terminal is gone.
    #[must_use]
    pub fn screen(&self) -> Screen {
        let size = tcgetwinsize(&self.keyboard).expect("a terminal has a size");
        let cells = |count: u16| NonZero::new(count).unwrap_or(NonZero::<u16>::MIN);
        let mut parser = vt100::Parser::new(cells(size.ws_row), cells(size.ws_col), 0);
        parser.process(complete_updates(&self.shown.so_far()));
        let screen = parser.screen();
        let mode = tcgetattr(&self.keyboard).expect("a terminal has a mode");
        Screen {
            text: screen.contents(),
            is_full: screen.alternate_screen(),
            hides_cursor: screen.hide_cursor(),
            takes_mouse: screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None,
            takes_paste: screen.bracketed_paste(),
            is_raw: !mode.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG),
        }
    }

    /// Waits for the end of the command and of its output; returns its exit code. The terminal can still be inspected.
    ///
    /// # Panics
    /// When it does not end in time.
    pub fn ended(&mut self) -> Option<i32> {
        assert!(
            ended_within(&self.process, self.limit),
            "still runs after {:?}: {}\n{}",
            self.limit,
            self.label,
            self.screen().text
        );
        // A process that it left behind may hold the terminal open.
        self.shown.ends_within(DRAIN);
        self.child.wait().expect("a child can be waited for").code()
    }

    /// Waits for the end of the command and returns its exit code.
    ///
    /// # Panics
    /// When it does not end in time.
    #[must_use]
    pub fn wait(mut self) -> Option<i32> {
        assert!(
            ended_within(&self.process, self.limit),
            "still runs after {:?}: {}\n{}",
            self.limit,
            self.label,
            self.shown()
        );
        self.child.wait().expect("a child can be waited for").code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        pidfd_send_signal(&self.process, Signal::KILL).ok();
        self.child.wait().ok();
    }
}

/// Removes an update that is not complete yet.
fn complete_updates(shown: &[u8]) -> &[u8] {
    let last = |mark: &[u8]| shown.windows(mark.len()).rposition(|part| part == mark);
    match (last(BEGIN_UPDATE), last(END_UPDATE)) {
        (Some(begin), end) if end.is_none_or(|end| end < begin) => &shown[..begin],
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_synchronized_updates_are_hidden() {
        assert_eq!(complete_updates(b"plain"), b"plain");
        assert_eq!(complete_updates(b"a\x1b[?2026hb"), b"a");
        let one = b"a\x1b[?2026hb\x1b[?2026l";
        assert_eq!(complete_updates(one), one);
        assert_eq!(complete_updates(&[&one[..], b"\x1b[?2026hhalf"].concat()), one);
        assert_eq!(complete_updates(&[&one[..], b"after"].concat()), [&one[..], b"after"].concat());
    }
}
