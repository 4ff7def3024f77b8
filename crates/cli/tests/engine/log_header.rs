//! The log header: four lines before the output that name the task.

use std::fs;

use mw_model::Timestamp;
use mw_model::wire::{LOG_FILE, drop_marker};
use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::Value;

use crate::home;

fn with_header() -> Home {
    home().with_env("MEANWHILE_OUTPUT_LOG_HEADER", "true")
}

/// Returns the log, split after its fourth line.
fn parts(home: &Home, id: &str) -> (String, Vec<u8>) {
    let bytes = fs::read(home.task_dir(id).join(LOG_FILE)).unwrap();
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let cut = ends.take(4).last().unwrap();
    (String::from_utf8(bytes[..cut].to_vec()).unwrap(), bytes[cut..].to_vec())
}

fn output(home: &Home, id: &str, options: &[&str]) -> Value {
    home.mw(["output", "--json", id].iter().chain(options)).exits(0).json()
}

#[track_caller]
fn assert_is_header(header: &str, id: &str, command: &str) {
    let lines: Vec<_> = header.lines().collect();
    assert_eq!(lines.len(), 4, "{header}");
    let time = |line: &str, before: &str| {
        let rest = line.strip_prefix(before).unwrap_or_else(|| panic!("{before:?} is missing: {header}"));
        rest.parse::<Timestamp>().unwrap_or_else(|error| panic!("{error}: {header}"))
    };
    assert_eq!(lines[0], format!("# Background task: {id}"));
    assert!(lines[1].starts_with("# Command: ") && lines[1].contains(command), "{header}");
    assert!(time(lines[2], "# Approved by: user at ") <= time(lines[3], "# Started: "), "{header}");
}

#[test]
fn a_log_has_a_header_of_four_lines_only_when_requested() {
    let (plain, headed) = (home(), with_header());
    let id = plain.start("echo one");
    plain.ended(&id);
    assert_eq!(fs::read(plain.task_dir(&id).join(LOG_FILE)).unwrap(), b"one\n");
    let id = headed.start("echo one; echo two");
    headed.ended(&id);
    let (header, rest) = parts(&headed, &id);
    assert_is_header(&header, &id, "echo one; echo two");
    assert_eq!(rest, b"one\ntwo\n");
}

/// A queued run starts later than its request.
#[test]
fn the_header_has_the_start_time_of_the_run() {
    let home = with_header().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start(&children::gated("go", 0));
    let second = home.start("echo one");
    home.open("go");
    let time = |value: &Value| value.as_str().unwrap().parse::<Timestamp>().unwrap();
    let (first, task) = (home.ended(&first), home.ended(&second));
    let (header, _) = parts(&home, &second);
    let started = header.lines().nth(3).unwrap().strip_prefix("# Started: ").unwrap();
    let started: Timestamp = started.parse().unwrap();
    assert!(started >= time(&first["ended_at"]), "{header} {first}");
    assert!(started > time(&task["created_at"]) && started <= time(&task["started_at"]), "{header} {task}");
}

#[test]
fn a_log_without_output_has_the_header() {
    let home = with_header();
    let id = home.start("true");
    assert_eq!(home.ended(&id)["output_bytes"], 0);
    let (header, rest) = parts(&home, &id);
    assert_is_header(&header, &id, "true");
    assert_eq!(rest, b"");
}

#[test]
fn a_script_of_several_lines_has_a_header_of_four_lines() {
    let home = with_header();
    let id = home.start("echo one\necho two\n");
    home.ended(&id);
    let (header, rest) = parts(&home, &id);
    assert_is_header(&header, &id, "echo one");
    assert_eq!(rest, b"one\ntwo\n");
}

#[test]
fn offsets_begin_after_the_header() {
    let home = with_header();
    let id = home.start("echo one; echo two");
    let task = home.ended(&id);
    assert_eq!(task["output_bytes"], 8, "{task}");
    let all = output(&home, &id, &["--offset", "0"]);
    assert_eq!((&all["text"], &all["offset"]), (&"one\ntwo\n".into(), &0.into()), "{all}");
    assert_eq!((&all["next_offset"], &all["eof"]), (&8.into(), &true.into()), "{all}");
    assert_eq!(all["truncated"], false, "{all}");
    let second = output(&home, &id, &["--offset", "4"]);
    assert_eq!(second["text"], "two\n", "{second}");
}

#[test]
fn no_read_command_shows_the_header() {
    let home = with_header();
    let id = home.start("echo one; echo two; echo three >&2");
    home.ended(&id);
    let ways: [(&[&str], &str); 9] = [
        (&[], "one\ntwo\nthree\n"),
        (&["--raw"], "one\ntwo\nthree\n"),
        (&["--tail", "100"], "one\ntwo\nthree\n"),
        (&["--tail", "2"], "two\nthree\n"),
        (&["--max-lines", "1"], "one\n"),
        (&["--stream", "stdout"], "one\ntwo\n"),
        (&["--stream", "stderr"], "three\n"),
        (&["--new", "--reader", "r"], "one\ntwo\nthree\n"),
        (&["--follow"], "one\ntwo\nthree\n"),
    ];
    for (options, expected) in ways {
        let outcome = home.mw(["output", &id].iter().chain(options));
        assert_eq!(outcome.ok(), expected, "{options:?}");
    }
    let status = home.status(&id);
    assert!(!status["output"].to_string().contains("# "), "{status}");
}

