//! `--follow`, and reading unread output with a cursor.

use mw_testkit::contract::{OUTPUT_FIELDS, has_fields};
use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

fn unread(home: &Home, id: &str, reader: &str) -> String {
    home.mw(["output", id, "--new", "--reader", reader]).ok()
}

#[test]
fn following_shows_lines_as_they_arrive_and_ends_with_the_task() {
    let home = home();
    let script =
        format!("{}; echo more; {}; echo last; exit 3", children::gate("one"), children::gate("two"));
    let id = home.start(&format!("echo first; {script}"));
    let following = home.command(["output", &id, "--follow"]).spawn();
    wait_until(SOON, "the first line", || (following.printed() == "first\n").then_some(()));
    home.open("one");
    wait_until(SOON, "the next line", || (following.printed() == "first\nmore\n").then_some(()));
    assert!(following.runs());
    home.open("two");
    assert_eq!(following.wait().ok(), "first\nmore\nlast\n");
}

#[test]
fn following_from_the_start_gives_every_byte() {
    let home = home();
    let id = home.start(&children::numbers(300_000));
    let outcome = home.mw(["output", &id, "--follow", "--raw", "--offset", "0"]).exits(0);
    assert!(outcome.stdout == children::numbered(1, 300_000), "{} bytes", outcome.stdout.len());
}

#[test]
fn following_a_finished_task_ends_at_once() {
    let home = home();
    let id = home.start("echo a");
    home.ended(&id);
    assert_eq!(home.mw(["output", &id, "--follow"]).ok(), "a\n");
}

#[test]
fn one_stream_can_be_followed_alone() {
    let home = home();
    let id = home.start(&children::both_streams(200));
    let outcome = home.mw(["output", &id, "--follow", "--offset", "0", "--stream", "stderr"]).exits(0);
    let expected: String = (1..=200).map(|n| format!("err {n}\n")).collect();
    assert_eq!(outcome.text(), expected);
}

#[test]
fn following_begins_with_the_requested_tail() {
    let home = home();
    let script = format!("seq 1 100; {}; echo end", children::gate("go"));
    let id = home.start(&script);
    home.until_logged(&id, "\n100\n");
    let following = home.command(["output", &id, "--follow", "--tail", "2"]).spawn();
    wait_until(SOON, "the tail", || (following.printed() == "99\n100\n").then_some(()));
    home.open("go");
    assert_eq!(following.wait().ok(), "99\n100\nend\n");
}

#[test]
fn a_reader_sees_each_byte_once() {
    let home = home();
    let id = home.start(&format!("echo a; {}; echo b", children::gate("go")));
    home.until_logged(&id, "a\n");
    assert_eq!(unread(&home, &id, "model"), "a\n");
    assert_eq!(unread(&home, &id, "model"), "");
    home.open("go");
    home.ended(&id);
    assert_eq!(unread(&home, &id, "model"), "b\n");
    assert_eq!(unread(&home, &id, "model"), "");
}

#[test]
fn readers_do_not_affect_each_other() {
    let home = home();
    let id = home.start("echo a; echo b");
    home.ended(&id);
    for reader in ["model", "person"] {
        assert_eq!(unread(&home, &id, reader), "a\nb\n");
    }
    assert_eq!(home.mw(["output", &id, "--new"]).ok(), "a\nb\n");
    assert_eq!(home.mw(["output", &id]).ok(), "a\nb\n");
}

#[test]
fn output_beyond_a_limit_stays_unread() {
    let home = home();
    let id = home.start(&children::numbers(500));
    home.ended(&id);
    let mut text = String::new();
    for _ in 0..100 {
        let part = home.mw(["output", &id, "--new", "--reader", "r", "--max-bytes", "100"]).ok();
        if part.is_empty() {
            break;
        }
        text += &part;
    }
    assert!(text.as_bytes() == children::numbered(1, 500), "{} bytes", text.len());
}

#[test]
fn a_new_run_is_unread_from_its_start() {
    let home = home();
    let id = home.start("echo a");
    home.ended(&id);
    assert_eq!(unread(&home, &id, "r"), "a\n");
    let _ = home.mw(["restart", &id]).ok();
    home.ended(&id);
    assert_eq!(unread(&home, &id, "r"), "a\n");
}

