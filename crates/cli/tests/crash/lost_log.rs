//! The database's write-ahead log: it may be lost, and what was in it comes back from the task directories.

use std::fs;

use mw_testkit::{Home, SOON, alive, children, need_program};

use crate::home;

/// Has everything so far copied from the log into the database itself.
fn checkpoint(home: &Home) {
    let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); \
                  assert c.execute('pragma wal_checkpoint(TRUNCATE)').fetchone()[0] == 0";
    home.wait_until_empty_of_settlers();
    let _ = home.program("python3").arg("-c").arg(script).arg(home.state().join("meanwhile.db")).run().ok();
}

fn lose_log(home: &Home) {
    fs::remove_file(home.state().join("meanwhile.db-wal")).unwrap();
}

fn told(home: &Home, session: &str) -> String {
    home.command(["notices"]).session(session).run().ok()
}

trait Settled {
    fn wait_until_empty_of_settlers(&self);
}

impl Settled for Home {
    /// Waits until nothing runs beside the supervisors and what they look after.
    fn wait_until_empty_of_settlers(&self) {
        for task in self.list() {
            if task["status"] == "completed" {
                self.until_settled(task["id"].as_str().unwrap());
            }
        }
    }
}

#[test]
fn tasks_that_were_in_the_lost_log_come_back() {
    need_program("python3");
    let home = home();
    let early: Vec<_> = (0..5).map(|number| home.start(&format!("echo {number}"))).collect();
    early.iter().for_each(|id| _ = home.ended(id));
    checkpoint(&home);
    let late: Vec<_> = (0..5).map(|number| home.start(&format!("echo late {number}"))).collect();
    late.iter().for_each(|id| _ = home.ended(id));
    let live = home.start_with(&["--name", "live"], children::SLEEPER);
    let pid = home.pid(&live);
    home.wait_until_empty_of_settlers();
    assert_eq!(home.list().len(), 11);
    lose_log(&home);
    let listed = home.list();
    assert_eq!(listed.len(), 11, "{listed:?}");
    // In the order in which they were started, the newest first.
    let ids: Vec<_> = listed.iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect();
    let started: Vec<_> = early.iter().chain(&late).chain([&live]).rev().cloned().collect();
    assert_eq!(ids, started);
    let _ = home.mw(["kill", "--all"]).ok();
    assert!(!alive(pid));
    assert_eq!(home.status("live")["status"], "cancelled");
    home.wait_until_empty(SOON);
}

#[test]
fn a_restart_and_a_removal_in_the_lost_log_stay_done() {
    need_program("python3");
    let home = home();
    let again = home.start("echo run; [ -e ran ] && exec sleep 600; touch ran");
    let gone = home.start("true");
    home.ended(&again);
    home.ended(&gone);
    checkpoint(&home);
    let _ = home.mw(["restart", &again]).ok();
    let pid = home.pid(&again);
    let _ = home.mw(["clear", &gone]).ok();
    home.until_status(&again, "running");
    lose_log(&home);
    let listed = home.list();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!((&listed[0]["status"], &listed[0]["runs"]), (&"running".into(), &2.into()), "{listed:?}");
    let _ = home.mw(["kill", &again]).ok();
    assert!(!alive(pid));
}

#[test]
fn what_was_told_in_the_lost_log_is_not_told_again() {
    need_program("python3");
    let home = home();
    let start = |script: &str| {
        let started = home.command(["start", "--json", script]).session("s").run();
        started.json()["id"].as_str().unwrap().to_owned()
    };
    let (before, over) = (start(&children::gated("go", 3)), start("exit 4"));
    home.ended(&over);
    checkpoint(&home);
    assert!(told(&home, "s").contains(&over));
    let after = start("exit 5");
    home.open("go");
    home.ended(&before);
    home.ended(&after);
    let second = told(&home, "s");
    assert!(second.contains(&before) && second.contains(&after), "{second}");
    home.wait_until_empty(SOON);
    lose_log(&home);
    assert_eq!(home.list().len(), 3);
    assert_eq!(told(&home, "s"), "");
}
