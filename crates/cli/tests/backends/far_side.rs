//! What only the ssh back-end can be asked: connections that are cut, and the lease of a run.

use std::fs;
use std::time::Duration;

use mw_testkit::{SOON, wait_until};

use crate::engines::Sshd;
use crate::world::{Kind, World, unique};

const COUNT: &str = "i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo line $i; sleep 0.03; done; exit 5";

fn counted() -> String {
    (1..=60).map(|line| format!("line {line}\n")).collect()
}

fn world(sshd: &Sshd) -> World {
    World::new("far", Kind::Remote, &sshd.backend("far"))
}

/// Kills the server's process of each connection.
fn cut(sshd: &Sshd) {
    sshd.server.children().into_iter().for_each(kill);
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

#[test]
fn a_cut_connection_loses_nothing() {
    let sshd = Sshd::start();
    let world = world(&sshd);
    let id = world.start(COUNT, &[]);
    for line in ["line 5\n", "line 20\n", "line 40\n"] {
        world.home.until_logged(&id, line);
        cut(&sshd);
    }
    assert_eq!(world.ended(&id)["exit_code"], 5);
    assert_eq!(String::from_utf8(world.home.log(&id)).unwrap(), counted());
}

#[test]
fn an_end_while_the_server_is_away_is_learned_later() {
    let sshd = Sshd::start();
    let world = world(&sshd);
    let id = world.start(COUNT, &[]);
    world.home.until_logged(&id, "line 5\n");
    sshd.server.restart();
    cut(&sshd);
    let task = world.ended(&id);
    assert_eq!(task["exit_code"], 5, "{task}");
    assert_eq!(String::from_utf8(world.home.log(&id)).unwrap(), counted());
}

/// Nothing could be recorded any more, so nothing of meanwhile must stay.
#[test]
fn nothing_stays_here_when_the_home_is_removed_under_a_task() {
    let sshd = Sshd::start();
    let world = world(&sshd);
    let word = unique();
    let id = world.start(&format!("echo up; sleep {word}"), &[]);
    world.home.until_logged(&id, "up");
    let pair = world.home.pair(&id);
    let drivers = world.drivers_of(&id);
    assert_eq!(drivers.len(), 1);
    fs::remove_dir_all(world.home.state()).unwrap();
    for driver in drivers {
        world.home.kill_process(driver);
    }
    for pid in [pair.supervisor, pair.guardian] {
        world.home.until_dead(pid);
    }
    // Elsewhere, the command goes on.
    for pid in world.processes_with(&word) {
        kill(pid);
    }
    world.until_running(&word, false);
}

#[test]
fn a_kill_during_a_cut_connection_is_delivered_after_it() {
    let sshd = Sshd::start();
    let world = world(&sshd);
    let word = unique();
    let id = world.start(&format!("echo up; sleep {word}"), &[]);
    world.home.until_logged(&id, "up");
    cut(&sshd);
    world.home.command(["kill", &id]).run().ok();
    assert_eq!(world.ended(&id)["status"], "cancelled");
    world.until_running(&word, false);
}

#[test]
fn an_older_run_ends_itself_when_a_later_one_has_the_lease() {
    let sshd = Sshd::start();
    let world = world(&sshd);
    let word = unique();
    let id = world.start(&format!("echo up; sleep {word}"), &[]);
    world.home.until_logged(&id, "up");
    // As if another machine had started run 2 of the task.
    let lease = sshd.directory.path().join("state").join(&id).join("lease");
    assert_eq!(fs::read_to_string(&lease).unwrap(), "1\n");
    fs::write(&lease, "2\n").unwrap();
    let task = world.home.ended_within(&id, Duration::from_secs(60));
    assert_eq!(task["status"], "lost", "{task}");
    assert!(task["cause"].as_str().unwrap().contains("a later run"), "{task}");
    world.until_running(&word, false);
}

#[test]
fn a_task_whose_keeper_was_killed_is_lost_and_not_called_ended() {
    let sshd = Sshd::start();
    let world = world(&sshd);
    let word = unique();
    let id = world.start(&format!("echo up; sleep {word}"), &[]);
    world.home.until_logged(&id, "up");
    let keeper = sshd.directory.path().join("state").join(&id).join("run-1/keeper");
    let pid: i32 = fs::read_to_string(keeper).unwrap().split(' ').next().unwrap().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let task = world.ended(&id);
    assert_eq!(task["status"], "lost", "{task}");
    for pid in world.processes_with(&word) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

#[test]
fn an_unreachable_machine_is_a_failed_start_with_the_reason() {
    let home = "[backends.gone]\nkind = \"ssh\"\nhost = \"127.0.0.1\"\noptions = [\"-p\", \"1\"]\n";
    mw_testkit::need_program("ssh");
    let world = World::new("gone", Kind::Remote, home);
    let id = world.start("true", &[]);
    let task = world.ended(&id);
    assert_eq!(task["status"], "failed", "{task}");
    let cause = task["cause"].as_str().unwrap();
    assert!(cause.starts_with("could not start") && cause.contains("Connection refused"), "{cause}");
    let listed = world.home.mw(["backends", "--json", "gone"]);
    assert_eq!(listed.code, Some(1), "{listed}");
    assert_eq!(listed.json()["backends"][0]["available"], false);
}

#[test]
fn files_of_a_run_are_removed_after_its_end() {
    let sshd = Sshd::start();
    let world = world(&sshd);
    let id = world.start("true", &[]);
    world.ended(&id);
    let run = sshd.directory.path().join("state").join(&id).join("run-1");
    wait_until(SOON, "the files of the run are removed", || (!run.exists()).then_some(()));
}