#[test]
fn following_into_a_closed_pipe_ends_without_an_error() {
    let home = home();
    let id = home.start("yes | head -c 2000000");
    let script = "\"$0\" output \"$1\" --follow --offset 0 | head -n 1";
    let outcome = home.program("/bin/sh").arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_mw")).arg(&id).run();
    assert_eq!(outcome.ok(), "y\n");
    assert_eq!(outcome.stderr_text(), "");
}

/// Starts a task that prints `€` byte by byte, each at a gate.
fn in_bytes(home: &Home) -> String {
    let (one, two) = (children::gate("one"), children::gate("two"));
    home.start(&format!("printf 'p\\342'; {one}; printf '\\202'; {two}; printf '\\254q\\n'"))
}

fn until_bytes(home: &Home, id: &str, bytes: &[u8]) {
    wait_until(SOON, "the bytes are in the log", || home.log(id).ends_with(bytes).then_some(()));
}

#[test]
fn following_shows_only_complete_characters() {
    let home = home();
    let id = in_bytes(&home);
    let following = home.command(["output", &id, "--follow"]).spawn();
    wait_until(SOON, "the complete character is shown", || (following.printed() == "p").then_some(()));
    home.open("one");
    until_bytes(&home, &id, b"\x82");
    home.open("two");
    assert_eq!(following.wait().ok(), "p€q\n");
}

#[test]
fn reading_shows_only_complete_characters() {
    let home = home();
    let id = in_bytes(&home);
    until_bytes(&home, &id, b"p\xe2");
    let reply = home.mw(["output", "--json", &id, "--new", "--reader", "r"]).exits(0).json();
    assert_eq!((&reply["text"], &reply["truncated"]), (&"p".into(), &false.into()), "{reply}");
    assert_eq!(unread(&home, &id, "r"), "");
    home.open("one");
    until_bytes(&home, &id, b"\x82");
    assert_eq!(unread(&home, &id, "r"), "");
    home.open("two");
    home.ended(&id);
    assert_eq!(unread(&home, &id, "r"), "€q\n");
}

#[test]
fn an_incomplete_character_is_shown_after_the_end() {
    let home = home();
    let id = home.start(&format!("printf 'a\\303'; {}", children::gate("go")));
    until_bytes(&home, &id, b"a\xc3");
    let following = home.command(["output", &id, "--follow", "--raw"]).spawn();
    wait_until(SOON, "the complete character is shown", || (following.printed() == "a").then_some(()));
    home.open("go");
    assert_eq!(following.wait().exits(0).stdout, b"a\xc3");
    // An invalid byte is shown at once.
    let id = home.start(&format!("printf 'a\\377'; {}", children::gate("never")));
    until_bytes(&home, &id, b"a\xff");
    assert_eq!(unread(&home, &id, "r"), "a\u{fffd}");
}

#[test]
fn following_one_stream_joins_characters_split_by_the_other() {
    let home = home();
    let (one, two) = (children::gate("one"), children::gate("two"));
    let id = home.start(&format!("printf 'p\\303'; {one}; echo other >&2; {two}; printf '\\251q\\n'"));
    let following = home.command(["output", &id, "--follow", "--stream", "stdout"]).spawn();
    wait_until(SOON, "the complete character is shown", || (following.printed() == "p").then_some(()));
    home.open("one");
    until_bytes(&home, &id, b"other\n");
    home.open("two");
    assert_eq!(following.wait().ok(), "péq\n");
}

#[test]
fn following_as_json_prints_contiguous_parts_and_eof_on_the_last() {
    let home = home();
    let id = home.start(&format!("echo a; {}; echo b; exit 3", children::gate("go")));
    let following = home.command(["output", "--json", &id, "--follow"]).spawn();
    wait_until(SOON, "the first line", || following.printed().contains('a').then_some(()));
    home.open("go");
    let lines = following.wait().exits(0).json_lines();
    let text: String = lines.iter().map(|line| line["text"].as_str().unwrap()).collect();
    assert_eq!(text, "a\nb\n");
    let mut at = serde_json::json!(0);
    for line in &lines {
        has_fields(line, &OUTPUT_FIELDS);
        assert_eq!(line["offset"], at, "{line}");
        at = line["next_offset"].clone();
    }
    let ends: Vec<_> = lines.iter().map(|line| line["eof"] == true).collect();
    assert_eq!(ends.iter().rposition(|eof| !eof).map_or(0, |at| at + 1), lines.len() - 1, "{lines:?}");
}
