//! opta: `bg_output` and its `OutputSlice`.

use mw_testkit::children::gated;
use serde_json::json;

use crate::opta::{started, until_over, world};

#[test]
fn the_output_reply_has_the_format_of_the_source() {
    let world = world();
    let id = started(&world, "echo line1; echo line2; echo 'warning: w' >&2; exec sleep 600");
    let task = world.task(&id);
    for text in ["line2", "warning"] {
        world.home.until_logged(task.id.as_str(), text);
    }
    let reply = world.done("bg_output", json!({"id": id}));
    assert_eq!(reply.text, "[stdout]\nline1\nline2\n[stderr]\nwarning: w\n");
    assert_eq!(reply.data, json!({"stdout": "line1\nline2", "stderr": "warning: w", "truncated": false}));
    // Without new output the reply is an empty string, every time.
    for _ in 0..3 {
        let again = world.done("bg_output", json!({"id": id}));
        assert_eq!(again.text, "[stdout]\n[stderr]\n");
        assert_eq!(again.data, json!({"stdout": "", "stderr": "", "truncated": false}));
    }
}

#[test]
fn returns_new_output_since_last_read_by_default() {
    let world = world();
    let id = started(&world, &format!("echo line1; {}", gated("go", 0).replace("waiting", "w; echo line2")));
    let task = world.task(&id);
    world.home.until_logged(task.id.as_str(), "line2");
    assert_eq!(world.done("bg_output", json!({"id": id})).data["stdout"], "line1\nw\nline2");
    world.home.open("go");
    until_over(&world, &id);
    let last = world.done("bg_output", json!({"id": id}));
    assert_eq!(last.text, "[stdout]\n[stderr]\n");
    assert_eq!(last.reported, []);
}

#[test]
fn returns_tail_lines_when_since_last_read_is_false() {
    let world = world();
    let id = started(&world, "seq 1 20; seq 101 160 >&2");
    until_over(&world, &id);
    let reply = world.done("bg_output", json!({"id": id, "lines": 5, "since_last_read": false}));
    assert_eq!(reply.data["stdout"], "16\n17\n18\n19\n20");
    assert_eq!(reply.data["stderr"], "156\n157\n158\n159\n160");
    assert_eq!(reply.data["truncated"], true);
    // The default is fifty.
    let reply = world.done("bg_output", json!({"id": id, "since_last_read": false}));
    assert_eq!(reply.data["stdout"].as_str().unwrap().lines().count(), 20);
    assert_eq!(reply.data["stderr"].as_str().unwrap().lines().count(), 50);
}

/// O-022: a read moves only the cursors of the streams it covered.
#[test]
fn a_tail_moves_the_cursors_of_the_streams_it_covered() {
    let world = world();
    let id = started(&world, "seq 1 20; echo e1 >&2");
    until_over(&world, &id);
    world.done("bg_output", json!({"id": id, "lines": 2, "stream": "stdout", "since_last_read": false}));
    let reply = world.done("bg_output", json!({"id": id}));
    assert_eq!((&reply.data["stdout"], &reply.data["stderr"]), (&json!(""), &json!("e1")));
}

#[test]
fn each_stream_has_a_separate_cursor() {
    let world = world();
    let id = started(&world, "echo o1; echo e1 >&2; echo o2");
    until_over(&world, &id);
    let err = world.done("bg_output", json!({"id": id, "stream": "stderr"}));
    assert_eq!(err.text, "[stderr]\ne1\n");
    assert_eq!(err.data["stdout"], "");
    let out = world.done("bg_output", json!({"id": id, "stream": "stdout"}));
    assert_eq!(out.data["stdout"], "o1\no2");
    assert_eq!(world.done("bg_output", json!({"id": id, "stream": "both"})).data["stderr"], "");
}

/// O-025: a reply is bounded, and the remainder is left for the next.
#[test]
fn the_remainder_is_left_for_the_next_read() {
    let world = world();
    let id = started(&world, "seq 1 120; echo e1 >&2");
    until_over(&world, &id);
    let mut seen = Vec::new();
    let mut reads = 0;
    loop {
        let reply = world.done("bg_output", json!({"id": id}));
        let lines: Vec<_> =
            reply.data["stdout"].as_str().unwrap().lines().map(|line| line.parse::<u32>().unwrap()).collect();
        assert!(lines.len() <= 50);
        seen.extend(lines);
        reads += 1;
        let more = reply.data["truncated"] == true;
        assert_eq!(reply.text.contains("more bytes of stdout: call again"), more, "{}", reply.text);
        assert!(reply.reported.is_empty(), "reading output does not report the end");
        if !more {
            break;
        }
    }
    assert_eq!(seen, (1..=120).collect::<Vec<_>>());
    assert_eq!(reads, 3);
    // A read of exactly the available lines leaves nothing, whatever the other stream has after them.
    let id = started(&world, "seq 1 50; echo e1 >&2");
    until_over(&world, &id);
    let reply = world.done("bg_output", json!({"id": id, "stream": "stdout"}));
    assert_eq!(reply.data["truncated"], false);
}

