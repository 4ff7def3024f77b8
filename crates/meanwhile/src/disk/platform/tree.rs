//! The processes of a task whose supervisors do not answer, from /proc.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use mw_model::signal::{SIGCONT, SIGKILL};
use mw_model::{ProcStat, Process, TASK_VARIABLE, environ_has, is_own_process};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Returns the ids of all processes.
pub(super) fn pids() -> io::Result<impl Iterator<Item = u32>> {
    let entries = fs::read_dir("/proc")?.flatten();
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()))
}

/// Reads a live process; `None` if it has ended, even if it is still a zombie.
fn stat(pid: u32) -> io::Result<Option<ProcStat>> {
    let stat = read(pid, "stat")?.and_then(|text| ProcStat::parse(&String::from_utf8_lossy(&text)));
    Ok(stat.filter(|stat| !stat.has_ended()))
}

/// Reads a file of a process in /proc; `None` if the process is gone.
fn read(pid: u32, what: &str) -> io::Result<Option<Vec<u8>>> {
    match fs::read(format!("/proc/{pid}/{what}")) {
        Ok(text) => Ok(Some(text)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
}

/// Returns whether this very process is alive, and not another one with the same id.
pub(crate) fn runs(process: &Process) -> io::Result<bool> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(process.boot_id == boot.trim()
        && stat(process.pid)?.is_some_and(|stat| stat.start_ticks == process.start_ticks))
}

/// Returns the live processes of a task with their start times: the first, those that have its mark in their
/// environment and are not older, and all their descendants. Supervisors and their descendants belong to no task or
/// to another.
pub(crate) fn tree_of(task: &str, first: &Process) -> io::Result<BTreeMap<u32, u64>> {
    let me = std::process::id();
    let mut all = BTreeMap::new();
    for entry in fs::read_dir("/proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        if pid != me && !is_ours(pid)? {
            all.extend(stat(pid)?.map(|stat| (pid, stat)));
        }
    }
    let mark = format!("{TASK_VARIABLE}={task}");
    let has_mark = |pid: u32| {
        let environ = match read(pid, "environ") {
            // The process belongs to another user, so it belongs to no task.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            other => other?,
        };
        Ok::<_, io::Error>(environ_has(&environ.unwrap_or_default(), &mark))
    };
    let mut found = BTreeSet::new();
    for (pid, stat) in &all {
        let is_first = *pid == first.pid && stat.start_ticks == first.start_ticks;
        if is_first || (stat.start_ticks >= first.start_ticks && has_mark(*pid)?) {
            found.insert(*pid);
        }
    }
    let mut open: Vec<u32> = found.iter().copied().collect();
    while let Some(parent) = open.pop() {
        let below = all.iter().filter(|(_, stat)| stat.parent == parent).map(|(pid, _)| *pid);
        open.extend(below.filter(|pid| found.insert(*pid)));
    }
    Ok(found.into_iter().filter_map(|pid| Some((pid, all.get(&pid)?.start_ticks))).collect())
}

/// Returns whether a process is a supervisor, or the `mw settle` that a supervisor has started or become.
fn is_ours(pid: u32) -> io::Result<bool> {
    let path = match fs::read_link(format!("/proc/{pid}/exe")) {
        Ok(path) => path,
        Err(error) if is_gone(&error) || error.kind() == io::ErrorKind::PermissionDenied => return Ok(false),
        Err(error) => return Err(error),
    };
    let executable = path.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
    let text = |what| read(pid, what).map(Option::unwrap_or_default);
    is_own_process(executable, || text("comm"), || text("cmdline"))
}

/// Kills all processes with an entry in their environment, and those that they start meanwhile. Supervisors are
/// spared.
pub(crate) fn kill_marked(entry: &str) {
    const MAX_ROUNDS: u32 = 50;
    for _ in 0..MAX_ROUNDS {
        let has_mark =
            |pid: u32| environ_has(&read(pid, "environ").ok().flatten().unwrap_or_default(), entry);
        let pids = pids().into_iter().flatten();
        let marked: Vec<_> = pids.filter(|pid| has_mark(*pid) && !is_ours(*pid).unwrap_or(true)).collect();
        let living: Vec<_> = marked.into_iter().filter_map(|pid| Some((pid, stat(pid).ok()??))).collect();
        if living.is_empty() {
            return;
        }
        for (pid, stat) in living {
            signal(pid, stat.start_ticks, SIGKILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Returns the process at the other end of a socket; for a listening socket, the listener.
pub(crate) fn peer_of(socket: BorrowedFd<'_>) -> Option<u32> {
    let pid = rustix::net::sockopt::socket_peercred(socket).ok()?.pid;
    u32::try_from(pid.as_raw_nonzero().get()).ok()
}

/// Continues a supervisor, and the guardian above it, if a signal has stopped them.
pub(crate) fn continue_if_stopped(pid: u32) {
    let guardian = stat(pid).ok().flatten().map(|stat| stat.parent);
    for pid in guardian.into_iter().chain([pid]) {
        if let Ok(Some(stat)) = stat(pid)
            && stat.is_stopped()
            && is_ours(pid).unwrap_or(false)
        {
            let _ = signal(pid, stat.start_ticks, SIGCONT);
        }
    }
}

/// Returns a descriptor of a process, so that no other process with the same id is signalled; `None` if it is gone.
fn handle_of(pid: u32) -> Option<OwnedFd> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Signals a process if its start time matches. Returns whether it did.
pub(crate) fn signal(pid: u32, start_ticks: u64, number: i32) -> bool {
    let (Some(held), Some(signal)) = (handle_of(pid), Signal::from_named_raw(number)) else { return false };
    let is_same = stat(pid).is_ok_and(|stat| stat.is_some_and(|stat| stat.start_ticks == start_ticks));
    is_same && pidfd_send_signal(held, signal).is_ok()
}
