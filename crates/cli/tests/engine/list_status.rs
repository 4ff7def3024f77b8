//! `mw list` and `mw status`.

use mw_model::Timestamp;
use mw_testkit::contract::{TASK_FIELDS, count, has_fields};
use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::Value;

use crate::home;

fn listed(home: &Home, options: &[&str]) -> Vec<String> {
    let answer = home.mw(["list", "--json"].iter().chain(options)).exits(0).json();
    let tasks = answer["tasks"].as_array().unwrap();
    tasks.iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

fn time(task: &Value, field: &str) -> Timestamp {
    match task[field].as_str().map(str::parse) {
        Some(Ok(time)) => time,
        _ => panic!("{field} is not a time: {task}"),
    }
}

#[test]
fn every_state_has_all_fields() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let over = home.start("exit 3");
    home.ended(&over);
    let (running, pending) = (home.start(children::SLEEPER), home.start("true"));
    let tasks = home.list();
    for id in [&over, &running, &pending] {
        has_fields(&home.status(id), &TASK_FIELDS);
        has_fields(&home.status(id), &["output"]);
        let listed = tasks.iter().find(|task| task["id"] == id.as_str());
        has_fields(listed.unwrap(), &TASK_FIELDS);
    }
}

#[test]
fn unknown_values_are_null() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let (running, pending) = (home.start(children::SLEEPER), home.start("true"));
    let task = home.status(&pending);
    let unknown = ["pid", "started_at", "ended_at", "duration_ms", "exit_code", "signal", "cause"];
    for field in unknown {
        assert!(task[field].is_null(), "{field} of a pending task: {task}");
    }
    let task = home.status(&running);
    let unknown = ["ended_at", "exit_code", "signal", "cause", "queue_position", "name", "description"];
    for field in unknown.iter().chain(&["batch_id", "deadline", "progress"]) {
        assert!(task[field].is_null(), "{field} of a running task: {task}");
    }
}

#[test]
fn the_times_of_a_finished_task_are_consistent() {
    assert_times_fit("sleep 0.3; exit 3");
}

#[test]
fn the_times_of_a_task_with_much_output_are_consistent() {
    // Enough output that counting its lines at the end takes time.
    assert_times_fit(&format!("{}; sleep 0.3; exit 3", children::numbers(2_000_000)));
}

fn assert_times_fit(script: &str) {
    let home = home();
    // Two clocks are read one after the other; on a busy machine the difference can be large.
    wait_until(SOON, "a duration that fits the times", || {
        let task = home.ended(&home.start_with(&["--cap", "0"], script));
        let (created, started, ended) =
            (time(&task, "created_at"), time(&task, "started_at"), time(&task, "ended_at"));
        assert!(created <= started && started < ended, "{task}");
        let duration = task["duration_ms"].as_u64().unwrap();
        assert!(duration >= 300, "{task}");
        assert!(task["pid"].is_u64(), "{task}");
        (duration.abs_diff(ended.ms_since(started)) <= 50).then_some(())
    });
}

#[test]
fn status_has_kind_session_command_and_cause() {
    let home = home();
    let task = home.ended(&home.start("exit 3"));
    assert_eq!(task["kind"], "shell", "{task}");
    assert_eq!(task["session"], "default", "{task}");
    assert_eq!(task["command"], "exit 3", "{task}");
    assert_eq!(count(&task["runs"]), 1, "{task}");
    assert_eq!(task["resume_count"], 0, "{task}");
    assert!(task["cause"].to_string().contains("exited"), "{task}");
    assert!(task["approved_by"].is_string(), "{task}");
}

#[test]
fn an_empty_home_lists_nothing() {
    let home = home();
    let answer = home.mw(["list", "--json"]).exits(0).json();
    assert_eq!(answer, serde_json::json!({"tasks": [], "total": 0}));
    let _ = home.mw(["list"]).ok();
}

#[test]
fn running_tasks_are_listed_first_then_the_newest() {
    let home = home();
    let live = home.start(children::SLEEPER);
    let (old, new) = (home.start("true"), home.start("true"));
    home.ended(&old);
    home.ended(&new);
    assert_eq!(listed(&home, &[]), [live, new, old]);
}

#[test]
fn a_shortened_list_has_the_total() {
    let home = home();
    let ids: Vec<_> = (0..53).map(|_| home.start("true")).collect();
    wait_until(SOON, "all tasks have ended", || {
        (listed(&home, &["--all", "--status", "completed"]).len() == ids.len()).then_some(())
    });
    let answer = home.mw(["list", "--json"]).exits(0).json();
    assert_eq!(answer["tasks"].as_array().map(Vec::len), Some(50));
    assert_eq!(answer["total"], 53);
    assert_eq!(listed(&home, &["--limit", "7"]).len(), 7);
    assert_eq!(listed(&home, &["--all"]).len(), 53);
}

