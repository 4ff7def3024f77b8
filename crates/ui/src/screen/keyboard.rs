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
    /// What we were started with.
    given: OwnedFd,
    /// The same terminal, without waiting.
    own: OwnedFd,
}

/// Reads keys without waiting from now on. Where the terminal cannot be opened, they are read as they were.
pub(super) fn take() {
    if let Some(keyboard) = KEYBOARD.get_or_init(Keyboard::open) {
        let _ = dup2_stdin(&keyboard.own);
    }
}

/// Restores the mode that the terminal had at the start.
pub(super) fn give_back() {
    if let Some(Some(keyboard)) = KEYBOARD.get() {
        let _ = dup2_stdin(&keyboard.given);
    }
}

impl Keyboard {
    fn open() -> Option<Self> {
        const HOW: OFlags = OFlags::RDWR.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
        let by_name = ttyname(stdin(), Vec::new()).and_then(|name| open(name, HOW, Mode::empty()));
        // Of another user's terminal, as after su, only this name may be opened; it means the one that we belong to.
        let own = by_name.or_else(|_| tcgetsid(stdin()).and_then(|_| open("/dev/tty", HOW, Mode::empty())));
        // Beyond the standard streams, whichever of them are closed.
        let given = fcntl_dupfd_cloexec(stdin(), 3);
        Some(Self { given: given.ok()?, own: own.ok()? })
    }
}