#[test]
fn a_search_does_not_find_the_header() {
    let home = with_header();
    let id = home.start("echo one; echo two");
    home.ended(&id);
    let found = output(&home, &id, &["--grep", "^#"]);
    assert_eq!(found["matches"], serde_json::json!([]), "{found}");
    let found = output(&home, &id, &["--grep", "two"]);
    assert_eq!(found["matches"][0]["line"], 2, "{found}");
    assert_eq!(found["matches"][0]["offset"], 4, "{found}");
}

#[test]
fn streams_are_separated_after_the_header_while_the_task_runs() {
    let home = with_header();
    let script = format!("{}; {}; echo last", children::both_streams(50), children::gate("go"));
    let id = home.start(&script);
    for (stream, word) in [("stdout", "out"), ("stderr", "err")] {
        let expected: String = (1..=50).map(|number| format!("{word} {number}\n")).collect();
        wait_until(SOON, &format!("all of {stream}"), || {
            let text = output(&home, &id, &["--offset", "0", "--stream", stream])["text"].clone();
            (text == expected.as_str()).then_some(())
        });
    }
    home.open("go");
    home.ended(&id);
    assert_eq!(output(&home, &id, &["--tail", "1", "--stream", "stdout"])["text"], "last\n");
}

#[test]
fn a_capped_log_keeps_its_header_and_its_offsets() {
    let home = with_header();
    let id = home.start_with(&["--cap", "4096"], &children::numbers(20_000));
    let task = home.ended(&id);
    let full = children::numbered(1, 20_000);
    let dropped = task["dropped_bytes"].as_u64().unwrap();
    assert!(dropped > 0, "{task}");
    assert_eq!(task["output_bytes"], full.len(), "{task}");

    let (header, rest) = parts(&home, &id);
    assert_is_header(&header, &id, "seq 1 20000");
    let text = String::from_utf8(rest).unwrap();
    let (head, tail) = text.split_once(&drop_marker(dropped)).unwrap();
    assert!(full.starts_with(head.as_bytes()) && full.ends_with(tail.as_bytes()), "{text}");
    assert_eq!((head.len() + tail.len()) as u64 + dropped, full.len() as u64);
    assert!(head.len() + tail.len() <= 4096, "{} bytes are kept", head.len() + tail.len());

    let begin = output(&home, &id, &["--offset", "0", "--max-bytes", "4"]);
    assert_eq!((&begin["text"], &begin["next_offset"]), (&"1\n2\n".into(), &4.into()), "{begin}");
    let from = full.len() - 12;
    let end = output(&home, &id, &["--offset", &from.to_string()]);
    assert_eq!((&end["text"], &end["offset"]), (&"19999\n20000\n".into(), &from.into()), "{end}");
    assert_eq!(home.mw(["output", &id, "--tail", "2"]).ok(), "19999\n20000\n");
}

#[test]
fn a_queued_task_launched_by_another_process_has_the_header() {
    let home = home();
    let start = |script: &str| {
        let command = home.command(["start", "--json", script]).env("MEANWHILE_OUTPUT_LOG_HEADER", "true");
        let started = command.env("MEANWHILE_QUEUE_MAX_RUNNING", "1").run().json();
        started["id"].as_str().unwrap().to_owned()
    };
    let (first, waiting) = (start("sleep 600"), start("echo hello"));
    assert_eq!(home.status(&waiting)["status"], "pending");
    home.mw(["kill", &first]).ok();
    home.ended(&waiting);
    let (header, rest) = parts(&home, &waiting);
    assert_is_header(&header, &waiting, "echo hello");
    assert_eq!(rest, b"hello\n");
}

#[test]
fn every_run_has_its_own_header() {
    let home = with_header();
    let id = home.start("echo one");
    home.ended(&id);
    let _ = home.mw(["restart", &id]).ok();
    home.ended(&id);
    let (header, rest) = parts(&home, &id);
    assert_is_header(&header, &id, "echo one");
    assert_eq!(rest, b"one\n");
    assert_eq!(home.mw(["output", &id, "--run", "1"]).ok(), "one\n");
}

#[test]
fn the_header_does_not_count_towards_a_small_cap() {
    for length in [10, 110, 400, 2000] {
        let home = with_header();
        let comment = "x".repeat(length);
        let id = home.start_with(&["--cap", "512"], &format!(": {comment}; seq 1 20000; exit 4"));
        let task = home.ended(&id);
        assert_eq!(task["exit_code"], 4, "{task}");
        let (header, output) = parts(&home, &id);
        assert_is_header(&header, &id, "seq 1 20000");
        assert!(
            output.starts_with(b"1\n2\n") && output.ends_with(b"\n20000\n"),
            "{length}: no head or no tail"
        );
        assert!(output.len() <= 512, "{} bytes", output.len());
    }
}
