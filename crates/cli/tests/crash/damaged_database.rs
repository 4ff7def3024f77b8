//! A damaged database is set aside and rebuilt from the task directories by the command that finds it.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

use mw_testkit::{Home, SOON, children, need_program, wait_until};
use serde_json::Value;

use crate::home;

/// Which part is overwritten.
#[derive(Clone, Copy, Debug)]
enum Damage {
    /// Everything but the first page.
    Pages,
    /// The first page too, so that the file is no database any more.
    Header,
}

/// Writes the whole write-ahead log into the database. Otherwise SQLite may find every page in the log
/// and never read the damaged file.
fn checkpoint(home: &Home) {
    let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=60); \
                  assert c.execute('pragma wal_checkpoint(TRUNCATE)').fetchone()[0] == 0";
    let path = home.state().join("meanwhile.db");
    let _ = home.program("python3").arg("-c").arg(script).arg(&path).run().ok();
}

/// Damages the database of a home without writers.
fn damage(home: &Home, what: Damage) {
    checkpoint(home);
    let path = home.state().join("meanwhile.db");
    let size = fs::metadata(&path).unwrap().len();
    let from = match what {
        Damage::Pages => 4096,
        Damage::Header => 0,
    };
    assert!(size > 8 * 4096);
    let garbage = vec![0x5a; (size - from) as usize];
    OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&garbage, from).unwrap();
    // The write-ahead log is not empty, so that only the damage itself can be detected.
    fs::write(home.state().join("meanwhile.db-wal"), "no log").unwrap();
}

fn set_aside(home: &Home) -> Vec<String> {
    let names = fs::read_dir(home.state()).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names
        .filter(|name| name.contains(".damaged-") && !name.ends_with("-wal") && !name.ends_with("-shm"))
        .collect()
}

fn delivered_text(home: &Home) -> String {
    home.command(["notices"]).session("s").run().ok()
}

/// Tasks in every state: ended and notified, ended and not notified, running, and queued.
struct Tasks {
    notified: String,
    ended: String,
    running: String,
    pending: String,
}

impl Tasks {
    fn new(home: &Home) -> Self {
        let start = |script: &str| {
            let started = home.command(["start", "--json", script]).session("s").run().exits(0).json();
            started["id"].as_str().unwrap().to_owned()
        };
        let done = start("exit 3");
        home.ended(&done);
        assert!(delivered_text(home).contains(&done));
        let ended = start("echo out; exit 4");
        home.ended(&ended);
        let running = start(children::SLEEPER);
        let pending = start("exit 5");
        home.until_settled(&done);
        home.until_settled(&ended);
        assert_eq!(home.list().len(), 4);
        Self { notified: done, ended, running, pending }
    }

    #[track_caller]
    fn are_there(&self, home: &Home) {
        let listed = home.list();
        let status = |id: &str| {
            let task = listed.iter().find(|task| task["id"] == id);
            task.map(|task| task["status"].as_str().unwrap().to_owned())
        };
        let found = [&self.notified, &self.ended, &self.running, &self.pending].map(|id| status(id));
        assert_eq!(found, ["failed", "failed", "running", "pending"].map(|word| Some(word.to_owned())));
    }
}

fn one_at_a_time() -> Home {
    home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1")
}

#[test]
fn all_tasks_are_recovered_from_a_damaged_database() {
    need_program("python3");
    for what in [Damage::Pages, Damage::Header] {
        let home = one_at_a_time();
        let tasks = Tasks::new(&home);
        damage(&home, what);
        let listed = home.mw(["list", "--json"]).exits(0);
        assert!(listed.stderr_text().contains("the database was damaged"), "{what:?}: {listed}");
        tasks.are_there(&home);
        assert_eq!(set_aside(&home).len(), 1, "{what:?}");
        let delivered = delivered_text(&home);
        assert!(delivered.contains(&tasks.ended), "{what:?}: {delivered}");
        assert!(!delivered.contains(&tasks.notified), "{what:?}: {delivered}");
        assert!(!delivered_text(&home).contains(&tasks.ended));
        let doctor = home.mw(["doctor"]);
        let doctor = doctor.text();
        assert!(doctor.contains("1 damaged database was set aside"), "{doctor}");
        let _ = home.mw(["kill", &tasks.running]).ok();
        assert_eq!(home.ended(&tasks.pending)["exit_code"], 5);
        home.wait_until_empty(SOON);
    }
}

/// Each command is the first one to find the damage.
#[test]
fn every_command_works_with_a_damaged_database() {
    need_program("python3");
    let home = one_at_a_time();
    let tasks = Tasks::new(&home);
    let words: [&[&str]; 6] = [
        &["status", &tasks.running],
        &["output", &tasks.ended],
        &["start", "--name", "more", "true"],
        &["notices"],
        &["kill", &tasks.running],
        &["clear", &tasks.notified],
    ];
    for (at, words) in words.iter().enumerate() {
        damage(&home, Damage::Pages);
        let call = home.command(words.iter().copied()).session("s").run();
        assert_eq!(call.code, Some(0), "{words:?}: {call}");
        assert_eq!(set_aside(&home).len(), at + 1, "{words:?}: {call}");
        assert_eq!(home.list().iter().filter(|task| task["id"] == tasks.ended.as_str()).count(), 1);
    }
    home.wait_until_empty(SOON);
}

#[test]
fn concurrent_commands_set_a_damaged_database_aside_once() {
    need_program("python3");
    let home = one_at_a_time();
    let tasks = Tasks::new(&home);
    for (at, what) in [Damage::Pages, Damage::Header, Damage::Pages].into_iter().enumerate() {
        damage(&home, what);
        let calls: Vec<_> = (0..8)
            .map(|number| match number % 4 {
                0 => home.command(["list"]),
                1 => home.command(["start", "--json", "true"]).session("s"),
                2 => home.command(["status", &tasks.running]),
                _ => home.command(["notices"]).session("other"),
            })
            .map(mw_testkit::Invocation::spawn)
            .collect();
        for call in calls {
            let call = call.wait();
            assert_eq!(call.code, Some(0), "{what:?}: {call}");
        }
        tasks.are_there(&home);
        assert_eq!(home.list().len(), 4 + 2 * (at + 1), "{what:?}");
        assert_eq!(set_aside(&home).len(), at + 1, "{what:?}");
    }
    let _ = home.mw(["kill", "--all"]).ok();
    home.wait_until_empty(SOON);
}

/// A process that has the database open must not prevent others from rebuilding it.
#[test]
fn a_database_truncated_under_an_open_process_is_rebuilt() {
    need_program("python3");
    let home = home();
    let id = home.start("exit 0");
    let _ = home.ended(&id);
    home.until_settled(&id);
    let watch = home.command(["watch", "--json"]).spawn();
    wait_until(SOON, "the watch has read the database", || {
        watch.printed().contains(r#""ended""#).then_some(())
    });
    checkpoint(&home);
    let database = OpenOptions::new().write(true).open(home.state().join("meanwhile.db")).unwrap();
    database.set_len(0).unwrap();
    assert_eq!(home.list().len(), 1);
    assert_eq!(set_aside(&home).len(), 1);
    // The watch goes on with the new database, because events are numbered above all earlier ones.
    let later = home.start("exit 0");
    wait_until(SOON, "the watch prints later events", || {
        let is_wanted = |event: &Value| event["task"] == later.as_str() && event["event"] == "ended";
        watch.json_lines().into_iter().find(is_wanted)
    });
    let seqs: Vec<_> = watch.json_lines().iter().map(|event| event["seq"].as_i64().unwrap()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "{seqs:?}");
    let _ = watch.kill();
}