#[test]
fn a_list_can_be_filtered_by_status() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let (good, bad) = (home.start("exit 0"), home.start("exit 1"));
    home.ended(&good);
    home.ended(&bad);
    // A slot is freed shortly after the end is recorded.
    home.wait_until_empty(SOON);
    let (running, pending) = (home.start(children::SLEEPER), home.start("true"));
    assert_eq!(listed(&home, &["--status", "completed"]), [good.as_str()]);
    assert_eq!(listed(&home, &["--status", "failed"]), [bad.as_str()]);
    assert_eq!(listed(&home, &["--status", "running"]), [running]);
    assert_eq!(listed(&home, &["--status", "pending"]), [pending]);
    assert_eq!(listed(&home, &["--status", "completed,failed"]), [bad, good]);
    assert_eq!(listed(&home, &["--status", "lost"]), [""; 0]);
}

#[test]
fn a_list_can_be_filtered_by_batch_name_kind_and_session() {
    let home = home();
    let batch = home.start_with(&["--batch", "b1"], "true");
    let named = home.start_with(&["--name", "n1"], "true");
    let outcome = home.command(["start", "--json", "true"]).session("s1").run().exits(0);
    let inside = outcome.json()["id"].as_str().unwrap().to_owned();
    for id in [&batch, &named, &inside] {
        home.ended(id);
    }
    assert_eq!(listed(&home, &["--batch", "b1"]), [batch]);
    assert_eq!(listed(&home, &["--name", "n1"]), [named]);
    assert_eq!(listed(&home, &["--session", "s1"]), [inside]);
    assert_eq!(listed(&home, &["--kind", "shell"]).len(), 3);
    assert_eq!(listed(&home, &["--kind", "agent"]), [""; 0]);
}

#[test]
fn the_total_counts_the_tasks_that_match_the_filter() {
    let home = home();
    let _ = home.ended(&home.start("true"));
    let _ = home.ended(&home.start("false"));
    let answer = home.mw(["list", "--json", "--status", "failed"]).exits(0).json();
    assert_eq!(answer["total"], 1, "{answer}");
}

#[test]
fn status_shows_the_last_lines() {
    let home = home();
    let id = home.start(&children::numbers(100));
    home.ended(&id);
    let expected: String = (81..=100).map(|n| format!("{n}\n")).collect();
    assert_eq!(home.status(&id)["output"].as_str().unwrap().trim_end(), expected.trim_end());
    let short = home.mw(["status", "--json", &id, "--lines", "2"]).exits(0).json();
    assert_eq!(short["output"].as_str().unwrap().trim_end(), "99\n100");
    let none = home.mw(["status", "--json", &id, "--lines", "0"]).exits(0).json();
    assert_eq!(none["output"], "");
}

#[test]
fn output_bytes_grow_while_a_task_runs() {
    let home = home();
    let id = home.start(&format!("echo 12345; {}; echo 67890", children::gate("go")));
    home.until_logged(&id, "12345");
    assert_eq!(home.status(&id)["output_bytes"], 6);
    home.open("go");
    assert_eq!(home.ended(&id)["output_bytes"], 12);
}

#[test]
fn the_table_in_a_pipe_has_no_colour_or_escapes() {
    let home = home();
    let id = home.start_with(&["--name", "builder"], r"printf '\033[31mred\n'; exit 3");
    home.ended(&id);
    for command in [vec!["list"], vec!["status", &id]] {
        let outcome = home.mw(command).exits(0);
        assert!(outcome.text().contains("builder"), "{outcome}");
        assert!(outcome.text().contains("failed"), "{outcome}");
        assert!(!outcome.stdout.contains(&0x1b), "{outcome}");
    }
}

#[test]
fn control_characters_in_a_command_do_not_disturb_the_table() {
    let home = home();
    let id = home.start("true '\u{1b}[2Jx\ny'");
    home.ended(&id);
    let outcome = home.mw(["list"]).exits(0);
    assert!(outcome.text().contains(&id), "{outcome}");
    assert!(!outcome.stdout.contains(&0x1b), "{outcome}");
}

#[test]
fn progress_of_the_form_n_of_m_is_recognised() {
    let home = home();
    let id = home.start(&format!("echo '[3/12] compiling'; {}", children::SLEEPER));
    home.until_logged(&id, "compiling");
    let progress = wait_until(SOON, "progress is known", || {
        Some(home.status(&id)["progress"].clone()).filter(Value::is_object)
    });
    has_fields(&progress, &["percent", "done", "total", "text"]);
    assert_eq!((&progress["done"], &progress["total"]), (&3.into(), &12.into()), "{progress}");
    assert_eq!(progress["percent"].as_f64(), Some(25.0), "{progress}");
}

#[test]
fn terminal_progress_sequences_are_recognised() {
    let home = home();
    let id = home.start(&format!("printf '\\033]9;4;1;42\\007'; echo x; {}", children::SLEEPER));
    home.until_logged(&id, "x\n");
    let progress = wait_until(SOON, "progress is known", || {
        Some(home.status(&id)["progress"].clone()).filter(Value::is_object)
    });
    assert_eq!(progress["percent"].as_f64(), Some(42.0), "{progress}");
}

#[test]
fn status_follows_each_change() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let _first = home.start(&children::gated("one", 0));
    let id = home.start(&children::gated("two", 0));
    assert_eq!(home.status(&id)["status"], "pending");
    home.open("one");
    home.until_status(&id, "running");
    home.open("two");
    home.until_status(&id, "completed");
}
