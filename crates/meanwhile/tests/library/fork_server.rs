//! A process that starts many tasks executes `mw-supervisor` twice; further supervisors are forked.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use mw_testkit::{SOON, wait_until};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::killed_host::built;
use crate::world::{Limits, TaskPlan, World};

/// A process as /proc shows it.
struct Process {
    parent: u32,
    words: String,
}

fn process(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let is_alive = fields.next() != Some("Z");
    let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = String::from_utf8_lossy(&words).replace('\0', " ");
    Some(Process { parent: fields.next()?.parse().ok()?, words }).filter(|_| is_alive)
}

/// Returns the processes whose working directory is the task's directory: its guardian and its supervisor.
fn watchers(directory: &Path) -> Vec<u32> {
    let pids =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|it| it.file_name().to_str()?.parse().ok());
    pids.filter(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == directory)).collect()
}

/// Finds the fork server that is the parent of a task's guardian, if it is still running.
fn fork_server_of(directory: &Path) -> Option<u32> {
    // The guardian opens the directory some milliseconds after the supervisor. Until then it looks like the fork server.
    let watchers = wait_until(SOON, "the guardian has the directory", || {
        Some(watchers(directory)).filter(|watchers| watchers.len() == 2)
    });
    let parents = watchers.iter().filter_map(|pid| Some(process(*pid)?.parent));
    parents.filter(|parent| !watchers.contains(parent)).find(|parent| is_fork_server(*parent))
}

fn is_fork_server(pid: u32) -> bool {
    process(pid).is_some_and(|process| process.words.trim_end().ends_with("fork-server"))
}

fn await_end(pid: u32) {
    let deadline = Timespec { tv_sec: 90, tv_nsec: 0 };
    if let Ok(process) = pidfd_open(Pid::from_raw(pid as i32).unwrap(), PidfdFlags::empty()) {
        let ended = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&deadline)).unwrap();
        assert_eq!(ended, 1, "the fork server is still running");
    }
}

#[test]
fn a_killed_fork_server_leaves_tasks_alone_and_is_replaced() {
    let mut world = World::new(Limits { per_session: 8, total: 0 });
    let mut start = || {
        world.start(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 0 });
        let id = world.id(world.len() - 1);
        world.runtime().home().task(id).to_path_buf()
    };
    // Another test in this process may have started a task already.
    start();
    let servers = [start(), start()].map(|directory| fork_server_of(&directory).unwrap());
    assert_eq!(servers[0], servers[1], "one process forks both guardians");
    assert_ne!(
        process(servers[0]).unwrap().parent,
        std::process::id(),
        "the fork server is not a child of this process"
    );
    kill_process(Pid::from_raw(servers[0] as i32).unwrap(), Signal::KILL).unwrap();
    await_end(servers[0]);
    let other = fork_server_of(&start()).unwrap();
    assert_ne!(other, servers[0]);
    world.finish_all();
    world.check_endings();
}

#[test]
fn a_fork_server_ends_with_its_host_and_leaves_the_tasks_alone() {
    let dir = tempfile::Builder::new().prefix("mw-fork-server-").tempdir().unwrap();
    let home = dir.path().join("state");
    let mut host = Command::new(built("examples/host"))
        .arg(&home)
        .args(["demo", "sleep 60", "sleep 60"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(host.stdout.take().unwrap()).lines().take(2);
    let ids: Vec<_> = lines.map(|line| line.unwrap().replace("started ", "")).collect();
    let directory = home.join("tasks").join(&ids[1]);
    let server = fork_server_of(&directory).unwrap();
    host.kill().unwrap();
    host.wait().unwrap();
    await_end(server);
    assert_eq!(watchers(&directory).len(), 2, "guardian and supervisor are still alive");
    let killed = Command::new(built("mw")).env("MEANWHILE_HOME", &home).args(["kill"]).args(&ids).output();
    assert!(killed.unwrap().status.success());
}
