//! A lost write-ahead log of the database: its content is recovered from the task directories.

use std::fs;

use mw_testkit::{Home, SOON, alive, children, need_program};

use crate::home;

/// Checkpoints the write-ahead log into the database.
fn checkpoint(home: &Home) {
    let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); \
                  assert c.execute('pragma wal_checkpoint(TRUNCATE)').fetchone()[0] == 0";
    home.wait_until_empty_of_settlers();
    let _ = home.program("python3").arg("-c").arg(script).arg(home.state().join("meanwhile.db")).run().ok();
}

fn lose_log(home: &Home) {
    fs::remove_file(home.state().join("meanwhile.db-wal")).unwrap();
}

fn delivered_text(home: &Home, session: &str) -> String {
    home.command(["notices"]).session(session).run().ok()
}

trait Settled {
    fn wait_until_empty_of_settlers(&self);
}

impl Settled for Home {
    /// Waits until only supervisors and their tasks run.
    fn wait_until_empty_of_settlers(&self) {
        for task in self.list() {
            if task["status"] == "completed" {
                self.until_settled(task["id"].as_str().unwrap());
            }
        }
    }
}

#[test]
fn tasks_in_a_lost_write_ahead_log_are_recovered() {
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
fn a_restart_and_a_clear_survive_the_loss_of_the_write_ahead_log() {
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
fn delivered_notifications_are_not_repeated_after_a_lost_write_ahead_log() {
    need_program("python3");
    let home = home();
    let start = |script: &str| {
        let started = home.command(["start", "--json", script]).session("s").run();
        started.json()["id"].as_str().unwrap().to_owned()
    };
    let (before, over) = (start(&children::gated("go", 3)), start("exit 4"));
    home.ended(&over);
    checkpoint(&home);
    assert!(delivered_text(&home, "s").contains(&over));
    let after = start("exit 5");
    home.open("go");
    home.ended(&before);
    home.ended(&after);
    let second = delivered_text(&home, "s");
    assert!(second.contains(&before) && second.contains(&after), "{second}");
    home.wait_until_empty(SOON);
    lose_log(&home);
    assert_eq!(home.list().len(), 3);
    assert_eq!(delivered_text(&home, "s"), "");
}

#[test]
fn a_notification_is_not_repeated_if_the_database_is_older_than_its_delivery() {
    let home = home();
    let started = home.command(["start", "--json", "exit 4"]).session("s").run();
    let id = started.json()["id"].as_str().unwrap().to_owned();
    home.ended(&id);
    home.until_settled(&id);
    home.wait_until_empty(SOON);
    let files = ["meanwhile.db", "meanwhile.db-wal"].map(|name| home.state().join(name));
    let before = files.clone().map(|file| fs::read(file).unwrap());
    assert!(delivered_text(&home, "s").contains(&id));
    let _ = fs::remove_file(home.state().join("meanwhile.db-shm"));
    files.iter().zip(before).for_each(|(file, bytes)| fs::write(file, bytes).unwrap());
    assert_eq!(delivered_text(&home, "s"), "");
}
