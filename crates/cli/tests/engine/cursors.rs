//! Output cursors, per reader and per stream.

use mw_testkit::{Home, children};

use crate::home;

/// Returns the unread output of a stream.
fn unread(home: &Home, id: &str, reader: &str, stream: &str) -> String {
    home.mw(["output", id, "--new", "--reader", reader, "--stream", stream]).ok()
}

/// Starts a task that has printed on both streams, and prints again when its gate opens.
fn talker(home: &Home) -> String {
    let more = format!("{}; echo out 2; echo err 2 >&2", children::gate("go"));
    let id = home.start(&format!("echo out 1; echo err 1 >&2; {more}"));
    home.until_logged(&id, "out 1\n");
    home.until_logged(&id, "err 1\n");
    id
}

#[test]
fn reading_a_stream_moves_only_that_readers_cursor_of_that_stream() {
    let home = home();
    let id = talker(&home);
    assert_eq!(unread(&home, &id, "a", "stdout"), "out 1\n");
    assert_eq!(unread(&home, &id, "a", "stdout"), "");
    assert_eq!(unread(&home, &id, "a", "stderr"), "err 1\n");
    assert_eq!(unread(&home, &id, "b", "stdout"), "out 1\n");
    assert_eq!(unread(&home, &id, "b", "stderr"), "err 1\n");
}

#[test]
fn each_reader_continues_at_its_cursor_on_each_stream() {
    let home = home();
    let id = talker(&home);
    assert_eq!(unread(&home, &id, "a", "stdout"), "out 1\n");
    assert_eq!(unread(&home, &id, "b", "stderr"), "err 1\n");
    home.open("go");
    home.ended(&id);
    assert_eq!(unread(&home, &id, "a", "stdout"), "out 2\n");
    assert_eq!(unread(&home, &id, "a", "stderr"), "err 1\nerr 2\n");
    assert_eq!(unread(&home, &id, "b", "stderr"), "err 2\n");
    assert_eq!(unread(&home, &id, "b", "stdout"), "out 1\nout 2\n");
    for (reader, stream) in [("a", "stdout"), ("a", "stderr"), ("b", "stdout"), ("b", "stderr")] {
        assert_eq!(unread(&home, &id, reader, stream), "", "{reader} {stream}");
    }
}

#[test]
fn reading_both_streams_has_a_separate_cursor() {
    let home = home();
    let id = talker(&home);
    assert_eq!(unread(&home, &id, "a", "stdout"), "out 1\n");
    let both = unread(&home, &id, "a", "both");
    assert!(both.contains("out 1\n") && both.contains("err 1\n"), "{both}");
    assert_eq!(unread(&home, &id, "a", "both"), "");
    assert_eq!(unread(&home, &id, "a", "stderr"), "err 1\n");
}

#[test]
fn reading_without_new_moves_no_cursor() {
    let home = home();
    let id = talker(&home);
    for options in [["--offset", "0"], ["--tail", "9"], ["--stream", "stdout"], ["--max-lines", "1"]] {
        let _ = home.mw(["output", &id].iter().chain(&options)).ok();
    }
    let _ = home.status(&id);
    assert_eq!(unread(&home, &id, "cli", "stdout"), "out 1\n");
    assert_eq!(unread(&home, &id, "cli", "stderr"), "err 1\n");
}

#[test]
fn a_stream_read_in_small_parts_is_complete() {
    let home = home();
    let id = home.start(&children::both_streams(100));
    home.ended(&id);
    for (stream, word) in [("stderr", "err"), ("stdout", "out")] {
        let mut text = String::new();
        for _ in 0..200 {
            let args = ["output", &id, "--new", "--reader", "r", "--stream", stream, "--max-bytes", "50"];
            let part = home.mw(args).ok();
            if part.is_empty() {
                break;
            }
            text += &part;
        }
        let expected: String = (1..=100).map(|number| format!("{word} {number}\n")).collect();
        assert_eq!(text, expected);
    }
}

#[test]
fn cursors_are_kept_per_task() {
    let home = home();
    let (one, other) = (home.start("echo a"), home.start("echo b"));
    home.ended(&one);
    home.ended(&other);
    assert_eq!(unread(&home, &one, "r", "stdout"), "a\n");
    assert_eq!(unread(&home, &other, "r", "stdout"), "b\n");
    assert_eq!(unread(&home, &one, "r", "stdout"), "");
}

#[test]
fn a_new_run_is_unread_on_every_stream() {
    let home = home();
    let id = home.start("echo a; echo b >&2");
    home.ended(&id);
    for _ in 0..2 {
        assert_eq!(unread(&home, &id, "r", "stdout"), "a\n");
        assert_eq!(unread(&home, &id, "r", "stderr"), "b\n");
        let _ = home.mw(["restart", &id]).ok();
        home.ended(&id);
    }
}
