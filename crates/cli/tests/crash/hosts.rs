//! Several hosts on one home.

use std::fs;
use std::thread;

use mw_testkit::{Home, SOON, children};

use crate::home;
use crate::truth::assert_true;

/// A script that records how many of its kind run at once, including itself.
const COUNTED: &str = "mkdir run.$$; ls -d run.* | wc -l >> counts; sleep 0.05; rmdir run.$$; exit 0";

fn counts(home: &Home) -> Vec<u32> {
    let text = fs::read_to_string(home.work().join("counts")).unwrap_or_default();
    text.lines().filter_map(|line| line.trim().parse().ok()).collect()
}

#[test]
fn starts_from_many_hosts_never_exceed_the_limit() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "3");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..8 {
                    let _ = home.start(COUNTED);
                }
            });
        }
    });
    let _ = home.lines_in("counts", 32);
    let most = counts(&home).into_iter().max();
    assert!(most <= Some(3), "{most:?} at once");
    assert_true(&home, &["completed"]);
    assert_eq!(home.list().len(), 32);
}

#[test]
fn concurrent_starts_get_distinct_ids_and_numbers() {
    let home = home();
    let mut ids = thread::scope(|scope| {
        let hosts: Vec<_> =
            (0..4).map(|_| scope.spawn(|| (0..6).map(|_| home.start("true")).collect::<Vec<_>>())).collect();
        hosts.into_iter().flat_map(|host| host.join().unwrap()).collect::<Vec<_>>()
    });
    let mut numbered: Vec<_> = (1..=24)
        .map(|number| home.status(&format!("bash_{number}"))["id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    numbered.sort_unstable();
    assert_eq!(ids.len(), 24);
    assert_eq!(numbered, ids);
}

#[test]
fn concurrent_commands_of_all_kinds_succeed() {
    let home = home();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..6 {
                    let id = home.start(children::SLEEPER);
                    let _ = home.mw(["list", "--json"]).ok();
                    let _ = home.mw(["kill", &id]).ok();
                    let _ = home.mw(["output", &id]).ok();
                    let _ = home.mw(["clear", &id, "--kill"]).ok();
                }
            });
        }
    });
    assert_eq!(home.list().len(), 0);
    home.wait_until_empty(SOON);
    let left = fs::read_dir(home.state().join("tasks")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn a_host_sees_the_end_of_another_hosts_task() {
    let home = home();
    let id = home.start(&children::gated("go", 3));
    let waiting: Vec<_> = (0..4).map(|_| home.command(["wait", &id]).spawn()).collect();
    home.open("go");
    for one in waiting {
        let _ = one.wait().exits(3);
    }
}

#[test]
fn concurrent_first_starts_create_one_home() {
    let home = home();
    let many: Vec<_> = (0..8).map(|_| home.command(["start", "--json", "exit 3"]).spawn()).collect();
    for one in many {
        let _ = one.wait().ok();
    }
    assert_true(&home, &["failed"]);
    assert_eq!(home.list().len(), 8);
}
