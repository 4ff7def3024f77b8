//! A pseudo-terminal for tasks that want one.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{InputModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

/// Both ends of a terminal. Holding the task's end keeps it open between programs.
pub(crate) struct Terminal {
    pub(crate) ours: OwnedFd,
    pub(crate) task: OwnedFd,
}

impl Terminal {
    pub(crate) fn open(rows: u16, cols: u16) -> io::Result<Self> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let name = ptsname(&ours, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let task = rustix::fs::open(name.as_c_str(), flags, Mode::empty())?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        // As terminals of people have it, so that a backspace removes a whole character.
        let mut mode = tcgetattr(&task)?;
        mode.input_modes |= InputModes::IUTF8;
        tcsetattr(&task, OptionalActions::Now, &mode)?;
        let terminal = Self { ours, task };
        terminal.resize(rows, cols)?;
        Ok(terminal)
    }

    pub(crate) fn resize(&self, rows: u16, cols: u16) -> io::Result<()> {
        let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(tcsetwinsize(&self.ours, size)?)
    }
}
