//! Processes and the system, as the kernel describes them.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use mw_model::wire::SUPERVISOR_NAME;
use mw_model::{ProcStat, Process, shown_command};
use rustix::fs::{Mode, OFlags, open};

/// Returns how long the machine has been up, in microseconds, including sleep.
pub(crate) fn uptime_us() -> i64 {
    let up = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    up.tv_sec * 1_000_000 + up.tv_nsec / 1000
}

/// Milliseconds of a clock that cannot be set and that all processes of this boot share, supervisors included.
pub(crate) fn monotonic_ms() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

/// Returns how long a process has run, by a clock that cannot be set; `None` if its start is not known.
pub(crate) fn running_ms(process: &Process) -> Option<u64> {
    // The kernel reports hundredths of a second to user space.
    let begun_us = i64::try_from(process.start_ticks).ok().filter(|ticks| *ticks > 0)?.checked_mul(10_000)?;
    u64::try_from((uptime_us() - begun_us) / 1000).ok()
}

/// Returns whether a process is stopped by a signal, until it is continued.
pub(crate) fn is_stopped(process: &Process) -> bool {
    stat(process.pid).is_some_and(|stat| stat.start_ticks == process.start_ticks && stat.is_stopped())
}

/// Returns a short path to an open directory.
fn short_path(directory: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()))
}

/// Returns a file without a name, in memory. It does not outlive its descriptors.
pub(crate) fn anonymous_file() -> io::Result<File> {
    let file = rustix::fs::memfd_create("meanwhile", rustix::fs::MemfdFlags::CLOEXEC)?;
    Ok(file.into())
}

/// Calls `act` with a path short enough for a socket address, which holds 108 bytes. A long path is reached through a
/// descriptor of its directory.
pub(crate) fn short<T>(path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    const LONGEST: usize = 100;
    if path.as_os_str().len() <= LONGEST {
        return act(path);
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return act(path);
    };
    let directory = File::open(parent)?;
    act(&short_path(&directory).join(name))
}

/// Returns random bytes, fit for secrets.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(bytes)
}

/// Shells that may stand between a program and the process that started it.
const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "busybox"];

/// Returns the process that started another, skipping shells in between; `None` if it is gone.
pub(crate) fn starter_of(pid: u32) -> Option<u32> {
    let parent = |pid: u32| stat(pid).map(|stat| stat.parent).filter(|parent| *parent > 1);
    let is_shell = |pid: &u32| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        SHELLS.contains(&name.trim_end())
    };
    let mut starter = parent(pid)?;
    while is_shell(&starter) {
        starter = parent(starter)?;
    }
    Some(starter)
}

/// Returns a process's command line for people, shortened; empty if the process is gone.
pub(crate) fn command_of(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    shown_command(&words, || fs::read_to_string(format!("/proc/{pid}/comm")).ok())
}

/// Returns the CPU time of a process and of the children it has waited for, in microseconds, and its memory in
/// bytes; `None` if it is gone.
pub(crate) fn use_of(pid: u32) -> Option<(u64, u64)> {
    let stat = stat(pid)?;
    let tick_us = 1_000_000 / rustix::param::clock_ticks_per_second().max(1);
    let page = rustix::param::page_size() as u64;
    Some((stat.cpu_ticks.saturating_mul(tick_us), stat.resident_pages.saturating_mul(page)))
}

/// Returns the files that the supervisors above a process hold open, the nearest supervisor first. Every supervisor
/// has the same name, so the files of other processes, of which there may be many, are not read.
pub(crate) fn files_of_supervisors_above(pid: u32) -> Vec<PathBuf> {
    supervisors_above(pid)
        .flat_map(|pid| fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten())
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .collect()
}

/// Returns whether the open files of a supervisor above a process cannot be listed, so that its task is unknown. A process that is
/// confined or in another user namespace cannot list the files of any supervisor.
pub(crate) fn has_closed_supervisor_above(pid: u32) -> bool {
    let is_closed = |pid: u32| match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(mut entries) => entries.any(|entry| {
            entry.is_ok_and(|entry| fs::read_link(entry.path()).is_err_and(|it| is_denied(&it)))
        }),
        Err(error) => is_denied(&error),
    };
    supervisors_above(pid).any(is_closed)
}

fn is_denied(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

fn supervisors_above(pid: u32) -> impl Iterator<Item = u32> {
    ancestors(pid).filter(|(_, line)| ProcStat::name(line) == Some(SUPERVISOR_NAME)).map(|(pid, _)| pid)
}

/// Returns whether a process is visible and a supervisor.
pub(crate) fn is_visible_supervisor(pid: u32) -> bool {
    stat_line(pid).is_some_and(|line| ProcStat::name(&line) == Some(SUPERVISOR_NAME))
}

/// Returns whether this process sees all processes of the system, as far as users may. One in a process namespace does not.
pub(crate) fn sees_all_processes() -> bool {
    /// The kernel's number of the first namespace.
    const FIRST: &str = "pid:[4026531836]";
    fs::read_link("/proc/self/ns/pid").is_ok_and(|own| own.as_os_str() == FIRST)
}

/// What is above this process.
pub(crate) struct Ancestry {
    /// Whether a supervisor of any home is among its ancestors.
    pub(crate) any_supervisor: bool,
    /// The CPU on which its parent ran last.
    pub(crate) cpu_of_parent: Option<u32>,
}

pub(crate) fn look_above() -> Ancestry {
    let mut above = Ancestry { any_supervisor: false, cpu_of_parent: None };
    for (number, (_, line)) in ancestors(std::process::id()).enumerate() {
        above.any_supervisor |= ProcStat::name(&line) == Some(SUPERVISOR_NAME);
        if number == 0 {
            above.cpu_of_parent = ProcStat::parse(&line).and_then(|stat| stat.cpu);
        }
    }
    above
}

/// Returns the ancestors of a process, the nearest first, each with its line of the process table.
fn ancestors(pid: u32) -> impl Iterator<Item = (u32, String)> {
    let mut next = if pid == std::process::id() { own_parent() } else { stat(pid).map(|stat| stat.parent) };
    let step = move || {
        let pid = next.filter(|pid| *pid > 0)?;
        let line = stat_line(pid).unwrap_or_default();
        next = ProcStat::parse(&line).map(|stat| stat.parent);
        Some((pid, line))
    };
    // Each ancestor is older than the one before. The limit guards against a process table that changes meanwhile.
    std::iter::from_fn(step).take(1000)
}

fn own_parent() -> Option<u32> {
    rustix::process::getppid().and_then(|parent| u32::try_from(parent.as_raw_nonzero().get()).ok())
}

fn stat(pid: u32) -> Option<ProcStat> {
    ProcStat::parse(&stat_line(pid)?)
}

/// Reads the line in one call: every `mw start` reads one for each of its ancestors.
fn stat_line(pid: u32) -> Option<String> {
    /// More than 52 numbers and a name can have.
    const LONGEST: usize = 2 << 10;
    let mut line = [0; LONGEST];
    let file = open(format!("/proc/{pid}/stat"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let length = rustix::io::read(&file, &mut line).ok()?;
    // A process name need not be valid UTF-8.
    Some(String::from_utf8_lossy(&line[..length]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usage_of_a_live_process_is_known() {
        assert_eq!(use_of(0), None);
        assert!(use_of(std::process::id()).is_some_and(|(_, memory)| memory > 0));
    }
}
