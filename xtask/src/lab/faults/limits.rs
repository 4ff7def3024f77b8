//! Descriptors and pids that run out.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::lab::actions::Book;
use crate::lab::processes::{self, Process, Role};
use crate::lab::random::Random;
use crate::lab::world::World;

/// The control groups that limit the number of processes.
const GROUPS: &str = "/sys/fs/cgroup/pids";

/// The parts whose descriptors run out while they work.
const SHORT: [Role; 6] =
    [Role::Mcp, Role::Web, Role::Supervisor, Role::Guardian, Role::Settle, Role::ForkServer];

/// Takes the free descriptors of a process for a while.
pub(super) fn descriptors(world: &World, book: &Book, random: &mut Random) {
    let found = processes::all(world);
    let candidates: Vec<&Process> = found.iter().filter(|process| SHORT.contains(&process.role)).collect();
    let Some(process) = random.pick(&candidates) else { return };
    let open = fs::read_dir(format!("/proc/{}/fd", process.pid)).map_or(0, Iterator::count) as u64;
    let soft = open + random.below(4);
    let is_set = prlimit(process.pid, &format!("{soft}:"));
    book.log(&format!(
        "descriptors of {:?} {} {:?}: {soft} {is_set}",
        process.role, process.pid, process.task
    ));
    book.count("descriptors taken from a running process", u64::from(is_set));
    thread::sleep(Duration::from_millis(random.between(20, 500)));
    prlimit(process.pid, "1024:");
}

fn prlimit(pid: u32, limit: &str) -> bool {
    let mut command = Command::new("prlimit");
    command.arg(format!("--pid={pid}")).arg(format!("--nofile={limit}"));
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Lets no process of the round fork for a while.
pub(super) fn pids(world: &World, book: &Book, random: &mut Random) {
    let Some(group) = Group::new(world) else { return };
    let found = processes::all(world);
    let inside = found
        .iter()
        .filter(|process| process.role != Role::Task)
        .filter(|process| group.take(process.pid))
        .count();
    let is_set = group.limit(&(inside as u64 + random.below(3)).to_string());
    book.log(&format!("pids: {inside} processes may not fork: {is_set}"));
    book.count("pids taken from all running processes", u64::from(is_set && inside > 0));
    thread::sleep(Duration::from_millis(random.between(20, 600)));
}

/// A control group of a round. Dropping it moves its processes back.
struct Group(PathBuf);

impl Group {
    fn new(world: &World) -> Option<Self> {
        let name = world.root().to_string_lossy().replace('/', "-");
        let path = PathBuf::from(GROUPS).join(format!("mw-lab{name}"));
        let _ = fs::remove_dir(&path);
        fs::create_dir(&path).ok()?;
        Some(Self(path))
    }

    fn take(&self, pid: u32) -> bool {
        fs::write(self.0.join("cgroup.procs"), pid.to_string()).is_ok()
    }

    fn limit(&self, number: &str) -> bool {
        fs::write(self.0.join("pids.max"), number).is_ok()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.limit("max");
        // A process that is just forked is listed after its parent has moved.
        for _ in 0..50 {
            let text = fs::read_to_string(self.0.join("cgroup.procs")).unwrap_or_default();
            for pid in text.lines() {
                let _ = fs::write(PathBuf::from(GROUPS).join("cgroup.procs"), pid);
            }
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

pub(super) fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.starts_with("Uid:\t0\t"))
}

pub(super) fn reason() -> Option<(&'static str, &'static str)> {
    let can = is_root() && PathBuf::from(GROUPS).join("cgroup.procs").exists();
    (!can).then_some(("pids", "there is no writable control group for pids"))
}
