//! `--progress-fd`: a task reports progress on a separate descriptor.

use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::{Value, json};

use crate::home;

const FLAG: &[&str] = &["--progress-fd"];

/// Returns a command that writes one line of progress.
fn tell(line: &str) -> String {
    format!("echo '{line}' >&\"$MEANWHILE_PROGRESS_FD\"")
}

fn until_progress(home: &Home, id: &str, field: &str, value: &Value) -> Value {
    wait_until(SOON, &format!("{field} is {value}"), || {
        Some(home.status(id)).filter(|task| task["progress"][field] == *value)
    })
}

fn progress_events(home: &Home, id: &str) -> Vec<Value> {
    let mut events = home.mw(["watch", "--no-follow", "--task", id]).exits(0).json_lines();
    events.retain(|event| event["event"] == "progress");
    events
}

#[test]
fn a_task_reports_progress_on_its_descriptor() {
    let home = home();
    let id = home
        .start_with(FLAG, &format!("{}; exec sleep 600", tell(r#"{"done":3,"total":4,"text":"linking"}"#)));
    let task = until_progress(&home, &id, "text", &"linking".into());
    let expected = json!({"percent": 75.0, "done": 3, "total": 4, "text": "linking"});
    assert_eq!(task["progress"], expected);
    assert_eq!(home.list()[0]["progress"], expected);
    assert!(home.mw(["list"]).ok().contains("running 75%"));
    assert!(home.mw(["status", &id]).ok().contains("progress   75% (3 of 4) linking"));
    assert_eq!(progress_events(&home, &id)[0]["progress"], expected);
}

#[test]
fn progress_on_the_descriptor_takes_precedence_over_output() {
    let home = home();
    let script = format!("echo '10% 1/10'; {}; exec sleep 600", children::gate("go"));
    let id = home.start_with(FLAG, &format!("{}; {script}", tell(r#"{"percent":60}"#)));
    let task = until_progress(&home, &id, "percent", &60.0.into());
    assert_eq!(task["progress"]["text"], Value::Null, "{task}");
    home.until_logged(&id, "10%");
    assert_eq!(home.status(&id)["progress"]["percent"], 60.0);
}

#[test]
fn progress_in_the_output_is_used_before_any_on_the_descriptor() {
    let home = home();
    let script =
        format!("echo '10%'; {}; {}; exec sleep 600", children::gate("go"), tell(r#"{"percent":60}"#));
    let id = home.start_with(FLAG, &script);
    until_progress(&home, &id, "percent", &10.0.into());
    home.open("go");
    until_progress(&home, &id, "percent", &60.0.into());
}

#[test]
fn malformed_progress_lines_are_ignored() {
    let home = home();
    let garbage =
        "head -c 300000 /dev/zero >&3; printf '\\377\\376\\n[1,2]\\n{\"percent\":\"x\"}\\n{\\n' >&3";
    let script =
        format!("{}; {garbage}; touch reported; {}; exit 5", tell(r#"{"percent":7}"#), children::gate("go"));
    let id = home.start_with(FLAG, &script);
    home.file("reported");
    let task = until_progress(&home, &id, "percent", &7.0.into());
    assert_eq!(task["status"], "running", "{task}");
    home.open("go");
    let task = home.ended(&id);
    assert_eq!((&task["exit_code"], &task["progress"]), (&5.into(), &Value::Null), "{task}");
    assert_eq!(home.log(&id), b"");
}

#[test]
fn many_progress_reports_become_few_events() {
    let home = home();
    let script =
        "i=0; while [ $i -lt 500 ]; do i=$((i+1)); echo \"{\\\"done\\\":$i,\\\"total\\\":500}\" >&3; done";
    let id = home.start_with(FLAG, script);
    home.ended(&id);
    let events = progress_events(&home, &id);
    assert!(!events.is_empty() && events.len() < 100, "{}", events.len());
    // The last report is always kept.
    assert_eq!(events.last().map(|event| &event["progress"]["done"]), Some(&500.into()));
}

#[test]
fn a_watch_shows_progress_as_it_arrives() {
    let home = home();
    let script = format!("{}; {}; exec sleep 600", children::gate("go"), tell(r#"{"percent":5}"#));
    let id = home.start_with(FLAG, &script);
    let watching = home.command(["watch", "--from", "0"]).env("MEANWHILE_WAIT_FALLBACK_MS", "60000").spawn();
    wait_until(SOON, "the watcher listens", || {
        watching.json_lines().iter().any(|event| event["event"] == "started").then_some(())
    });
    home.open("go");
    let event = wait_until(SOON, "the watcher shows the progress", || {
        watching.json_lines().into_iter().find(|event| event["event"] == "progress")
    });
    assert_eq!((&event["task"], &event["progress"]["percent"]), (&id.into(), &5.0.into()), "{event}");
}

#[test]
fn an_event_during_the_delivery_of_another_is_not_delayed() {
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
fn a_wait_on_a_terminal_shows_progress() {
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
fn a_terminal_task_can_report_progress() {
    let home = home();
    let id = home
        .start_with(&["--progress-fd", "--pty"], &format!("{}; exec sleep 600", tell(r#"{"percent":33}"#)));
    until_progress(&home, &id, "percent", &33.0.into());
}

#[test]
fn each_run_has_its_own_progress() {
    let home = home();
    let script = format!("{}; {}; exec sleep 600", children::gate("go"), tell(r#"{"percent":90}"#));
    let id = home.start_with(FLAG, &script);
    home.open("go");
    until_progress(&home, &id, "percent", &90.0.into());
    std::fs::remove_file(home.work().join("go")).unwrap();
    let _ = home.mw(["restart", &id]).ok();
    assert_eq!(home.status(&id)["progress"], Value::Null);
    home.open("go");
    until_progress(&home, &id, "percent", &90.0.into());
}

#[test]
fn only_a_task_with_the_option_has_a_progress_descriptor_even_if_nested() {
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
