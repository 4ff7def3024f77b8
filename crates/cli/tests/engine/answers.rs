//! Replies that were wrong in earlier versions.

use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::Value;

use crate::home;

fn output(home: &Home, id: &str, options: &[&str]) -> Value {
    home.mw(["output", "--json", id].iter().chain(options)).exits(0).json()
}

#[test]
fn clearing_by_id_and_by_age_at_once_is_refused() {
    let home = home();
    let (named, other) = (home.start("echo a"), home.start("echo b"));
    home.ended(&named);
    home.ended(&other);
    for rule in [["--older-than", "1h"], ["--older-than", "0"]] {
        let _ = home.mw(["clear", "--json", &named].iter().chain(&rule)).refusal(2);
        assert_eq!(home.list().len(), 2);
    }
    for (id, text) in [(&named, "a\n"), (&other, "b\n")] {
        assert_eq!(home.mw(["output", id]).ok(), text);
    }
}

#[test]
fn clearing_by_age_keeps_newer_tasks() {
    let home = home();
    let id = home.start("true");
    home.ended(&id);
    let _ = home.mw(["clear", "--older-than", "1h"]).ok();
    assert_eq!(home.list().len(), 1);
    let _ = home.mw(["clear", "--older-than", "0"]).ok();
    assert_eq!(home.list().len(), 0);
}

#[test]
fn waiting_for_a_batch_that_does_not_exist_is_refused() {
    let home = home();
    let _ = home.start_with(&["--batch", "b1"], "true");
    let error = home.mw(["wait", "--json", "--batch", "nosuch"]).refusal(5);
    assert_eq!(error["code"], "not_found", "{error}");
    assert!(error["message"].as_str().unwrap().contains("nosuch"), "{error}");
}

#[test]
fn waiting_for_the_batch_of_another_session_is_refused() {
    let home = home();
    let start = ["start", "--json", "--batch", "b1", "true"];
    let _ = home.command(start).session("theirs").run().ok();
    let _ = home.command(["wait", "--json", "--batch", "b1"]).session("mine").run().refusal(5);
}

#[test]
fn a_stream_shown_completely_is_not_marked_truncated() {
    let home = home();
    for script in [
        "echo out; echo err >&2",
        "echo err >&2; echo out",
        "echo out; echo err >&2; echo out",
        "seq 1 20000; echo err >&2; seq 1 20000",
    ] {
        let id = home.start(script);
        home.ended(&id);
        for options in [&[][..], &["--offset", "0"], &["--tail", "10"], &["--max-bytes", "100"]] {
            let options = [&["--stream", "stderr"], options].concat();
            let answer = output(&home, &id, &options);
            assert_eq!(answer["text"], "err\n", "{script} {options:?}: {answer}");
            assert_eq!(answer["truncated"], false, "{script} {options:?}: {answer}");
            assert_eq!(answer["eof"], true, "{script} {options:?}: {answer}");
        }
    }
}

#[test]
fn an_empty_stream_is_not_marked_truncated() {
    let home = home();
    let id = home.start("echo out");
    home.ended(&id);
    let answer = output(&home, &id, &["--stream", "stderr"]);
    assert_eq!((&answer["text"], &answer["truncated"]), (&"".into(), &false.into()), "{answer}");
    assert_eq!(answer["eof"], true, "{answer}");
}

#[test]
fn a_shortened_stream_is_marked_truncated() {
    let home = home();
    let id = home.start("echo out; echo one >&2; echo out; echo two >&2; echo out");
    home.ended(&id);
    for (options, text) in
        [(["--offset", "0", "--max-lines", "1"].as_slice(), "one\n"), (["--tail", "1"].as_slice(), "two\n")]
    {
        let options = [&["--stream", "stderr"], options].concat();
        let answer = output(&home, &id, &options);
        assert_eq!(answer["text"], text, "{options:?}: {answer}");
        assert_eq!(answer["truncated"], true, "{options:?}: {answer}");
    }
}

#[test]
fn a_wait_that_times_out_shows_the_duration_and_output_size_of_the_task() {
    let home = home();
    let id = home.start("echo ready; exec sleep 600");
    home.until_logged(&id, "ready");
    for condition in ["exit", "match=never", "silence=1h"] {
        let args = ["wait", "--json", &id, "--timeout", "0", "--until", condition];
        let answer = home.mw(args).exits(124).json();
        let task = &answer["tasks"][0];
        assert_eq!(answer["timed_out"], true, "{condition}: {answer}");
        assert_eq!(task["status"], "running", "{condition}: {answer}");
        assert!(task["duration_ms"].is_u64(), "{condition}: {answer}");
        assert_eq!(task["output_bytes"], 6, "{condition}: {answer}");
    }
}

#[test]
fn a_wait_for_a_condition_shows_the_duration_and_output_size_of_the_task() {
    let home = home();
    let id = home.start(&format!("{}; echo ready; {}", children::gate("go"), children::SLEEPER));
    let waiting = home.command(["wait", "--json", &id, "--until", "match=ready"]).spawn();
    home.open("go");
    let task = waiting.wait().exits(0).json()["tasks"][0].clone();
    assert!(task["duration_ms"].is_u64(), "{task}");
    assert_eq!(task["output_bytes"], 6, "{task}");
}

#[test]
fn the_duration_of_a_running_task_grows() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let look =
        || home.mw(["wait", "--json", &id, "--timeout", "0"]).json()["tasks"][0]["duration_ms"].as_u64();
    let first = look().unwrap();
    wait_until(SOON, "the duration grows", || look().filter(|later| *later > first));
}
