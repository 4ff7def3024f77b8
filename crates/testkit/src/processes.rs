//! Looks at processes through `/proc`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::wait::pass;

/// What `/proc/PID/stat` says about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// The state's letter.
    pub state: char,
    /// The parent.
    pub parent: u32,
    /// The process group.
    pub group: u32,
    /// The session.
    pub session: u32,
}

/// Returns what is known about a process, nothing when it does not exist.
#[must_use]
pub fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&text)
}

/// Tells whether a process lives. One that only waits to be reaped does not.
#[must_use]
pub fn alive(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| !matches!(stat.state, 'Z' | 'X' | 'x'))
}

/// Returns the name of the program a process runs, cut to 15 bytes by the kernel.
#[must_use]
pub fn name(pid: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(text.trim_end().to_owned())
}

/// Returns the words a process was called with; none of one that is gone.
#[must_use]
pub fn words(pid: u32) -> Vec<String> {
    let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&text).split_terminator('\0').map(str::to_owned).collect()
}

/// Returns the working directory of a process.
#[must_use]
pub fn cwd(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// Measures the processor time that each of these living processes uses during a stretch of time.
///
/// # Panics
/// When one of them is gone.
#[must_use]
pub fn used_during(stretch: Duration, pids: &[u32]) -> Vec<Duration> {
    let before: Vec<_> = pids.iter().map(|pid| cpu_time(*pid)).collect();
    pass(stretch);
    pids.iter().zip(before).map(|(pid, before)| cpu_time(*pid) - before).collect()
}

/// The kernel counts in hundredths of a second.
fn cpu_time(pid: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process lives");
    let fields = text.rsplit_once(')').expect("its name stands in parentheses").1.split_whitespace();
    let ticks: u32 = fields.skip(11).take(2).map(|field| field.parse::<u32>().expect("ticks")).sum();
    ticks * Duration::from_millis(10)
}

/// Tells whether a process was started with exactly this entry, `NAME=value`, in its environment.
#[must_use]
pub fn has_variable(pid: u32, entry: &OsStr) -> bool {
    let begun = Instant::now();
    loop {
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        // Whoever has neither for longer has none.
        if !environ.is_empty() || !is_between_programs(pid) || begun.elapsed() > Duration::from_secs(2) {
            return environ.split(|byte| *byte == 0).any(|found| found == entry.as_bytes());
        }
        std::thread::yield_now();
    }
}

/// Tells whether a process is in the midst of executing another program: it has neither words nor environment for a
/// moment, which on a busy machine may be long.
fn is_between_programs(pid: u32) -> bool {
    /// Of the kernel's own threads, which never have any (`PF_KTHREAD`).
    const KERNEL_THREAD: u64 = 0x0020_0000;
    let words = fs::read(format!("/proc/{pid}/cmdline"));
    let flags = |text: &str| text.rsplit_once(')')?.1.split_whitespace().nth(6)?.parse::<u64>().ok();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok();
    let is_user = stat.as_deref().and_then(flags).is_some_and(|flags| flags & KERNEL_THREAD == 0);
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

/// Kills a process if it is the one `is_it` recognises.
///
/// The process is held by a descriptor while it is looked at, so that another one that got its number
/// meanwhile is never hit. Tells whether a signal was sent.
pub fn kill_if(pid: u32, signal: Signal, is_it: impl FnOnce(u32) -> bool) -> bool {
    let Some(held) = hold(pid) else { return false };
    is_it(pid) && pidfd_send_signal(held, signal).is_ok()
}

/// Returns a descriptor that stands for a process.
pub(crate) fn hold(pid: u32) -> Option<OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// The name stands in parentheses and may itself hold some, so fields are counted from the last one.
fn parse_stat(text: &str) -> Option<Stat> {
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    Some(Stat {
        state: fields.next()?.chars().next()?,
        parent: fields.next()?.parse().ok()?,
        group: fields.next()?.parse().ok()?,
        session: fields.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio, id};

    use super::*;
    use crate::wait::{SOON, wait_until};

    #[test]
    fn names_with_parentheses_are_read() {
        let found = parse_stat("7 (a) R (b) S 1 2 3 4").unwrap();
        assert_eq!(found, Stat { state: 'S', parent: 1, group: 2, session: 3 });
    }

    #[test]
    fn a_process_that_waits_to_be_reaped_is_dead() {
        let mut child = Command::new("true").stdin(Stdio::null()).spawn().unwrap();
        wait_until(SOON, "the child is a zombie", || (!alive(child.id())).then_some(()));
        assert!(stat(child.id()).is_some());
        assert!(alive(id()));
        child.wait().unwrap();
    }

    #[test]
    fn only_the_recognised_process_is_killed() {
        let mut child = Command::new("sleep").arg("600").env("MW_TEST_TAG", "x").spawn().unwrap();
        let pid = child.id();
        wait_until(SOON, "the environment is there", || {
            has_variable(pid, OsStr::new("MW_TEST_TAG=x")).then_some(())
        });
        assert!(!has_variable(pid, OsStr::new("MW_TEST_TAG=")));
        assert!(!kill_if(pid, Signal::KILL, |_| false));
        assert!(kill_if(pid, Signal::KILL, |_| true));
        child.wait().unwrap();
    }
}
