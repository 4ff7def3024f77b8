//! The output cap: a head, one marker with the exact count, and a current tail.

use mw_model::wire::drop_marker;
use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

/// Checks that `log` is the beginning of `full`, a marker, and the bytes after the dropped ones; returns the
/// number of dropped bytes, 0 when there is no marker.
#[track_caller]
fn dropped_in(log: &[u8], full: &[u8]) -> u64 {
    let head = log.iter().zip(full).take_while(|(a, b)| a == b).count();
    if head == log.len() {
        return 0;
    }
    let begin = "\n…(".as_bytes();
    // The head may end with the line break that the marker begins with.
    let place = (head.saturating_sub(begin.len())..=head).find(|at| log[*at..].starts_with(begin));
    let Some(at) = place else {
        panic!("no marker at {head} of {} bytes", log.len());
    };
    let digits: String = log[at + begin.len()..]
        .iter()
        .map_while(|byte| byte.is_ascii_digit().then_some(char::from(*byte)))
        .collect();
    let count: u64 = digits.parse().unwrap();
    let marker = drop_marker(count);
    assert!(log[at..].starts_with(marker.as_bytes()), "the marker is not complete");
    let tail = &log[at + marker.len()..];
    let from = at + usize::try_from(count).unwrap();
    assert!(
        full.get(from..).is_some_and(|rest| rest.starts_with(tail)),
        "the tail differs from the output after the gap"
    );
    count
}

fn capped(home: &Home, cap: &str, last: u64) -> (String, Vec<u8>) {
    let id = home.start_with(&["--cap", cap], &children::numbers(last));
    (id, children::numbered(1, last))
}

#[test]
fn a_capped_log_has_head_marker_and_tail_with_the_exact_count() {
    let home = home();
    let (id, full) = capped(&home, "64KiB", 300_000);
    let task = home.ended(&id);
    let log = home.log(&id);
    let dropped = dropped_in(&log, &full);
    assert_eq!(task["exit_code"], 0, "{task}");
    assert_eq!(task["dropped_bytes"], dropped, "{task}");
    assert_eq!(task["output_bytes"], full.len(), "{task}");
    assert!(log.len() <= (64 << 10) + drop_marker(dropped).len(), "{} bytes", log.len());
    assert!(log.len() >= 32 << 10, "only {} bytes are left", log.len());
    assert!(log.starts_with(b"1\n2\n3\n"), "no head");
    assert!(log.ends_with(b"299999\n300000\n"), "no tail");
    assert_eq!(full.len() as u64 - dropped, (log.len() - drop_marker(dropped).len()) as u64);
}

#[test]
fn output_within_the_cap_is_complete() {
    let home = home();
    let (id, full) = capped(&home, "64KiB", 5000);
    let task = home.ended(&id);
    assert_eq!(task["dropped_bytes"], 0, "{task}");
    assert!(home.log(&id) == full, "the log differs");
}

#[test]
fn the_capped_file_is_consistent_at_any_time() {
    let home = home();
    let (id, full) = capped(&home, "256KiB", 2_000_000);
    let mut seen = 0;
    wait_until(SOON, "the last line", || {
        let log = home.log(&id);
        let dropped = dropped_in(&log, &full);
        assert!(dropped >= seen, "dropped bytes came back");
        seen = dropped;
        log.ends_with(b"\n2000000\n").then_some(())
    });
    assert!(seen > 0, "nothing was ever dropped");
}

#[test]
fn the_tail_is_current_while_the_task_runs() {
    let home = home();
    let script = format!("{}; echo marked; {}", children::numbers(100_000), children::gate("go"));
    let id = home.start_with(&["--cap", "32KiB"], &script);
    home.until_logged(&id, "marked");
    let text = home.mw(["output", &id, "--tail", "2"]).ok();
    assert_eq!(text, "100000\nmarked\n");
    let task = home.status(&id);
    assert_eq!(task["status"], "running", "{task}");
    assert!(task["dropped_bytes"].as_u64().unwrap() > 0, "{task}");
    home.open("go");
    home.ended(&id);
}

#[test]
fn offsets_stay_valid_after_the_gap() {
    let home = home();
    let (id, full) = capped(&home, "64KiB", 300_000);
    home.ended(&id);
    let from = full.len() - 1000;
    let place = from.to_string();
    let answer = home.mw(["output", "--json", &id, "--offset", &place, "--max-bytes", "100"]).json();
    assert_eq!(answer["text"].as_str().unwrap().as_bytes(), &full[from..from + 100], "{answer}");
    assert_eq!(answer["offset"], from, "{answer}");
    assert_eq!(answer["next_offset"], from + 100, "{answer}");
}

