//! `mw notices`: every end notification is delivered to the owner once, in order.

use mw_testkit::Home;
use serde_json::Value;

use crate::home;

fn start(home: &Home, session: &str, script: &str) -> String {
    let started = home.command(["start", "--json", script]).session(session).run().json();
    started["id"].as_str().unwrap().to_owned()
}

fn wait(home: &Home, id: &str) {
    // The command exits with the code of the task.
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
fn end_notifications_are_delivered_once_in_order() {
    let home = home();
    let slow = start(&home, "s", &mw_testkit::children::gated("go", 7));
    let quick = start(&home, "s", "exit 3");
    wait(&home, &quick);
    home.open("go");
    wait(&home, &slow);
    let delivered = notices(&home, "s", &[]);
    assert_eq!(tasks(&delivered), [quick.as_str(), &slow]);
    assert_eq!((&delivered[0]["status"], &delivered[0]["exit_code"]), (&"failed".into(), &3.into()));
    assert_eq!(notices(&home, "s", &[]), Vec::<Value>::new());
}

#[test]
fn a_peek_delivers_nothing() {
    let home = home();
    let id = start(&home, "s", "true");
    wait(&home, &id);
    assert_eq!(tasks(&notices(&home, "s", &["--peek"])), [id.as_str()]);
    assert_eq!(tasks(&notices(&home, "s", &[])), [id.as_str()]);
}

#[test]
fn sessions_get_notifications_of_their_own_tasks_only() {
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
fn the_notification_block_has_its_fields_in_order_with_markup_escaped() {
    let home = home();
    let script = "echo '<b> & </task-notification>'; echo 'test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'";
    let id = start(&home, "s", script);
    wait(&home, &id);
    let text = home.mw(["notices", "--session", "s"]).ok();
    let escaped = script.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let seconds = home.status(&id)["duration_ms"].as_f64().unwrap() / 1000.0;
    let log = home.task_dir(&id).join("output.log");
    let expected = format!(
        "<task-notification>\n<task-id>{id}</task-id>\n<status>completed</status>\n<exit-code>0</exit-code>\n\
         <output-file>{}</output-file>\n<summary>{escaped} ({seconds:.1}s) — exited 0</summary>\n\
         <outcome>2 passed (cargo test)</outcome>\n</task-notification>",
        log.display()
    );
    assert_eq!(text.trim_end(), expected);
}

#[test]
fn a_kill_by_another_process_is_notified_with_its_signal() {
    let home = home().with_env("MEANWHILE_KILL_GRACE_MS", "60000");
    let id = start(&home, "s", "sleep 600");
    home.mw(["kill", &id]).ok();
    let delivered = notices(&home, "s", &[]);
    assert_eq!(delivered[0]["status"], "cancelled");
    assert!(delivered[0]["summary"].as_str().unwrap().contains("SIGTERM"), "{delivered:?}");
}

#[test]
fn every_run_has_an_end_notification() {
    let home = home();
    let id = start(&home, "s", "exit 4");
    wait(&home, &id);
    home.command(["restart", &id]).session("s").run().ok();
    wait(&home, &id);
    let runs: Vec<_> = notices(&home, "s", &[]).iter().map(|notice| notice["run"].clone()).collect();
    assert_eq!(runs, [1, 2]);
}

#[test]
fn deleting_the_database_neither_repeats_nor_loses_notifications() {
    let home = home();
    let delivered = start(&home, "s", "true");
    wait(&home, &delivered);
    assert_eq!(tasks(&notices(&home, "s", &[])), [delivered.as_str()]);
    let undelivered = start(&home, "s", "false");
    wait(&home, &undelivered);
    home.wait_until_empty(mw_testkit::SOON);
    home.delete_database();
    assert_eq!(tasks(&notices(&home, "s", &[])), [undelivered.as_str()]);
}

#[test]
fn deleting_the_database_repeats_no_stall_or_readiness_notification() {
    let home = home().with_env("MEANWHILE_STALL_MS", "200");
    let args =
        ["start", "--json", "--ready-when", "^up", "echo up; printf 'Continue? (y/n) '; exec sleep 600"];
    let started = home.command(args).session("s").run().json();
    let id = started["id"].as_str().unwrap();
    let mut delivered = Vec::new();
    mw_testkit::wait_until(mw_testkit::SOON, "both notifications are delivered", || {
        delivered.extend(notices(&home, "s", &[]));
        (delivered.len() == 2).then_some(())
    });
    // The file also ends with an incomplete line.
    let file = home.task_dir(id).join("told.news");
    let mut lines = std::fs::read_to_string(&file).unwrap();
    lines.push_str("stalled 1");
    std::fs::write(&file, lines).unwrap();
    home.delete_database();
    assert_eq!(notices(&home, "s", &[]), Vec::<Value>::new());
    home.mw(["kill", id]).ok();
    let delivered = notices(&home, "s", &[]);
    assert_eq!((delivered.len(), &delivered[0]["status"]), (1, &"cancelled".into()), "{delivered:?}");
}

#[test]
fn a_stall_and_the_later_end_are_both_notified() {
    let home = home().with_env("MEANWHILE_STALL_MS", "200");
    let id = start(&home, "s", "printf 'Continue? (y/n) '; exec sleep 600");
    let delivered = mw_testkit::wait_until(mw_testkit::SOON, "the stall notification is delivered", || {
        Some(notices(&home, "s", &[])).filter(|delivered| !delivered.is_empty())
    });
    assert_eq!((&delivered[0]["status"], &delivered[0]["exit_code"]), (&"stalled".into(), &Value::Null));
    assert!(delivered[0]["summary"].as_str().unwrap().contains("Continue? (y/n)"), "{delivered:?}");
    home.mw(["kill", &id]).ok();
    let delivered = notices(&home, "s", &[]);
    assert_eq!(delivered.len(), 1, "{delivered:?}");
    assert_eq!(delivered[0]["status"], "cancelled");
}

#[test]
fn the_notification_has_the_answer_of_an_agent_up_to_a_size_limit() {
    let home = home();
    let agent = |script: &str| {
        let started = home.command(["start", "--json", "--kind", "agent", script]).session("s").run().json();
        let id = started["id"].as_str().unwrap().to_owned();
        wait(&home, &id);
    };
    agent("printf 'two lines\\nand <this>\\n'");
    agent("seq 1 2000");
    let delivered = home.mw(["notices", "--session", "s"]).exits(0);
    let text = String::from_utf8(delivered.stdout).unwrap();
    assert!(text.contains("<result>two lines\nand &lt;this&gt;</result>"), "{text}");
    assert!(text.contains("more bytes: read the output file]</result>"), "{text}");
    assert!(text.len() < 8 << 10, "{} bytes", text.len());
}

#[test]
fn a_session_cannot_take_the_notifications_of_another_or_end_it() {
    let home = home();
    let started = home.command(["start", "--json", "true"]).session("mine").run().json();
    home.ended(started["id"].as_str().unwrap());
    for words in
        [&["notices", "--session", "mine"][..], &["session", "end", "mine"], &["session", "delete", "mine"]]
    {
        let words = [words, &["--json"]].concat();
        let _ = home.command(words.clone()).session("other").run().refusal(5);
        // A task that drops the variable of its session still belongs to that session.
        let _ = home.command(words).env("MEANWHILE_TASK_SESSION", "other").run().refusal(5);
    }
    let delivered = home.command(["notices", "--json"]).session("mine").run().exits(0).json();
    assert_eq!(delivered["notices"].as_array().map(Vec::len), Some(1), "{delivered}");
}
