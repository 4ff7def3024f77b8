//! Records that are damaged, newer or older than this build.

use std::fs;

use mw_model::wire::{RESULT_FILE, SPEC_FILE};
use mw_testkit::{Home, SOON, alive, children, fixture};
use serde_json::Value;

use crate::home;

/// Returns a home with one finished task and its id.
fn with_finished() -> (Home, String) {
    let home = home();
    let id = home.start("echo hi; exit 3");
    home.ended(&id);
    home.wait_until_empty(SOON);
    (home, id)
}

fn edit(home: &Home, id: &str, file: &str, change: impl FnOnce(&mut Value)) {
    let path = home.task_dir(id).join(file);
    let mut value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut value);
    fs::write(&path, value.to_string()).unwrap();
}

fn delete_database(home: &Home) {
    home.wait_until_empty(SOON);
    home.delete_database();
}

#[test]
fn a_damaged_spec_is_reported_and_nothing_runs() {
    for garbage in ["", "{", "null", "[1,2]", "{\"version\":1}", "\0\0\0"] {
        let (home, id) = with_finished();
        fs::write(home.task_dir(&id).join(SPEC_FILE), garbage).unwrap();
        let _ = home.mw(["restart", "--json", &id]).refusal(7);
        let task = home.status(&id);
        assert_eq!(
            (&task["status"], &task["exit_code"]),
            (&"failed".into(), &3.into()),
            "{garbage:?}: {task}"
        );
        assert_eq!(fs::read(home.task_dir(&id).join(SPEC_FILE)).unwrap(), garbage.as_bytes());
    }
}

#[test]
fn a_spec_of_a_newer_version_is_reported_and_nothing_runs() {
    let (home, id) = with_finished();
    edit(&home, &id, SPEC_FILE, |spec| spec["version"] = 999.into());
    let error = home.mw(["restart", "--json", &id]).refusal(7);
    assert!(error.to_string().contains("version"), "{error}");
    assert_eq!(home.status(&id)["exit_code"], 3);
}

#[test]
fn a_damaged_spec_does_not_hide_other_tasks() {
    let (home, broken) = with_finished();
    let good = home.start("exit 4");
    home.ended(&good);
    fs::write(home.task_dir(&broken).join(SPEC_FILE), "{").unwrap();
    delete_database(&home);
    let listed = home.list();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!((&listed[0]["id"], &listed[0]["exit_code"]), (&good.into(), &4.into()), "{listed:?}");
}

#[test]
fn a_list_reports_tasks_it_leaves_out_until_they_are_removed() {
    let (home, broken) = with_finished();
    let good = home.start("exit 4");
    home.ended(&good);
    assert_eq!(home.mw(["list"]).exits(0).stderr_text(), "");
    fs::write(home.task_dir(&broken).join(SPEC_FILE), "{").unwrap();
    delete_database(&home);
    for options in [&["list"][..], &["list", "--json"]] {
        let outcome = home.mw(options).exits(0);
        let said = outcome.stderr_text();
        assert!(!outcome.text().contains(&broken) && outcome.text().contains(&good), "{outcome}");
        assert!(said.contains(&broken) && said.contains(SPEC_FILE), "{said}");
        assert!(said.contains(&home.task_dir(&broken).display().to_string()), "{said}");
    }
    fs::remove_dir_all(home.task_dir(&broken)).unwrap();
    assert_eq!(home.mw(["list"]).exits(0).stderr_text(), "");
}

#[test]
fn a_damaged_task_is_named_by_every_command_and_can_be_cleared() {
    for garbage in [Some("{"), Some(""), None] {
        let (home, broken) = with_finished();
        let spec = home.task_dir(&broken).join(SPEC_FILE);
        match garbage {
            Some(garbage) => fs::write(&spec, garbage).unwrap(),
            None => fs::remove_file(&spec).unwrap(),
        }
        delete_database(&home);
        let said = home.mw(["list"]).exits(0).stderr_text();
        assert!(said.contains(&broken) && said.contains("mw clear"), "{garbage:?}: {said}");
        for command in ["status", "output", "restart"] {
            let error = home.mw([command, "--json", &broken]).refusal(7);
            assert_eq!(error["code"], "damaged", "{garbage:?} {command}: {error}");
        }
        assert!(home.task_dir(&broken).exists(), "no other command removes it");
        let report = home.mw(["clear", "--json", &broken]).exits(0).json();
        assert_eq!(report["cleared"], serde_json::json!([broken]), "{garbage:?}");
        assert!(!home.task_dir(&broken).exists());
        assert_eq!(home.mw(["list"]).exits(0).stderr_text(), "");
        let _ = home.mw(["status", "--json", &broken]).refusal(5);
    }
}

