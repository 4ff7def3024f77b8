//! Living processes, their parents, and processes of meanwhile itself, from /proc.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io;

use mw_model::wire::SUPERVISOR_NAME;
use mw_model::{ProcStat, Process, is_own_process, shown_command};
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, getpgid, waitid};

use crate::boot::descriptors::{is_file_shortage, with_enough};
use crate::small_file;

/// Processes with their start times.
pub(crate) struct Found {
    pub(crate) processes: BTreeMap<u32, u64>,
    /// Whether every process could be checked.
    pub(crate) is_whole: bool,
}

fn stat(pid: u32) -> Option<ProcStat> {
    ProcStat::parse(&read_stat(pid).ok()?)
}

fn read_stat(pid: u32) -> io::Result<String> {
    with_enough(|| small_file::read(&format!("/proc/{pid}/stat")))
}

/// Returns the start time of a living process, which together with the pid identifies it; nothing if it is dead or
/// cannot be checked.
pub(crate) fn start_ticks(pid: u32) -> Option<u64> {
    find_start_ticks(pid).ok().flatten()
}

/// Returns the start time of a living process; nothing if it is dead, and an error if that cannot be checked now.
pub(crate) fn find_start_ticks(pid: u32) -> io::Result<Option<u64>> {
    match read_stat(pid) {
        Ok(text) => Ok(ProcStat::parse(&text).filter(|stat| !stat.has_ended()).map(|stat| stat.start_ticks)),
        Err(error) if is_file_shortage(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Returns how a process that is not reaped yet has ended, as `waitpid` would; nothing if it is alive, gone, or not
/// visible to this user.
pub(crate) fn status_of_zombie(process: &Process) -> Option<i32> {
    // The kernel shows a zero to users that may not see the exit code. It refuses this link to the same users, and a
    // process that has ended has none. The link is read first: a process that is gone by then is not found by the
    // second read.
    let link = fs::read_link(format!("/proc/{}/exe", process.pid));
    let may_know = link.is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let stat =
        stat(process.pid).filter(|stat| stat.has_ended() && stat.start_ticks == process.start_ticks)?;
    stat.exit_status.filter(|_| may_know)
}

/// Returns the process group of a process.
pub(crate) fn group_of(pid: u32) -> Option<Pid> {
    getpgid(Some(Pid::from_raw(pid as i32)?)).ok()
}

/// Returns whether a process was stopped by a signal and has not been continued.
pub(crate) fn is_stopped(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| stat.is_stopped())
}

/// Returns the living descendants of a process with their start times.
///
/// Other supervisors and their descendants are left out: a task that was started inside a task is separate, although
/// its supervisors become our children when their starter has ended.
pub(crate) fn descendants(root: u32) -> Found {
    let mut found = Found { processes: BTreeMap::new(), is_whole: true };
    // Orphans become children of this process, so without a living child it has no descendant.
    if root == std::process::id() && are_children_dead() {
        return found;
    }
    let mut seen = BTreeSet::from([root]);
    let mut open = vec![(root, false)];
    while let Some((pid, has_one_thread)) = open.pop() {
        let children = if has_one_thread { only_threads_children(pid) } else { None };
        let Some(children) = children.or_else(|| children_of(pid)) else {
            found.is_whole = false;
            continue;
        };
        for child in children {
            if seen.insert(child) && !is_ours(child) {
                let stat = found.add(child);
                open.push((child, stat.is_some_and(|stat| stat.threads == 1)));
            }
        }
    }
    found
}

impl Found {
    /// Adds a process if it lives; returns what was read about it.
    fn add(&mut self, pid: u32) -> Option<ProcStat> {
        match read_stat(pid) {
            Ok(text) => {
                let stat = ProcStat::parse(&text).filter(|stat| !stat.has_ended())?;
                self.processes.insert(pid, stat.start_ticks);
                Some(stat)
            }
            Err(error) => {
                self.is_whole &= !is_file_shortage(&error);
                None
            }
        }
    }
}

/// Returns whether a living process belongs to meanwhile and so to no task: a supervisor of any version, or `mw
/// settle`.
pub(crate) fn is_ours(pid: u32) -> bool {
    let Ok(path) = fs::read_link(format!("/proc/{pid}/exe")) else { return false };
    let executable = path.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
    let text = |what| fs::read(format!("/proc/{pid}/{what}"));
    is_own_process(executable, || text("comm"), || text("cmdline")).unwrap_or(false)
}

/// Returns whether a process has the name of a supervisor, as a command has before it is executed.
pub(crate) fn is_supervisor(pid: u32) -> bool {
    name_of(pid).is_some_and(|name| name == SUPERVISOR_NAME)
}

/// Tells by its name whether a child that has ended belonged to meanwhile.
pub(crate) fn was_ours(pid: u32) -> bool {
    name_of(pid)
        .is_some_and(|name| matches!(name.as_str(), SUPERVISOR_NAME | "mw" | "mw-engine" | "mw-surfaces"))
}

fn name_of(pid: u32) -> Option<String> {
    small_file::read(&format!("/proc/{pid}/comm")).ok().map(|name| name.trim_end().to_owned())
}

/// Returns whether all children of this thread are dead; false if that is not known.
///
/// A query for stopped children does not see dead ones and fails if there are no others. That is much faster than
/// reading /proc.
fn are_children_dead() -> bool {
    /// Includes children with another exit signal.
    const ALL: u32 = 0x4000_0000;
    /// Without those of other threads.
    const OWN: u32 = 0x2000_0000;
    let stopped = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let stopped = stopped | WaitIdOptions::from_bits_retain(ALL | OWN);
    matches!(waitid(WaitId::All, stopped), Err(Errno::CHILD))
}

/// This program has one thread, so one file has all its children.
fn own_children() -> Option<Vec<u32>> {
    fs::read_to_string("/proc/thread-self/children").ok().map(|text| pids_in(&text))
}

/// Returns the children of a process with one thread, which takes one file instead of a directory of threads.
fn only_threads_children(pid: u32) -> Option<Vec<u32>> {
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok().map(|text| pids_in(&text))
}

fn pids_in(text: &str) -> Vec<u32> {
    text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Returns the children of a process; none if it is gone, and nothing if that cannot be checked now.
pub(crate) fn children_of(pid: u32) -> Option<Vec<u32>> {
    if pid == std::process::id()
        && let Some(own) = own_children()
    {
        return Some(own);
    }
    let threads = match with_enough(|| fs::read_dir(format!("/proc/{pid}/task"))) {
        Ok(threads) => threads,
        Err(error) => return (!is_file_shortage(&error)).then(Vec::new),
    };
    let mut found = Vec::new();
    for thread in threads.flatten() {
        match with_enough(|| fs::read_to_string(thread.path().join("children"))) {
            Ok(text) => found.extend(pids_in(&text)),
            Err(error) if is_file_shortage(&error) => return None,
            // On a kernel without this file every process's parent is checked.
            Err(error) if error.kind() == io::ErrorKind::NotFound && thread.path().exists() => {
                let is_child = |other: &u32| stat(*other).is_some_and(|stat| stat.parent == pid);
                return Some(all_pids()?.into_iter().filter(is_child).collect());
            }
            Err(_) => {}
        }
    }
    Some(found)
}

fn all_pids() -> Option<Vec<u32>> {
    let entries = with_enough(|| fs::read_dir("/proc")).ok()?;
    Some(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// Returns the living processes with this entry in their environment, with their start times. None is older than the
/// first of them.
pub(crate) fn tagged_processes(entry: &str, first: u64) -> Found {
    let mut found = Found { processes: BTreeMap::new(), is_whole: true };
    let Some(all) = all_pids() else { return Found { is_whole: false, ..found } };
    for pid in all.into_iter().filter(|pid| !is_ours(*pid)) {
        match with_enough(|| fs::read(format!("/proc/{pid}/environ"))) {
            Ok(environ) if environ.split(|byte| *byte == 0).any(|found| found == entry.as_bytes()) => {
                found.add(pid);
            }
            Ok(_) => {}
            Err(error) => found.is_whole &= !is_file_shortage(&error),
        }
    }
    found.processes.retain(|_, ticks| *ticks >= first);
    found
}

/// Returns the entry of a variable in the environment with which a process was executed.
pub(crate) fn entry_of(pid: u32, name: &str) -> Option<String> {
    let environ = with_enough(|| fs::read(format!("/proc/{pid}/environ"))).ok()?;
    let is_wanted =
        |entry: &&[u8]| entry.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.starts_with(b"="));
    String::from_utf8(environ.split(|byte| *byte == 0).find(is_wanted)?.to_vec()).ok()
}

/// Returns a shortened command line of a process for people.
pub(crate) fn process_command(pid: u32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    shown_command(&words, || fs::read_to_string(format!("/proc/{pid}/comm")).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Signal, kill_process};

    #[test]
    fn the_start_time_of_this_process_and_the_boot_id_are_known() {
        let me = std::process::id();
        let ticks = start_ticks(me);
        assert!(ticks.is_some());
        assert_eq!(start_ticks(me), ticks);
        assert!(!super::super::boot_id().unwrap().is_empty());
    }

    #[test]
    fn dead_children_are_distinguished_from_live_ones() {
        assert!(are_children_dead());
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(!are_children_dead());
        child.kill().unwrap();
        let begun = std::time::Instant::now();
        while !are_children_dead() {
            assert!(begun.elapsed().as_secs() < 60, "a killed child counts as alive");
        }
        assert!(child.try_wait().unwrap().is_some(), "the child was reaped elsewhere");
        assert!(are_children_dead());
    }

    #[test]
    fn descendants_in_another_session_are_found() {
        let mut child =
            std::process::Command::new("setsid").args(["sh", "-c", "sleep 60; :"]).spawn().unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        let names = loop {
            let found = descendants(std::process::id());
            let names: Vec<_> = found.processes.keys().map(|pid| (*pid, process_command(*pid))).collect();
            if names.iter().any(|(_, name)| name == "sleep 60") || std::time::Instant::now() > deadline {
                break names;
            }
        };
        for (pid, name) in &names {
            if name.contains("sleep 60") {
                kill_process(Pid::from_raw(*pid as i32).unwrap(), Signal::KILL).unwrap();
            }
        }
        child.wait().unwrap();
        assert!(names.iter().any(|(_, name)| name == "sleep 60"), "{names:?}");
    }

    #[test]
    fn tagged_processes_that_are_older_than_the_first_are_left_out() {
        let entry = format!("MW_UNIT_TAG={}", std::process::id());
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .env("MW_UNIT_TAG", std::process::id().to_string())
            .spawn()
            .unwrap();
        let ticks = start_ticks(child.id()).unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        let finds = |first| tagged_processes(&entry, first).processes.contains_key(&child.id());
        while !finds(ticks) && std::time::Instant::now() < deadline {}
        let found = (finds(0), finds(ticks), finds(ticks + 1));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, (true, true, false));
    }
}
