//! The terminal of a running task, as another process of its user sees it.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

use meanwhile::engine::model::ProcStat;
use meanwhile::model::signal::SIGTSTP;
use rustix::fs::OFlags;
use rustix::termios::{LocalModes, SpecialCodeIndex, tcgetattr};

/// How a task reads its terminal now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskTerminal {
    /// Whether it reads whole lines; if not, every key belongs to it.
    pub(crate) reads_lines: bool,
    /// The key that would stop it, if it is the program in the foreground of its terminal and does not ignore that.
    pub(crate) stop_key: Option<u8>,
}

impl TaskTerminal {
    /// Looks at the terminal of a process; nothing if it has none, or has ended.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let stat = ProcStat::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
        let path = format!("/dev/pts/{}", stat.pts()?);
        let flags = OFlags::NOCTTY | OFlags::NONBLOCK;
        let end = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
        let mode = tcgetattr(end).ok()?;
        let stops =
            mode.local_modes.contains(LocalModes::ISIG) && stat.is_in_foreground() && !ignores_stop(pid);
        Some(Self {
            reads_lines: mode.local_modes.contains(LocalModes::ICANON),
            stop_key: stops.then(|| mode.special_codes[SpecialCodeIndex::VSUSP]),
        })
    }
}

/// Returns whether a process ignores the signal of Ctrl-Z.
fn ignores_stop(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored >> (SIGTSTP - 1) & 1 == 1
}
