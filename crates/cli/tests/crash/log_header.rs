//! Log headers after kills of the supervisors: there is one, and offsets stay valid.

use std::fs;

use mw_model::wire::LOG_FILE;
use mw_testkit::{Home, children};

use crate::home;

/// Starts a task with a header that prints a line, waits at the gate `go`, and prints another.
fn halfway() -> (Home, String) {
    let home = home().with_env("MEANWHILE_OUTPUT_LOG_HEADER", "true");
    let id = home.start(&format!("echo one; {}; echo two >&2; exit 3", children::gate("go")));
    home.until_logged(&id, "one\n");
    (home, id)
}

#[track_caller]
fn assert_whole(home: &Home, id: &str) {
    let file = fs::read_to_string(home.task_dir(id).join(LOG_FILE)).unwrap();
    assert_eq!(file.lines().filter(|line| line.starts_with("# ")).count(), 4, "{file}");
    assert!(file.lines().take(4).all(|line| line.starts_with("# ")), "{file}");
    assert!(file.ends_with("\none\ntwo\n"), "{file}");
    let answer = home.mw(["output", "--json", id, "--offset", "0"]).exits(0).json();
    assert_eq!((&answer["text"], &answer["next_offset"]), (&"one\ntwo\n".into(), &8.into()), "{answer}");
    assert_eq!(home.status(id)["output_bytes"], 8);
}

#[test]
fn the_header_is_unchanged_after_one_supervisor_was_killed() {
    for guardian in [false, true] {
        let (home, id) = halfway();
        let pair = home.pair(&id);
        home.kill_process(if guardian { pair.guardian } else { pair.supervisor });
        home.open("go");
        assert_eq!(home.ended(&id)["exit_code"], 3);
        assert_whole(&home, &id);
    }
}

#[test]
fn an_adopting_supervisor_writes_no_second_header() {
    let (home, id) = halfway();
    home.kill_supervisors(&id);
    let _ = home.mw(["list", "--json"]).ok();
    home.open("go");
    home.ended(&id);
    assert_whole(&home, &id);
}
