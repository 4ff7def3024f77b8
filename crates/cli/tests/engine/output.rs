//! `mw output`: every byte, by tail, offset, stream and pattern.

use mw_testkit::contract::{OUTPUT_FIELDS, has_fields};
use mw_testkit::{Home, children};
use serde_json::Value;

use crate::home;

/// More than any log of these tests.
const ALL: &str = "1000000000";

/// Returns the bytes of one stream as `mw output --raw` gives them.
fn raw(home: &Home, id: &str, stream: &str) -> Vec<u8> {
    let args = ["output", id, "--raw", "--offset", "0", "--max-bytes", ALL, "--stream", stream];
    home.mw(args).exits(0).stdout
}

fn page(home: &Home, id: &str, options: &[&str]) -> Value {
    let args = ["output", "--json", id];
    let answer = home.mw(args.iter().chain(options)).exits(0).json();
    has_fields(&answer, &OUTPUT_FIELDS);
    answer
}

#[test]
fn every_byte_is_kept_in_order() {
    let home = home();
    let id = home.start(&children::numbers(200_000));
    let expected = children::numbered(1, 200_000);
    let task = home.ended(&id);
    assert_eq!(task["output_bytes"], expected.len(), "{task}");
    assert_eq!(task["dropped_bytes"], 0, "{task}");
    assert!(home.log(&id) == expected, "the log differs");
    assert!(raw(&home, &id, "both") == expected, "the answer differs");
}

#[test]
fn each_stream_can_be_read_alone() {
    let home = home();
    let id = home.start(&children::both_streams(500));
    home.ended(&id);
    for (stream, word) in [("stdout", "out"), ("stderr", "err")] {
        let expected: String = (1..=500).map(|n| format!("{word} {n}\n")).collect();
        assert_eq!(String::from_utf8(raw(&home, &id, stream)).unwrap(), expected);
    }
}

#[test]
fn the_log_has_the_lines_of_each_stream_in_order() {
    let home = home();
    let id = home.start(&children::both_streams(500));
    home.ended(&id);
    let log = String::from_utf8(home.log(&id)).unwrap();
    assert_eq!(log.lines().count(), 1000);
    for word in ["out", "err"] {
        let lines: Vec<_> = log.lines().filter(|line| line.starts_with(word)).collect();
        let expected: Vec<_> = (1..=500).map(|n| format!("{word} {n}")).collect();
        assert_eq!(lines, expected);
    }
}

#[test]
fn writes_to_both_streams_with_pauses_are_logged_in_order() {
    let home = home();
    let (first, second) = (children::gate("first"), children::gate("second"));
    let id = home.start(&format!("echo 1; {first}; echo 2 >&2; {second}; echo 3"));
    home.until_logged(&id, "1\n");
    home.open("first");
    home.until_logged(&id, "2\n");
    home.open("second");
    home.ended(&id);
    assert_eq!(home.log(&id), b"1\n2\n3\n");
}

#[test]
fn both_streams_can_be_filled_concurrently() {
    let home = home();
    let id = home.start(&children::fill_both(3 << 20));
    assert_eq!(home.ended(&id)["exit_code"], 0);
    assert!(raw(&home, &id, "stdout") == vec![b'o'; 3 << 20], "stdout differs");
    assert!(raw(&home, &id, "stderr") == vec![b'e'; 3 << 20], "stderr differs");
}

#[test]
fn a_task_without_output_has_empty_output() {
    let home = home();
    let id = home.start("true");
    home.ended(&id);
    let answer = page(&home, &id, &[]);
    assert_eq!((&answer["text"], &answer["next_offset"]), (&"".into(), &0.into()), "{answer}");
    assert_eq!((&answer["eof"], &answer["truncated"]), (&true.into(), &false.into()), "{answer}");
}

#[test]
fn short_output_is_shown_completely() {
    let home = home();
    let id = home.start("echo one; echo two");
    home.ended(&id);
    let outcome = home.mw(["output", &id]).exits(0);
    assert_eq!(outcome.text(), "one\ntwo\n");
}

#[test]
fn long_output_is_shortened_and_says_so() {
    let home = home();
    let id = home.start(&children::numbers(50_000));
    home.ended(&id);
    let outcome = home.mw(["output", &id]).exits(0);
    assert!(outcome.stdout.len() <= 8 << 10, "{} bytes", outcome.stdout.len());
    assert!(outcome.text().ends_with("49999\n50000\n"), "{outcome}");
    assert!(!outcome.stderr_text().trim().is_empty(), "no note about the omitted output");
    let answer = page(&home, &id, &[]);
    assert_eq!(answer["truncated"], true, "{answer}");
    assert_eq!(answer["eof"], true, "{answer}");
}

