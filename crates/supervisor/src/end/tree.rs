//! The processes that belong to a task.

use std::collections::BTreeMap;
use std::path::Path;

use mw_model::wire::Survivor;
use mw_model::{Process, TASK_VARIABLE, TaskId};

use crate::sys;
use crate::sys::{Found, ProcessHandle, Use};

/// How to find a task's processes.
pub(crate) struct Tree {
    /// The mark of the task's processes.
    entry: String,
    /// The first process, which belongs to the task whatever its environment says.
    leader: u32,
    /// Set if the command is not our child, so that its processes may not be our descendants.
    tag: Option<Tag>,
}

/// What the processes of a task have in common, besides its mark.
struct Tag {
    /// When the first process began; none is older.
    first: u64,
}

impl Tree {
    /// The tree of our child: as a subreaper this process is the ancestor of all processes that it starts.
    pub(crate) fn of_child(task: &str, leader: &Process) -> Self {
        Self { entry: format!("{TASK_VARIABLE}={task}"), leader: leader.pid, tag: None }
    }

    /// The tree of a command whose supervisors were killed, found by the mark in its environment.
    pub(crate) fn of_orphan(task: &str, leader: &Process) -> Self {
        Self { tag: Some(Tag { first: leader.start_ticks }), ..Self::of_child(task, leader) }
    }

    /// Returns whether the processes are not our descendants, so that the kernel does not report their end.
    pub(crate) const fn is_foreign(&self) -> bool {
        self.tag.is_some()
    }

    /// Returns the living processes, without `ours` and their descendants.
    pub(crate) fn living(&self, ours: impl IntoIterator<Item = u32>) -> Found {
        let me = std::process::id();
        let mut found = sys::descendants(me);
        if let Some(tag) = &self.tag {
            let marked = sys::tagged_processes(&self.entry, tag.first);
            let below = marked.processes.keys().map(|pid| sys::descendants(*pid)).collect::<Vec<_>>();
            for more in below.into_iter().chain([marked]) {
                found.processes.extend(more.processes);
                found.is_whole &= more.is_whole;
            }
            found.processes.remove(&me);
        }
        for ours in ours.into_iter().chain(self.strangers(&found)) {
            found.processes.remove(&ours);
            for pid in sys::descendants(ours).processes.keys() {
                found.processes.remove(pid);
            }
        }
        found
    }

    /// Returns our children that belong to other tasks. They have come to us when both of their supervisors were killed, which were
    /// started by a process below this one.
    fn strangers(&self, found: &Found) -> Vec<u32> {
        if found.processes.is_empty() {
            return Vec::new();
        }
        let is_other = |pid: &u32| {
            *pid != self.leader
                && sys::entry_of(*pid, TASK_VARIABLE)
                    .filter(|entry| *entry != self.entry)
                    // A value that is no id, such as an empty one, is not the mark of a task.
                    .and_then(|entry| entry.split_once('=')?.1.parse::<TaskId>().ok())
                    .is_some_and(|task| Path::new("..").join(task.as_str()).is_dir())
        };
        sys::children_of(std::process::id()).unwrap_or_default().into_iter().filter(is_other).collect()
    }

    /// Returns what each process uses, without `ours`, until there are more than `most`. `known` are processes that
    /// may not be descendants.
    pub(crate) fn usage(&self, ours: &[u32], mut known: Vec<u32>, most: u64) -> Vec<Use> {
        if let Some(tag) = &self.tag {
            // Parents first, because they are older.
            let marked = sys::tagged_processes(&self.entry, tag.first).processes;
            let mut marked: Vec<_> = marked.into_iter().collect();
            marked.sort_by_key(|(pid, ticks)| (*ticks, *pid));
            known.extend(marked.into_iter().map(|(pid, _)| pid));
        }
        sys::usage(std::process::id(), &known, ours, most)
    }

    /// Sends signals to each process that is still the same; returns those that got them.
    pub(crate) fn signal(processes: &BTreeMap<u32, u64>, numbers: &[i32]) -> Vec<u32> {
        processes.iter().filter(|(pid, ticks)| send(**pid, **ticks, numbers)).map(|(pid, _)| *pid).collect()
    }
}

/// A pid may be reused between the search and the signal, so the process is opened first and its start time checked
/// again.
fn send(pid: u32, start_ticks: u64, numbers: &[i32]) -> bool {
    let handle = ProcessHandle::open(pid).filter(|_| sys::start_ticks(pid) == Some(start_ticks));
    handle.is_some_and(|handle| numbers.iter().all(|number| handle.signal(*number)))
}

/// Names processes for a receipt or a record.
pub(crate) fn named(processes: &BTreeMap<u32, u64>) -> Vec<Survivor> {
    const MAX: usize = 32;
    processes
        .keys()
        .take(MAX)
        .map(|pid| Survivor { pid: *pid, command: sys::process_command(*pid) })
        .collect()
}
