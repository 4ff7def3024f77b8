//! Reads the keyboard without blocking.
//!
//! Keys are read until there are none left. On a blocking descriptor, half of an escape sequence would block the whole
//! program until the other half arrives. Standard input is shared with the shell, so its flags are not changed: while a
//! program has the screen, a second, non-blocking descriptor of the same terminal replaces it.

use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdin, stdin};
use rustix::termios::{tcgetsid, ttyname};

static KEYBOARD: OnceLock<Option<Keyboard>> = OnceLock::new();

struct Keyboard {
    /// Standard input as it was at the start.
    given: OwnedFd,
    /// A second, non-blocking descriptor of the same terminal.
    own: OwnedFd,
}

/// Makes keyboard reads non-blocking. If the terminal cannot be opened a second time, reads stay as they were.
pub(super) fn take() {
    if let Some(keyboard) = KEYBOARD.get_or_init(Keyboard::open) {
        let _ = dup2_stdin(&keyboard.own);
    }
}

/// Restores standard input.
pub(super) fn give_back() {
    if let Some(Some(keyboard)) = KEYBOARD.get() {
        let _ = dup2_stdin(&keyboard.given);
    }
}

impl Keyboard {
    fn open() -> Option<Self> {
        const HOW: OFlags = OFlags::RDWR.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
        let by_name = ttyname(stdin(), Vec::new()).and_then(|name| open(name, HOW, Mode::empty()));
        // After `su`, the terminal belongs to another user and can be opened only as `/dev/tty`, the controlling
        // terminal.
        let own = by_name.or_else(|_| tcgetsid(stdin()).and_then(|_| open("/dev/tty", HOW, Mode::empty())));
        // The duplicate must not take the number of a standard stream, even if one of them is closed.
        let given = fcntl_dupfd_cloexec(stdin(), 3);
        Some(Self { given: given.ok()?, own: own.ok()? })
    }
}