#[test]
fn the_tail_of_a_large_log_is_its_last_lines() {
    let home = home();
    let id = home.start_with(&["--cap", "0"], &children::numbers(3_000_000));
    home.ended(&id);
    let outcome = home.mw(["output", &id, "--tail", "3"]).exits(0);
    assert_eq!(outcome.text(), "2999998\n2999999\n3000000\n");
}

#[test]
fn the_tail_counts_an_incomplete_line() {
    let home = home();
    let id = home.start("echo a; echo b; printf c");
    home.ended(&id);
    assert_eq!(home.mw(["output", &id, "--tail", "2"]).ok(), "b\nc");
}

#[test]
fn the_tail_of_one_stream_has_only_that_stream() {
    let home = home();
    let id = home.start(&children::both_streams(100));
    home.ended(&id);
    let outcome = home.mw(["output", &id, "--tail", "2", "--stream", "stderr"]);
    assert_eq!(outcome.ok(), "err 99\nerr 100\n");
}

#[test]
fn a_tail_longer_than_the_log_is_the_whole_log() {
    let home = home();
    let id = home.start("echo a; echo b");
    home.ended(&id);
    assert_eq!(home.mw(["output", &id, "--tail", "100"]).ok(), "a\nb\n");
}

#[test]
fn joined_pages_are_the_complete_output() {
    let home = home();
    let id = home.start(&children::numbers(5000));
    home.ended(&id);
    let (mut text, mut offset, mut pages) = (String::new(), 0, 0);
    loop {
        let answer = page(&home, &id, &["--offset", &offset.to_string(), "--max-bytes", "1000"]);
        let part = answer["text"].as_str().unwrap();
        assert!(part.len() <= 1000, "{} bytes", part.len());
        assert_eq!(answer["offset"], offset, "{answer}");
        text += part;
        offset = answer["next_offset"].as_u64().unwrap();
        pages += 1;
        if answer["eof"] == true {
            break;
        }
        assert!(pages < 100, "too many pages: {answer}");
    }
    assert!(text.as_bytes() == children::numbered(1, 5000), "the pages differ");
    assert_eq!(offset, text.len() as u64);
}

#[test]
fn a_page_can_be_limited_by_lines() {
    let home = home();
    let id = home.start(&children::numbers(100));
    home.ended(&id);
    let answer = page(&home, &id, &["--offset", "0", "--max-lines", "3"]);
    assert_eq!(answer["text"], "1\n2\n3\n", "{answer}");
    assert_eq!(answer["next_offset"], 6, "{answer}");
    assert_eq!(answer["eof"], false, "{answer}");
}

#[test]
fn an_offset_beyond_the_end_returns_nothing() {
    let home = home();
    let id = home.start("echo a");
    home.ended(&id);
    let answer = page(&home, &id, &["--offset", "1000"]);
    assert_eq!((&answer["text"], &answer["eof"]), (&"".into(), &true.into()), "{answer}");
}

#[test]
fn a_running_task_has_no_end_of_output() {
    let home = home();
    let id = home.start(&children::gated("go", 0));
    home.until_logged(&id, "waiting");
    let answer = page(&home, &id, &["--offset", "0"]);
    assert_eq!((&answer["text"], &answer["eof"]), (&"waiting\n".into(), &false.into()), "{answer}");
    home.open("go");
    home.ended(&id);
    assert_eq!(page(&home, &id, &["--offset", "0"])["eof"], true);
}

