//! The processes of a task whose supervisors cannot be asked, from /proc.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::fd::BorrowedFd;

use mw_model::Process;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

struct Stat {
    parent: u32,
    stopped: bool,
    start_ticks: u64,
}

/// Reads a living process; nothing of one that has ended, also while nobody has taken note of that.
fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // A name may hold anything, also brackets and blanks.
    let fields: Vec<_> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let threads: u64 = fields.get(17)?.parse().ok()?;
    // A process whose first thread has ended looks like a zombie for as long as others of its threads run.
    let has_ended = matches!(fields[0], "X" | "x") || (fields[0] == "Z" && threads <= 1);
    let stat = Stat {
        parent: fields.get(1)?.parse().ok()?,
        stopped: fields[0] == "T",
        start_ticks: fields.get(19)?.parse().ok()?,
    };
    (!has_ended).then_some(stat)
}

/// Tells whether a process of this boot lives, and no other under its number.
pub(crate) fn runs(process: &Process) -> bool {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    process.boot_id == boot.trim()
        && stat(process.pid).is_some_and(|stat| stat.start_ticks == process.start_ticks)
}

/// Returns the living processes of a task with their start times: the first, those that carry its mark in their
/// environment and are not older, and all below them. Supervisors, and what is below those, are of no task or of another.
pub(crate) fn tree_of(task: &str, first: &Process) -> BTreeMap<u32, u64> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let me = std::process::id();
    let all: BTreeMap<u32, Stat> =
        pids.filter(|pid| *pid != me && !is_ours(*pid)).filter_map(|pid| Some((pid, stat(pid)?))).collect();
    let mark = format!("MEANWHILE_TASK_ID={task}");
    let has_mark = |pid: u32| {
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes())
    };
    let is_root = |pid: u32, stat: &Stat| {
        (pid == first.pid && stat.start_ticks == first.start_ticks)
            || (stat.start_ticks >= first.start_ticks && has_mark(pid))
    };
    let roots = all.iter().filter(|(pid, stat)| is_root(**pid, stat)).map(|(pid, _)| *pid);
    let mut found: BTreeSet<u32> = roots.collect();
    let mut open: Vec<u32> = found.iter().copied().collect();
    while let Some(parent) = open.pop() {
        let below = all.iter().filter(|(_, stat)| stat.parent == parent).map(|(pid, _)| *pid);
        open.extend(below.filter(|pid| found.insert(*pid)));
    }
    found.into_iter().filter_map(|pid| Some((pid, all.get(&pid)?.start_ticks))).collect()
}

/// Tells whether a process is a supervisor, or the `mw settle` that one has started or become.
fn is_ours(pid: u32) -> bool {
    let Ok(path) = fs::read_link(format!("/proc/{pid}/exe")) else { return false };
    let name = path.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
    // An upgrade takes the old file away while it is executed.
    match name.strip_suffix(b" (deleted)").unwrap_or(name) {
        b"mw-supervisor" => true,
        b"mw" | b"mw-surfaces" => {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.split(|byte| *byte == 0).nth(1) == Some(b"settle")
        }
        _ => false,
    }
}

/// Returns the process at the other end of a socket; of a listening one, the one that listens.
pub(crate) fn peer_of(socket: BorrowedFd<'_>) -> Option<u32> {
    let pid = rustix::net::sockopt::socket_peercred(socket).ok()?.pid;
    u32::try_from(pid.as_raw_nonzero().get()).ok()
}

/// Lets one of our supervisors run again that a signal has stopped.
pub(crate) fn continue_if_stopped(pid: u32) {
    const SIGCONT: i32 = 18;
    if let Some(stat) = stat(pid).filter(|stat| stat.stopped && is_ours(pid)) {
        let _ = signal(pid, stat.start_ticks, SIGCONT);
    }
}

/// Signals a process if it still is the one that began then; tells whether it did.
pub(crate) fn signal(pid: u32, start_ticks: u64, number: i32) -> bool {
    let held = i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let (Some(held), Some(signal)) = (held, Signal::from_named_raw(number)) else { return false };
    stat(pid).is_some_and(|stat| stat.start_ticks == start_ticks) && pidfd_send_signal(held, signal).is_ok()
}
