//! `--progress-fd`: a task tells how far it has come on a descriptor of its own.

use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::{Value, json};

use crate::home;

const FLAG: &[&str] = &["--progress-fd"];

/// Returns a command that tells one line.
fn tell(line: &str) -> String {
    format!("echo '{line}' >&\"$MEANWHILE_PROGRESS_FD\"")
}

fn until_told(home: &Home, id: &str, field: &str, value: &Value) -> Value {
    wait_until(SOON, &format!("{field} is {value}"), || {
        Some(home.status(id)).filter(|task| task["progress"][field] == *value)
    })
}

fn told_events(home: &Home, id: &str) -> Vec<Value> {
    let mut events = home.mw(["watch", "--no-follow", "--task", id]).exits(0).json_lines();
    events.retain(|event| event["event"] == "progress");
    events
}

#[test]
fn a_task_tells_how_far_it_has_come() {
    let home = home();
    let id = home
        .start_with(FLAG, &format!("{}; exec sleep 600", tell(r#"{"done":3,"total":4,"text":"linking"}"#)));
    let task = until_told(&home, &id, "text", &"linking".into());
    let expected = json!({"percent": 75.0, "done": 3, "total": 4, "text": "linking"});
    assert_eq!(task["progress"], expected);
    assert_eq!(home.list()[0]["progress"], expected);
    assert!(home.mw(["list"]).ok().contains("running 75%"));
    assert!(home.mw(["status", &id]).ok().contains("progress   75% (3 of 4) linking"));
    assert_eq!(told_events(&home, &id)[0]["progress"], expected);
}

#[test]
fn the_descriptor_outranks_the_output() {
    let home = home();
    let script = format!("echo '10% 1/10'; {}; exec sleep 600", children::gate("go"));
    let id = home.start_with(FLAG, &format!("{}; {script}", tell(r#"{"percent":60}"#)));
    let task = until_told(&home, &id, "percent", &60.0.into());
    assert_eq!(task["progress"]["text"], Value::Null, "{task}");
    home.until_logged(&id, "10%");
    assert_eq!(home.status(&id)["progress"]["percent"], 60.0);
}

#[test]
fn until_something_is_told_the_output_counts() {
    let home = home();
    let script =
        format!("echo '10%'; {}; {}; exec sleep 600", children::gate("go"), tell(r#"{"percent":60}"#));
    let id = home.start_with(FLAG, &script);
    until_told(&home, &id, "percent", &10.0.into());
    home.open("go");
    until_told(&home, &id, "percent", &60.0.into());
}

#[test]
fn garbage_is_passed_over_and_harms_nobody() {
    let home = home();
    let garbage =
        "head -c 300000 /dev/zero >&3; printf '\\377\\376\\n[1,2]\\n{\"percent\":\"x\"}\\n{\\n' >&3";
    let script =
        format!("{}; {garbage}; touch told; {}; exit 5", tell(r#"{"percent":7}"#), children::gate("go"));
    let id = home.start_with(FLAG, &script);
    home.file("told");
    let task = until_told(&home, &id, "percent", &7.0.into());
    assert_eq!(task["status"], "running", "{task}");
    home.open("go");
    let task = home.ended(&id);
    assert_eq!((&task["exit_code"], &task["progress"]), (&5.into(), &Value::Null), "{task}");
    assert_eq!(home.log(&id), b"");
}

#[test]
fn only_some_of_many_words_become_events() {
    let home = home();
    let script =
        "i=0; while [ $i -lt 500 ]; do i=$((i+1)); echo \"{\\\"done\\\":$i,\\\"total\\\":500}\" >&3; done";
    let id = home.start_with(FLAG, script);
    home.ended(&id);
    let events = told_events(&home, &id);
    assert!(!events.is_empty() && events.len() < 100, "{}", events.len());
    // The last word is kept, whenever it came.
    assert_eq!(events.last().map(|event| &event["progress"]["done"]), Some(&500.into()));
}

#[test]
fn a_watcher_sees_it_come() {
    let home = home();
    let script = format!("{}; {}; exec sleep 600", children::gate("go"), tell(r#"{"percent":5}"#));
    let id = home.start_with(FLAG, &script);
    let watching = home.command(["watch", "--from", "0"]).env("MEANWHILE_WAIT_FALLBACK_MS", "60000").spawn();
    wait_until(SOON, "the watcher listens", || {
        watching.json_lines().iter().any(|event| event["event"] == "started").then_some(())
    });
    home.open("go");
    let event = wait_until(SOON, "the watcher shows it", || {
        watching.json_lines().into_iter().find(|event| event["event"] == "progress")
    });
    assert_eq!((&event["task"], &event["progress"]["percent"]), (&id.into(), &5.0.into()), "{event}");
}

#[test]
fn news_that_comes_while_other_news_is_passed_on_is_not_late() {
    let home = home();
    let script = format!("{}; {}; echo up; exec sleep 600", children::gate("go"), tell(r#"{"percent":5}"#));
    let _id = home.start_with(&["--progress-fd", "--ready-when", "up"], &script);
    let watching = home.command(["watch", "--from", "0"]).env("MEANWHILE_WAIT_FALLBACK_MS", "60000").spawn();
    let until_shown = |kind: &str| {
        wait_until(SOON, &format!("the watcher shows {kind}"), || {
            watching.json_lines().iter().any(|event| event["event"] == kind).then_some(())
        });
    };
    until_shown("started");
    home.open("go");
    until_shown("progress");
    until_shown("ready");
}

#[test]
fn a_waiting_person_sees_what_is_told() {
    let home = home();
    let script =
        format!("echo last line; {}; {}", tell(r#"{"percent":40,"text":"phase two"}"#), children::gate("go"));
    let id = home.start_with(FLAG, &script);
    let terminal = home.command(["wait", &id]).on_terminal();
    wait_until(SOON, "the line is shown", || terminal.shown().contains("40%  phase two").then_some(()));
    home.open("go");
    assert_eq!(terminal.wait(), Some(0));
}

#[test]
fn a_task_on_a_terminal_can_tell_too() {
    let home = home();
    let id = home
        .start_with(&["--progress-fd", "--pty"], &format!("{}; exec sleep 600", tell(r#"{"percent":33}"#)));
    until_told(&home, &id, "percent", &33.0.into());
}

#[test]
fn each_run_tells_for_itself() {
    let home = home();
    let script = format!("{}; {}; exec sleep 600", children::gate("go"), tell(r#"{"percent":90}"#));
    let id = home.start_with(FLAG, &script);
    home.open("go");
    until_told(&home, &id, "percent", &90.0.into());
    std::fs::remove_file(home.work().join("go")).unwrap();
    let _ = home.mw(["restart", &id]).ok();
    assert_eq!(home.status(&id)["progress"], Value::Null);
    home.open("go");
    until_told(&home, &id, "percent", &90.0.into());
}

#[test]
fn who_did_not_ask_has_no_descriptor_even_inside_a_task_that_did() {
    let home = home();
    let look =
        "echo \"[$MEANWHILE_PROGRESS_FD]\"; if (: >&3) 2>/dev/null; then echo open; else echo closed; fi";
    let plain = home.start(look);
    home.ended(&plain);
    assert_eq!(home.log(&plain), b"[]\nclosed\n");
    let asked = home.start_with(FLAG, look);
    home.ended(&asked);
    assert_eq!(home.log(&asked), b"[3]\nopen\n");
    let inner = format!("'{}' start --json '{}'", env!("CARGO_BIN_EXE_mw"), look);
    let outer = home.start_with(FLAG, &inner);
    home.ended(&outer);
    let reply: Value = serde_json::from_slice(&home.log(&outer)).unwrap();
    let id = reply["id"].as_str().unwrap();
    home.ended(id);
    assert_eq!(home.log(id), b"[]\nclosed\n");
}