/// O-026.
#[test]
fn readers_have_separate_cursors() {
    let world = world();
    let id = started(&world, "echo line1");
    until_over(&world, &id);
    let scope = meanwhile::Scope::All;
    let request = meanwhile::engine::ReadRequest {
        from: meanwhile::engine::ReadFrom::Cursor("a person".to_owned()),
        stream: meanwhile::engine::StreamChoice::Stdout,
        ..meanwhile::engine::ReadRequest::default()
    };
    assert_eq!(world.runtime.reader().read(&id, &scope, &request).unwrap().text(), "line1\n");
    assert_eq!(world.done("bg_output", json!({"id": id})).data["stdout"], "line1");
}

#[test]
fn blank_lines_partial_lines_and_odd_bytes_are_kept() {
    let world = world();
    let id = started(&world, r"printf 'a\n\nb\n\377\376\nlast'");
    until_over(&world, &id);
    let reply = world.done("bg_output", json!({"id": id}));
    assert_eq!(reply.data["stdout"], "a\n\nb\n\u{fffd}\u{fffd}\nlast");
}

/// O-064: a buffer of 20 bytes loses the older of two lines of 11 bytes.
#[test]
fn the_oldest_lines_of_each_stream_are_dropped_first() {
    let mut world = world();
    world.call_settings.stream_bytes = 20;
    let script = "printf '0123456789\nabcdefghij\n'; printf '9876543210\nABCDEFGHIJ\n' >&2";
    for asked in [json!({}), json!({"since_last_read": false})] {
        let id = started(&world, script);
        until_over(&world, &id);
        let mut asked = asked;
        asked["id"] = id.clone().into();
        let reply = world.done("bg_output", asked);
        let expected = json!({"stdout": "abcdefghij", "stderr": "ABCDEFGHIJ", "truncated": true});
        assert_eq!(reply.data, expected);
    }
    let id = started(&world, script);
    until_over(&world, &id);
    let reply = world.done("bg_output", json!({"id": id, "stream": "stdout"}));
    assert_eq!(reply.text, "[stdout]\n(11 older bytes of stdout omitted)\nabcdefghij\n");
    // Dropped output is not new output: a cursor within the limit is used unchanged.
    let again = world.done("bg_output", json!({"id": id, "stream": "stdout"}));
    assert_eq!(again.data, json!({"stdout": "", "stderr": "", "truncated": false}));
}

/// O-017: output within the limit is complete, to the byte; a longer line is shown from its middle.
#[test]
fn a_shortened_stream_begins_at_a_line_if_possible() {
    let mut world = world();
    for (limit, script, shown, truncated) in [
        (22, r"printf '0123456789\nabcdefghij\n'", "0123456789\nabcdefghij", false),
        (21, r"printf '0123456789\nabcdefghij\n'", "abcdefghij", true),
        (11, r"printf '0123456789\nabcdefghij\n'", "abcdefghij", true),
        // Text without a final newline counts as a line.
        (10, r"printf '0123456789\nabcdefghij'", "abcdefghij", true),
        (5, r"printf '0123456789\nabcdefghij'", "fghij", true),
        (5, r"printf '0123456789\nabcdefghij\n'", "ghij", true),
        (0, r"printf '0123456789\nabcdefghij\n'", "0123456789\nabcdefghij", false),
        // Output of the other stream does not count.
        (12, r"printf 01234; printf eeeeeeeeee >&2; printf '56789\nabcdefghij\n'", "abcdefghij", true),
    ] {
        world.call_settings.stream_bytes = limit;
        let id = started(&world, script);
        until_over(&world, &id);
        let reply = world.done("bg_output", json!({"id": id, "stream": "stdout"}));
        assert_eq!(reply.data["stdout"], shown, "{limit}: {script}");
        assert_eq!(reply.data["truncated"], truncated, "{limit}: {script}");
    }
}

/// O-064: the last two of five lines, six bytes for `hello` and its newline, a line that is not complete.
#[test]
fn lines_and_bytes_are_counted_as_in_the_source() {
    let world = world();
    let id = started(&world, r"printf 'a\nb\nc\nd\ne\n'");
    until_over(&world, &id);
    let last = world.done("bg_output", json!({"id": id, "lines": 2, "since_last_read": false}));
    assert_eq!(last.data["stdout"], "d\ne");
    let id = started(&world, "echo hello");
    until_over(&world, &id);
    assert_eq!(world.task(&id).output_bytes, 6);
    let id = started(&world, r"printf 'whole\npart'");
    until_over(&world, &id);
    let last = world.done("bg_output", json!({"id": id, "lines": 1, "since_last_read": false}));
    assert_eq!(last.data["stdout"], "part");
}