#[test]
fn reading_continues_after_the_gap_to_the_end() {
    let home = home();
    let (id, full) = capped(&home, "64KiB", 300_000);
    let dropped = home.ended(&id)["dropped_bytes"].as_u64().unwrap();
    let (mut offset, mut delivered) = (0, 0);
    for _ in 0..100 {
        let place = offset.to_string();
        let answer = home.mw(["output", "--json", &id, "--offset", &place, "--max-bytes", "20000"]).json();
        let next = answer["next_offset"].as_u64().unwrap();
        assert!(next > offset, "no progress: {answer}");
        delivered = delivered.max(answer["dropped_bytes"].as_u64().unwrap());
        offset = next;
        if answer["eof"] == true {
            break;
        }
    }
    assert_eq!(offset, full.len() as u64);
    assert_eq!(delivered, dropped);
}

#[test]
fn the_streams_share_one_cap_and_one_count() {
    let home = home();
    let bytes = 2 << 20;
    let id = home.start_with(&["--cap", "100KiB"], &children::fill_both(bytes));
    let task = home.ended(&id);
    let dropped = task["dropped_bytes"].as_u64().unwrap();
    let kept = home.log(&id).len() - drop_marker(dropped).len();
    assert_eq!(task["output_bytes"], 2 * bytes, "{task}");
    assert_eq!(dropped + kept as u64, 2 * bytes);
}

#[test]
fn one_line_of_100_mb_neither_kills_nor_blocks_its_task() {
    let home = home();
    let bytes = 100_000_000;
    let id = home.start(&children::one_line(bytes));
    let task = home.ended(&id);
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["output_bytes"], bytes, "{task}");
    let dropped = task["dropped_bytes"].as_u64().unwrap();
    let log = home.log(&id);
    assert!(log.len() <= (10 << 20) + drop_marker(dropped).len(), "{} bytes", log.len());
    assert_eq!(dropped + (log.len() - drop_marker(dropped).len()) as u64, bytes);
    let outcome = home.mw(["output", &id, "--tail", "1"]).exits(0);
    assert!(outcome.stdout.len() <= 1 << 20, "a tail of {} bytes", outcome.stdout.len());
}

#[test]
fn a_cap_of_zero_keeps_all_output() {
    let home = home();
    let bytes = 30_000_000;
    let id = home.start_with(&["--cap", "0"], &children::one_line(bytes));
    let task = home.ended(&id);
    assert_eq!(task["dropped_bytes"], 0, "{task}");
    assert_eq!(home.log(&id).len() as u64, bytes);
}

#[test]
fn the_cap_can_be_a_setting() {
    let home = home().with_env("MEANWHILE_OUTPUT_CAP", "32768");
    let id = home.start(&children::numbers(100_000));
    let task = home.ended(&id);
    let dropped = task["dropped_bytes"].as_u64().unwrap();
    assert!(dropped > 0, "{task}");
    assert!(home.log(&id).len() <= 32768 + drop_marker(dropped).len());
}

#[test]
fn a_small_cap_is_respected() {
    let home = home();
    let (id, full) = capped(&home, "1000", 10_000);
    let task = home.ended(&id);
    let log = home.log(&id);
    let dropped = dropped_in(&log, &full);
    assert_eq!(task["dropped_bytes"], dropped, "{task}");
    assert!(log.ends_with(b"10000\n"), "no tail");
    assert!(log.len() <= 1000 + drop_marker(dropped).len(), "{} bytes", log.len());
}

#[test]
fn a_task_that_exceeds_its_cap_tenfold_still_gives_one_notification() {
    let home = home();
    let script = children::one_line(41_000);
    let start =
        home.command(["start", "--json", "--cap", "4096", &script]).session("s").run().exits(0).json();
    let task = home.ended(start["id"].as_str().unwrap());
    assert_eq!(task["exit_code"], 0, "{task}");
    assert!(task["dropped_bytes"].as_u64().unwrap() > 9 * 4096, "{task}");
    let delivered = home.mw(["notices", "--session", "s", "--json"]).json();
    assert_eq!(delivered["notices"].as_array().map(Vec::len), Some(1), "{delivered}");
    assert_eq!(delivered["notices"][0]["task"], task["id"], "{delivered}");
}