#[test]
fn a_pattern_returns_lines_with_their_offsets() {
    let home = home();
    let id = home.start(&children::numbers(1000));
    home.ended(&id);
    let answer = home.mw(["output", "--json", &id, "--grep", "^99$|^1000$"]).exits(0).json();
    let matches = answer["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 2, "{answer}");
    assert_eq!((&matches[0]["line"], &matches[0]["text"]), (&99.into(), &"99".into()), "{answer}");
    assert_eq!(matches[0]["offset"], children::numbered(1, 98).len(), "{answer}");
    assert_eq!((&matches[1]["line"], &matches[1]["text"]), (&1000.into(), &"1000".into()), "{answer}");
    assert_eq!(answer["truncated"], false, "{answer}");
    assert!(answer["next_offset"].is_u64(), "{answer}");
}

#[test]
fn a_pattern_without_matches_returns_no_lines() {
    let home = home();
    let id = home.start("echo a");
    home.ended(&id);
    let answer = home.mw(["output", "--json", &id, "--grep", "b"]).json();
    assert_eq!(answer["matches"].as_array().map(Vec::len), Some(0), "{answer}");
}

#[test]
fn many_matches_are_limited_and_marked_truncated() {
    let home = home();
    let id = home.start(&children::numbers(200_000));
    home.ended(&id);
    let outcome = home.mw(["output", "--json", &id, "--grep", ".", "--max-lines", "10"]).exits(0);
    let answer = outcome.json();
    assert_eq!(answer["matches"].as_array().map(Vec::len), Some(10), "{answer}");
    assert_eq!(answer["truncated"], true, "{answer}");
}

#[test]
fn a_pattern_can_show_context_lines() {
    let home = home();
    let id = home.start(&children::numbers(50));
    home.ended(&id);
    let text = home.mw(["output", &id, "--grep", "^20$", "--context", "1"]).ok();
    let has =
        |word: &str| text.lines().any(|line| line.split(|c: char| !c.is_ascii_digit()).any(|w| w == word));
    assert!(has("19") && has("20") && has("21"), "{text}");
    assert!(!has("18") && !has("22"), "{text}");
}

#[test]
fn bytes_that_are_not_utf8_are_kept() {
    let home = home();
    let id = home.start(children::INVALID_UTF8);
    home.ended(&id);
    assert_eq!(home.log(&id), children::INVALID_UTF8_BYTES);
    assert_eq!(raw(&home, &id, "both"), children::INVALID_UTF8_BYTES);
    let answer = page(&home, &id, &["--offset", "0"]);
    assert!(answer["text"].as_str().unwrap().contains('\u{fffd}'), "{answer}");
    assert_eq!(answer["next_offset"], children::INVALID_UTF8_BYTES.len(), "{answer}");
}

#[test]
fn a_page_does_not_split_a_character() {
    let home = home();
    let id = home.start("printf 'aäöü€'");
    home.ended(&id);
    let (mut text, mut offset) = (String::new(), 0);
    while text.len() < "aäöü€".len() {
        let answer = page(&home, &id, &["--offset", &offset.to_string(), "--max-bytes", "4"]);
        let next = answer["next_offset"].as_u64().unwrap();
        assert!(next > offset, "no progress: {answer}");
        text += answer["text"].as_str().unwrap();
        offset = next;
    }
    assert_eq!(text, "aäöü€");
}

#[test]
fn control_sequences_are_shown_only_with_raw() {
    let home = home();
    let id = home.start(r"printf '\033[31mred\033[0m \033]0;title\007end\n'");
    home.ended(&id);
    assert_eq!(home.mw(["output", &id]).ok(), "red end\n");
    assert_eq!(raw(&home, &id, "both"), b"\x1b[31mred\x1b[0m \x1b]0;title\x07end\n");
}

#[test]
fn a_task_that_closes_its_output_ends_normally() {
    let home = home();
    let id = home.start(&children::close_pipes("go", 5));
    home.until_logged(&id, "before");
    assert_eq!(home.status(&id)["status"], "running");
    home.open("go");
    assert_eq!(home.ended(&id)["exit_code"], 5);
    assert_eq!(home.log(&id), b"before\n");
}

#[test]
fn all_output_is_in_the_log_when_a_wait_returns() {
    let home = home();
    for _ in 0..20 {
        let id = home.start(&children::numbers(2000));
        let _ = home.mw(["wait", &id]).exits(0);
        assert_eq!(home.log(&id).len(), children::numbered(1, 2000).len());
    }
}

#[test]
fn a_page_that_completes_one_stream_has_eof_despite_the_other_stream() {
    let home = home();
    let id = home.start("echo 1; echo 2; echo 3 >&2");
    home.ended(&id);
    let answer = page(&home, &id, &["--offset", "0", "--max-lines", "2", "--stream", "stdout"]);
    assert_eq!((&answer["eof"], &answer["truncated"]), (&Value::from(true), &Value::from(false)), "{answer}");
}

#[test]
fn a_search_in_a_task_that_never_ran_finds_nothing() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let blocker = home.start(&children::gated("go", 0));
    let id = home.start("echo word");
    let search = |run: &[&str]| {
        let answer = home.mw(["output", "--json", &id, "--grep", "word"].iter().chain(run)).exits(0).json();
        answer["matches"].as_array().unwrap().len()
    };
    assert_eq!(search(&[]), 0, "it is queued");
    let _ = home.mw(["kill", &id]).ok();
    assert_eq!(search(&[]), 0, "it was cancelled before it ran");
    home.open("go");
    home.ended(&blocker);
    let _ = home.mw(["restart", &id]).ok();
    home.ended(&id);
    assert_eq!((search(&["--run", "1"]), search(&[])), (0, 1));
    assert_eq!(home.mw(["output", &id, "--run", "1"]).exits(0).text(), "");
}

#[test]
fn a_search_in_a_queued_task_says_that_there_is_no_output_yet() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let _ = home.start(children::SLEEPER);
    let waiting = home.start("echo x");
    let found = home.mw(["output", &waiting, "--grep", "x"]).exits(0);
    assert_eq!(found.text(), "");
    assert!(found.stderr_text().contains("it has no output yet"), "{found}");
}
