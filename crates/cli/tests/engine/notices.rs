//! `mw notices`: a session's owner is told of every ending, once, in the order in which they came.

use mw_testkit::Home;
use serde_json::Value;

use crate::home;

fn start(home: &Home, session: &str, script: &str) -> String {
    let started = home.command(["start", "--json", script]).session(session).run().json();
    started["id"].as_str().unwrap().to_owned()
}

fn wait(home: &Home, id: &str) {
    // It exits with the task's own code.
    let _ = home.mw(["wait", id]);
}

fn notices(home: &Home, session: &str, more: &[&str]) -> Vec<Value> {
    let args = [&["notices", "--json", "--session", session][..], more].concat();
    home.mw(args).json()["notices"].as_array().unwrap().clone()
}

fn tasks(notices: &[Value]) -> Vec<&str> {
    notices.iter().map(|notice| notice["task"].as_str().unwrap()).collect()
}

#[test]
fn endings_are_told_once_and_in_the_order_in_which_they_came() {
    let home = home();
    let slow = start(&home, "s", &mw_testkit::children::gated("go", 7));
    let quick = start(&home, "s", "exit 3");
    wait(&home, &quick);
    home.open("go");
    wait(&home, &slow);
    let told = notices(&home, "s", &[]);
    assert_eq!(tasks(&told), [quick.as_str(), &slow]);
    assert_eq!((&told[0]["status"], &told[0]["exit_code"]), (&"failed".into(), &3.into()));
    assert_eq!(notices(&home, "s", &[]), Vec::<Value>::new());
}

#[test]
fn a_peek_leaves_them_to_be_told() {
    let home = home();
    let id = start(&home, "s", "true");
    wait(&home, &id);
    assert_eq!(tasks(&notices(&home, "s", &["--peek"])), [id.as_str()]);
    assert_eq!(tasks(&notices(&home, "s", &[])), [id.as_str()]);
}

#[test]
fn sessions_are_told_of_their_own_tasks_only_and_nobody_of_those_outside() {
    let home = home();
    let mine = start(&home, "mine", "true");
    let outside = home.start("true");
    wait(&home, &mine);
    home.ended(&outside);
    assert_eq!(notices(&home, "other", &[]), Vec::<Value>::new());
    assert_eq!(notices(&home, "default", &[]), Vec::<Value>::new());
    assert_eq!(tasks(&notices(&home, "mine", &[])), [mine.as_str()]);
    let refusal = home.mw(["notices", "--json"]).refusal(2);
    assert_eq!(refusal["code"], "usage", "{refusal}");
}

#[test]
fn the_block_escapes_what_the_command_holds_and_tells_the_outcome() {
    let home = home();
    let script = "echo '<b> & </task-notification>'; echo 'test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'";
    let id = start(&home, "s", script);
    wait(&home, &id);
    let text = home.mw(["notices", "--session", "s"]).ok();
    assert_eq!(text.matches("</task-notification>").count(), 1, "{text}");
    assert!(text.contains("&lt;b&gt; &amp; &lt;/task-notification&gt;"), "{text}");
    assert!(text.contains(&format!("<task-id>{id}</task-id>")), "{text}");
}

#[test]
fn a_kill_by_somebody_else_is_told_with_its_signal() {
    let home = home().with_env("MEANWHILE_KILL_GRACE_MS", "60000");
    let id = start(&home, "s", "sleep 600");
    home.mw(["kill", &id]).ok();
    let told = notices(&home, "s", &[]);
    assert_eq!(told[0]["status"], "killed");
    assert!(told[0]["summary"].as_str().unwrap().contains("SIGTERM"), "{told:?}");
}

#[test]
fn every_run_is_told() {
    let home = home();
    let id = start(&home, "s", "exit 4");
    wait(&home, &id);
    home.command(["restart", &id]).session("s").run().ok();
    wait(&home, &id);
    let runs: Vec<_> = notices(&home, "s", &[]).iter().map(|notice| notice["run"].clone()).collect();
    assert_eq!(runs, [1, 2]);
}

#[test]
fn a_deleted_database_tells_nothing_twice_and_forgets_nothing_untold() {
    let home = home();
    let told = start(&home, "s", "true");
    wait(&home, &told);
    assert_eq!(tasks(&notices(&home, "s", &[])), [told.as_str()]);
    let untold = start(&home, "s", "false");
    wait(&home, &untold);
    home.wait_until_empty(mw_testkit::SOON);
    delete_database(&home);
    assert_eq!(tasks(&notices(&home, "s", &[])), [untold.as_str()]);
}

fn delete_database(home: &Home) {
    for entry in std::fs::read_dir(home.state()).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("meanwhile.db") {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
}

#[test]
fn a_deleted_database_tells_no_stall_and_no_readiness_twice() {
    let home = home().with_env("MEANWHILE_STALL_MS", "200");
    let args =
        ["start", "--json", "--ready-when", "^up", "echo up; printf 'Continue? (y/n) '; exec sleep 600"];
    let started = home.command(args).session("s").run().json();
    let id = started["id"].as_str().unwrap();
    let mut told = Vec::new();
    mw_testkit::wait_until(mw_testkit::SOON, "both are told", || {
        told.extend(notices(&home, "s", &[]));
        (told.len() == 2).then_some(())
    });
    // The next time it is asked, it has an unfinished line in the file as well.
    let file = home.task_dir(id).join("told.news");
    let mut lines = std::fs::read_to_string(&file).unwrap();
    lines.push_str("stalled 1");
    std::fs::write(&file, lines).unwrap();
    delete_database(&home);
    assert_eq!(notices(&home, "s", &[]), Vec::<Value>::new());
    home.mw(["kill", id]).ok();
    let told = notices(&home, "s", &[]);
    assert_eq!((told.len(), &told[0]["status"]), (1, &"killed".into()), "{told:?}");
}

#[test]
fn a_stall_is_told_and_so_is_the_ending_after_it() {
    let home = home().with_env("MEANWHILE_STALL_MS", "200");
    let id = start(&home, "s", "printf 'Continue? (y/n) '; exec sleep 600");
    let told = mw_testkit::wait_until(mw_testkit::SOON, "the stall is told", || {
        Some(notices(&home, "s", &[])).filter(|told| !told.is_empty())
    });
    assert_eq!((&told[0]["status"], &told[0]["exit_code"]), (&"stalled".into(), &Value::Null));
    assert!(told[0]["summary"].as_str().unwrap().contains("Continue? (y/n)"), "{told:?}");
    home.mw(["kill", &id]).ok();
    let told = notices(&home, "s", &[]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["status"], "killed");
}

#[test]
fn what_an_agent_answered_is_in_the_notice_up_to_a_size() {
    let home = home();
    let agent = |script: &str| {
        let started = home.command(["start", "--json", "--kind", "agent", script]).session("s").run().json();
        let id = started["id"].as_str().unwrap().to_owned();
        wait(&home, &id);
    };
    agent("printf 'two lines\\nand <this>\\n'");
    agent("seq 1 2000");
    let told = home.mw(["notices", "--session", "s"]).exits(0);
    let text = String::from_utf8(told.stdout).unwrap();
    assert!(text.contains("<result>two lines\nand &lt;this&gt;</result>"), "{text}");
    assert!(text.contains("more bytes: read the output file]</result>"), "{text}");
    assert!(text.len() < 8 << 10, "{} bytes", text.len());
}
