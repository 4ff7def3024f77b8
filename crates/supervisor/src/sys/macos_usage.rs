//! macOS: what processes use, as `ps` prints it.

use std::collections::BTreeMap;

use super::Use;
use super::platform::{descendants, ps};

/// What all descendants of a process use, and those that stand apart with theirs; each process once. Time of
/// children that have ended, and threads, cannot be seen here.
pub(crate) fn usage(root: u32, apart: &[u32], without: &[u32], _most: u64) -> Vec<Use> {
    let mut wanted = descendants(root).processes;
    for pid in apart {
        wanted.extend(descendants(*pid).processes);
        wanted.insert(*pid, 0);
    }
    for pid in without {
        for below in descendants(*pid).processes.into_keys().chain([*pid]) {
            wanted.remove(&below);
        }
    }
    let table = ps(None, "pid=,rss=,time=");
    let all: BTreeMap<u32, Use> = table.lines().filter_map(parse).map(|found| (found.pid, found)).collect();
    all.into_values().filter(|found| wanted.contains_key(&found.pid)).collect()
}

fn parse(line: &str) -> Option<Use> {
    let mut words = line.split_whitespace();
    let pid = words.next()?.parse().ok()?;
    let memory = words.next()?.parse::<u64>().ok()?.saturating_mul(1024);
    // Hours, minutes and seconds with their hundredths.
    let seconds =
        words.next()?.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + part.parse::<f64>().ok()?))?;
    Some(Use { pid, memory, cpu_us: (seconds * 1e6) as u64, threads: 1 })
}

/// Not known here.
pub(crate) const fn proportional_memory(_pid: u32) -> Option<u64> {
    None
}