#[test]
fn a_damaged_running_task_is_cleared_only_with_kill() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let pid = home.pid(&id);
    fs::write(home.task_dir(&id).join(SPEC_FILE), "").unwrap();
    home.delete_database();
    let refusal = home.mw(["clear", "--json", &id]).refusal(6);
    assert!(refusal["hint"].as_str().unwrap().contains("clear --kill"), "{refusal}");
    assert!(alive(pid) && home.task_dir(&id).exists());
    let report = home.mw(["clear", "--kill", "--json", &id]).exits(0).json();
    assert_eq!(report["cleared"], serde_json::json!([id]), "{report}");
    assert!(!alive(pid) && !home.task_dir(&id).exists());
}

#[test]
fn test_cleanup_old_tasks() {
    let (home, old) = with_finished();
    let new = home.start("true");
    home.ended(&new);
    let ten_days_ago = |result: &mut Value| {
        let ended: mw_model::Timestamp = result["completed_at"].as_str().unwrap().parse().unwrap();
        let then = mw_model::Timestamp::from_micros(ended.as_micros() - 10 * 86_400_000_000);
        result["completed_at"] = serde_json::to_value(then).unwrap();
    };
    edit(&home, &old, RESULT_FILE, ten_days_ago);
    delete_database(&home);
    let report = home.mw(["clear", "--older-than", "7d", "--json"]).exits(0).json();
    assert_eq!(report["cleared"], serde_json::json!([old]), "{report}");
    assert!(!home.task_dir(&old).exists() && home.task_dir(&new).exists());
    assert_eq!(home.list().len(), 1);
}

#[test]
fn a_spec_of_a_newer_version_does_not_hide_other_tasks() {
    let (home, newer) = with_finished();
    let good = home.start("exit 4");
    home.ended(&good);
    edit(&home, &newer, SPEC_FILE, |spec| spec["version"] = 999.into());
    delete_database(&home);
    assert_eq!(home.status(&good)["exit_code"], 4);
    assert!(home.task_dir(&newer).join(SPEC_FILE).exists(), "a spec of a newer version is kept");
}

#[test]
fn a_damaged_spec_of_a_queued_task_does_not_stop_the_queue() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start(&children::gated("go", 0));
    let (second, third) = (home.start("touch second"), home.start("exit 4"));
    fs::write(home.task_dir(&second).join(SPEC_FILE), "{").unwrap();
    home.open("go");
    home.ended(&first);
    assert_eq!(home.ended(&third)["exit_code"], 4);
    let task = home.ended(&second);
    assert_eq!(task["status"], "failed", "{task}");
    assert!(!home.has_file("second"));
}

#[test]
fn a_damaged_exit_record_is_never_a_success() {
    let home = home();
    let id = home.start("exit 0");
    home.ended(&id);
    home.wait_until_empty(SOON);
    fs::write(home.task_dir(&id).join(RESULT_FILE), "{").unwrap();
    delete_database(&home);
    let listed = home.list();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!((&listed[0]["id"], &listed[0]["status"]), (&id.into(), &"lost".into()), "{listed:?}");
}

#[test]
fn unknown_fields_of_a_newer_build_are_ignored() {
    let (home, id) = with_finished();
    for file in [SPEC_FILE, RESULT_FILE] {
        edit(&home, &id, file, |record| {
            record["a_field_nobody_knows"] = 1.into();
        });
    }
    delete_database(&home);
    assert_eq!(home.status(&id)["exit_code"], 3);
    let _ = home.mw(["restart", &id]).ok();
    assert_eq!(home.ended(&id)["exit_code"], 3);
}

#[test]
fn a_task_in_format_1_is_read() {
    let home = home();
    fixture::put_v1(&home);
    let task = home.status(fixture::V1_TASK);
    assert_eq!((&task["status"], &task["exit_code"]), (&"failed".into(), &3.into()), "{task}");
    assert_eq!((&task["session"], &task["name"]), (&"old".into(), &"veteran".into()), "{task}");
    assert_eq!(task["created_at"], "2026-02-09T14:30:22.000123Z", "{task}");
    assert_eq!(home.mw(["output", fixture::V1_TASK]).ok(), "one\ntwo\n");
}

#[test]
fn a_task_in_format_1_can_be_restarted() {
    let home = home();
    fixture::put_v1(&home);
    let _ = home.mw(["restart", fixture::V1_TASK]).ok();
    let task = home.ended(fixture::V1_TASK);
    assert_eq!(task["exit_code"], 3, "{task}");
    assert_eq!(home.log(fixture::V1_TASK), b"one\ntwo\n");
}
