//! Processes, as `/proc` shows them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::wait::{SOON, wait_until};

/// Fields of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The letter of the state.
    pub state: char,
    /// The parent.
    pub parent: u32,
    /// The process group.
    pub group: u32,
    /// The session.
    pub session: u32,
}

/// Returns the fields of a process; nothing if it does not exist.
#[must_use]
pub fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&text)
}

/// Returns whether a process is alive. A zombie is not.
#[must_use]
pub fn alive(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| !matches!(stat.state, 'Z' | 'X' | 'x'))
}

/// Returns the name of a process, of which the kernel keeps 15 bytes.
#[must_use]
pub fn name(pid: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(text.trim_end().to_owned())
}

/// Returns the command line of a process; empty if it is gone.
#[must_use]
pub fn command_line(pid: u32) -> Vec<String> {
    let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&text).split_terminator('\0').map(str::to_owned).collect()
}

/// Returns the working directory of a process.
#[must_use]
pub fn cwd(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// Returns the number of voluntary context switches of all threads of a process.
///
/// # Panics
/// When it does not exist.
#[must_use]
pub fn voluntary_switches(pid: u32) -> u64 {
    switches(pid, "voluntary_ctxt_switches:")
}

/// Waits until all of these processes have been idle for a period.
///
/// # Panics
/// When one of them does not exist or does not become idle in time.
#[track_caller]
pub fn until_asleep(stretch: Duration, pids: &[u32]) {
    let activity = || -> Vec<_> {
        let forced = |pid| switches(pid, "nonvoluntary_ctxt_switches:");
        pids.iter().map(|pid| (voluntary_switches(*pid), forced(*pid), cpu_ticks(*pid))).collect()
    };
    let (mut last, mut since) = (activity(), Instant::now());
    wait_until(SOON, &format!("{pids:?} sleep for {stretch:?}"), || {
        let now = activity();
        if now != last {
            (last, since) = (now, Instant::now());
        }
        (since.elapsed() > stretch).then_some(())
    });
}

/// Adds up a counter over the threads of a process.
fn switches(pid: u32, field: &str) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("the process lives");
    // A thread may end while the others are read.
    let of_thread = |thread: fs::DirEntry| {
        let status = fs::read_to_string(thread.path().join("status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix(field))?.trim().parse::<u64>().ok()
    };
    threads.filter_map(|thread| of_thread(thread.ok()?)).sum()
}

/// The CPU time of a process, in hundredths of a second.
fn cpu_ticks(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process lives");
    stat_fields(&text).skip(11).take(2).map(|field| field.parse::<u64>().expect("ticks")).sum()
}

/// Returns whether a process was started with exactly this entry, `NAME=value`, in its environment.
#[must_use]
pub fn has_variable(pid: u32, entry: &OsStr) -> bool {
    let begun = Instant::now();
    loop {
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        // After this time the environment counts as empty.
        if !environ.is_empty() || !is_between_programs(pid) || begun.elapsed() > Duration::from_secs(2) {
            return environ.split(|byte| *byte == 0).any(|found| found == entry.as_bytes());
        }
        std::thread::yield_now();
    }
}

/// Returns whether a process is executing another program at this moment. It then has neither a command line nor an
/// environment. On a busy machine this may take long.
fn is_between_programs(pid: u32) -> bool {
    /// The flag of kernel threads, which never have any (`PF_KTHREAD`).
    const KERNEL_THREAD: u64 = 0x0020_0000;
    let words = fs::read(format!("/proc/{pid}/cmdline"));
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let flags = stat_fields(&stat).nth(6).and_then(|field| field.parse::<u64>().ok());
    let is_user = flags.is_some_and(|flags| flags & KERNEL_THREAD == 0);
    is_user && words.is_ok_and(|words| words.is_empty()) && alive(pid)
}

/// Returns the ids of all processes.
#[must_use]
pub fn all() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the ids of a process's children.
#[must_use]
pub fn children_of(parent: u32) -> Vec<u32> {
    let is_child = |pid: &u32| stat(*pid).is_some_and(|stat| stat.parent == parent);
    all().into_iter().filter(is_child).collect()
}

/// Sends a signal to a process if `is_it` accepts it; returns whether it was sent.
///
/// A descriptor holds the process during the check, so another process with the same id never gets the signal.
pub fn kill_if(pid: u32, signal: Signal, is_it: impl FnOnce(u32) -> bool) -> bool {
    let Some(held) = hold(pid) else { return false };
    is_it(pid) && pidfd_send_signal(held, signal).is_ok()
}

/// Returns a descriptor of a process.
pub(crate) fn hold(pid: u32) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

fn parse_stat(text: &str) -> Option<Stat> {
    let mut fields = stat_fields(text);
    Some(Stat {
        state: fields.next()?.chars().next()?,
        parent: fields.next()?.parse().ok()?,
        group: fields.next()?.parse().ok()?,
        session: fields.next()?.parse().ok()?,
    })
}

/// Returns the fields of proc(5) from the third on. The name before them is in parentheses and may contain parentheses.
fn stat_fields(text: &str) -> impl Iterator<Item = &str> {
    text.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio, id};

    use super::*;

    #[test]
    fn process_names_with_parentheses_are_parsed() {
        let found = parse_stat("7 (a) R (b) S 1 2 3 4").unwrap();
        assert_eq!(found, Stat { state: 'S', parent: 1, group: 2, session: 3 });
    }

    #[test]
    fn a_zombie_is_not_alive() {
        let mut child = Command::new("true").stdin(Stdio::null()).spawn().unwrap();
        wait_until(SOON, "the child is a zombie", || (!alive(child.id())).then_some(()));
        assert!(stat(child.id()).is_some());
        assert!(alive(id()));
        child.wait().unwrap();
    }

    #[test]
    fn a_process_is_asleep_only_when_it_stops_working() {
        // It works in turns, each far shorter than the required period of sleep.
        let work = "read go; i=0; while [ $i -lt 20 ]; do i=$((i + 1)); sleep 0.02; done; : > done; read go";
        let place = tempfile::tempdir().unwrap();
        let mut worker = Command::new("sh");
        let worker = worker.args(["-c", work]).stdin(Stdio::piped()).current_dir(place.path());
        let mut worker = worker.spawn().unwrap();
        worker.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
        until_asleep(Duration::from_secs(2), &[worker.id()]);
        let is_done = place.path().join("done").exists();
        worker.kill().unwrap();
        worker.wait().unwrap();
        assert!(is_done, "it was taken as asleep while it worked");
    }

    #[test]
    fn processor_time_is_counted() {
        let mut worker = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let before = cpu_ticks(worker.id());
        wait_until(SOON, "the worker uses CPU time", || (cpu_ticks(worker.id()) > before).then_some(()));
        worker.kill().unwrap();
        worker.wait().unwrap();
    }

    #[test]
    fn only_an_accepted_process_is_killed() {
        let mut child = Command::new("sleep").arg("600").env("MW_TEST_TAG", "x").spawn().unwrap();
        let pid = child.id();
        wait_until(SOON, "the environment can be read", || {
            has_variable(pid, OsStr::new("MW_TEST_TAG=x")).then_some(())
        });
        assert!(!has_variable(pid, OsStr::new("MW_TEST_TAG=")));
        assert!(!kill_if(pid, Signal::KILL, |_| false));
        assert!(kill_if(pid, Signal::KILL, |_| true));
        child.wait().unwrap();
    }
}
