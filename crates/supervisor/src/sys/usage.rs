//! What processes use, from /proc.

use std::collections::BTreeSet;

use mw_model::ProcStat;

use super::processes::{children_of, is_ours};
use crate::small_file;

/// What one process uses.
pub(crate) struct Use {
    pub(crate) pid: u32,
    /// Resident bytes, shared ones included.
    pub(crate) memory: u64,
    /// CPU time, including that of children it has waited for.
    pub(crate) cpu_us: u64,
    pub(crate) threads: u64,
}

/// Returns what all descendants of a process use, and those of the processes in `apart`; each process once.
///
/// Zombies count, too. The CPU time of a child that was waited for is added to its parent's; parents are read before
/// their children, so that no time counts twice. Other supervisors and their descendants are left out, and so is
/// `without`.
///
/// Stops after more than `most` processes and threads, because a tree that grows fast would keep growing meanwhile.
pub(crate) fn usage(root: u32, apart: &[u32], without: &[u32], most: u64) -> Vec<Use> {
    let mut seen: BTreeSet<u32> = without.iter().copied().chain([root]).collect();
    let mut found = Vec::new();
    let mut threads = 0_u64;
    for start in [root].iter().chain(apart) {
        let mut open = vec![*start];
        let mut is_root = *start == root;
        while let Some(pid) = open.pop() {
            if !std::mem::take(&mut is_root) {
                if !seen.insert(pid) || is_ours(pid) {
                    continue;
                }
                match use_of(pid) {
                    Some(process) => {
                        threads = threads.saturating_add(process.threads);
                        found.push(process);
                    }
                    None => continue,
                }
            }
            if threads > most {
                return found;
            }
            open.extend(children_of(pid).into_iter().flatten());
        }
    }
    found
}

fn use_of(pid: u32) -> Option<Use> {
    let stat = ProcStat::parse(&small_file::read(&format!("/proc/{pid}/stat")).ok()?)?;
    Some(Use {
        pid,
        memory: stat.resident_pages.saturating_mul(system_value(libc::_SC_PAGESIZE)),
        cpu_us: stat.cpu_ticks.saturating_mul(1_000_000 / system_value(libc::_SC_CLK_TCK).max(1)),
        threads: stat.threads,
    })
}

fn system_value(name: libc::c_int) -> u64 {
    // SAFETY: sysconf has no preconditions.
    u64::try_from(unsafe { libc::sysconf(name) }).unwrap_or(0)
}

/// Returns the memory of a process, with shared memory divided among its users; nothing if the process is gone or not
/// visible to this user.
pub(crate) fn proportional_memory(pid: u32) -> Option<u64> {
    let text = small_file::read(&format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_descendant_is_counted_once_and_excluded_processes_are_not() {
        let mut child = std::process::Command::new("setsid").args(["sleep", "60"]).spawn().unwrap();
        let me = std::process::id();
        let count = |excluded: &[u32]| {
            let found = usage(me, &[child.id(), child.id()], excluded, u64::MAX);
            found.iter().filter(|process| process.pid == child.id()).count()
        };
        // Until it calls exec, the child still runs this program.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while count(&[]) == 0 && std::time::Instant::now() < deadline {}
        let counted = (count(&[]), count(&[child.id()]));
        let memory = proportional_memory(child.id());
        let limited = usage(me, &[child.id()], &[], 0).len();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((counted, limited), ((1, 0), 1));
        assert!(memory.is_some_and(|bytes| bytes > 0));
    }
}
