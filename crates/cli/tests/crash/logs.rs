//! Logs that were truncated, deleted or replaced.

use std::fs::{self, OpenOptions};

use mw_model::wire::{INDEX_FILE, LOG_FILE};
use mw_testkit::{Home, children};

use crate::home;

fn cut(home: &Home, id: &str, file: &str, length: u64) {
    let path = home.task_dir(id).join(file);
    OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
}

#[test]
fn a_log_deleted_after_the_end_is_reported() {
    let home = home();
    let id = home.start("echo hi; exit 3");
    home.ended(&id);
    fs::remove_file(home.task_dir(&id).join(LOG_FILE)).unwrap();
    let outcome = home.mw(["output", "--json", &id]);
    assert!(!matches!(outcome.code, Some(0 | 101) | None), "{outcome}");
    let code = outcome.code.unwrap();
    let _ = outcome.refusal(code);
    let task = home.mw(["list", "--json"]).exits(0).json()["tasks"][0].clone();
    assert_eq!(task["exit_code"], 3, "{task}");
}

#[test]
fn a_log_truncated_after_the_end_is_not_reported_as_complete() {
    let home = home();
    let id = home.start(&children::numbers(1000));
    home.ended(&id);
    cut(&home, &id, LOG_FILE, 100);
    let outcome = home.mw(["output", "--json", &id, "--offset", "0"]);
    if outcome.code == Some(0) {
        let answer = outcome.json();
        assert_eq!(answer["truncated"], true, "{answer}");
        assert!(children::numbered(1, 1000).starts_with(answer["text"].as_str().unwrap().as_bytes()));
    } else {
        let code = outcome.code.unwrap();
        assert_ne!(code, 101, "{outcome}");
        let _ = outcome.refusal(code);
    }
}

#[test]
fn truncating_the_log_of_a_running_task_neither_kills_nor_blocks_it() {
    let home = home();
    let id = home.start(&format!("seq 1 1000; {}; echo after; exit 3", children::gate("go")));
    home.until_logged(&id, "\n1000\n");
    cut(&home, &id, LOG_FILE, 0);
    home.open("go");
    let task = home.ended(&id);
    assert_eq!(task["exit_code"], 3, "{task}");
    assert!(String::from_utf8_lossy(&home.log(&id)).contains("after"), "later output is kept");
    let outcome = home.mw(["output", "--json", &id]);
    assert_ne!(outcome.code, Some(101), "{outcome}");
}

#[test]
fn deleting_the_log_of_a_running_task_neither_kills_nor_blocks_it() {
    let home = home();
    let id = home.start(&format!("echo before; {}; seq 1 100000; exit 3", children::gate("go")));
    home.until_logged(&id, "before");
    fs::remove_file(home.task_dir(&id).join(LOG_FILE)).unwrap();
    home.open("go");
    let task = home.mw(["wait", "--json", &id]).exits(3).json()["tasks"][0].clone();
    assert_eq!(task["status"], "failed", "{task}");
    let outcome = home.mw(["output", "--json", &id]);
    assert_ne!(outcome.code, Some(101), "{outcome}");
}

#[test]
fn a_log_replaced_while_the_task_runs_gets_later_output() {
    let home = home();
    let script = format!("echo before; {}; echo after; echo more >&2; exit 3", children::gate("go"));
    let id = home.start(&script);
    home.until_logged(&id, "before");
    // As an editor or `sed -i` saves a file.
    let (edited, log) = (home.task_dir(&id).join("edited"), home.task_dir(&id).join(LOG_FILE));
    fs::write(&edited, "replaced by somebody, and longer than before\n").unwrap();
    fs::rename(edited, log).unwrap();
    home.open("go");
    let task = home.ended(&id);
    assert_eq!((&task["exit_code"], &task["dropped_bytes"]), (&3.into(), &7.into()), "{task}");
    let log = String::from_utf8(home.log(&id)).unwrap();
    assert!(log.contains("after\n") && log.contains("more\n") && !log.contains("somebody"), "{log}");
}

#[test]
fn deleting_a_capped_log_neither_kills_nor_blocks_the_task() {
    let home = home();
    let script = format!("echo before; {}; seq 1 100000; exit 3", children::gate("go"));
    let id = home.start_with(&["--cap", "20KiB"], &script);
    home.until_logged(&id, "before");
    fs::remove_file(home.task_dir(&id).join(LOG_FILE)).unwrap();
    home.open("go");
    let _ = home.mw(["wait", &id]).exits(3);
}

#[test]
fn a_log_without_its_index_can_be_read() {
    let home = home();
    let id = home.start(&format!("echo first >&2; {}", children::numbers(1000)));
    home.ended(&id);
    fs::remove_file(home.task_dir(&id).join(INDEX_FILE)).unwrap();
    // The order between two pipes is undefined.
    let output = home.mw(["output", &id, "--tail", "3"]).ok();
    assert!(output.contains("999\n1000\n"), "{output}");
}

#[test]
fn reading_a_log_with_a_damaged_index_does_not_panic() {
    for length in [1, 31, 32, 40] {
        let home = home();
        let id = home.start(&children::both_streams(50));
        home.ended(&id);
        cut(&home, &id, INDEX_FILE, length);
        let outcome = home.mw(["output", "--json", &id, "--offset", "0"]);
        assert_ne!(outcome.code, Some(101), "{outcome}");
        assert!(outcome.code.is_some(), "{outcome}");
        let outcome = home.mw(["output", "--json", &id, "--stream", "stderr"]);
        assert_ne!(outcome.code, Some(101), "{outcome}");
    }
}

#[test]
fn a_deleted_task_directory_is_reported() {
    let home = home();
    let id = home.start("exit 3");
    home.ended(&id);
    home.wait_until_empty(mw_testkit::SOON);
    fs::remove_dir_all(home.task_dir(&id)).unwrap();
    for args in [&["output", "--json", &id][..], &["restart", "--json", &id]] {
        let outcome = home.mw(args);
        assert!(!matches!(outcome.code, Some(0 | 101) | None), "{outcome}");
        let code = outcome.code.unwrap();
        let _ = outcome.refusal(code);
    }
    let _ = home.mw(["clear", "--finished"]).ok();
    assert_eq!(home.list().len(), 0);
}
