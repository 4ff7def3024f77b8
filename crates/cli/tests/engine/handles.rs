//! Ids, prefixes and handles of a task.

use mw_model::{TaskId, Timestamp, long_handle};

use crate::home;

#[test]
fn a_task_is_found_by_id_by_prefix_and_by_id_without_its_kind() {
    let home = home();
    let id = home.start("true");
    let suffix = id.strip_prefix("bash-").unwrap();
    for handle in [id.as_str(), &id[..9], "bash-", suffix] {
        assert_eq!(home.status(handle)["id"], id.as_str(), "{handle}");
    }
}

#[test]
fn a_task_is_found_by_its_number() {
    let home = home();
    let ids = [home.start("true"), home.start("true")];
    assert_eq!(home.status("bash_1")["id"], ids[0].as_str());
    assert_eq!(home.status("bash_2")["id"], ids[1].as_str());
}

#[test]
fn a_task_is_found_by_time_and_program() {
    let home = home();
    let id = home.start("sleep 0");
    let task = home.ended(&id);
    let created: Timestamp = task["created_at"].as_str().unwrap().parse().unwrap();
    let parsed: TaskId = id.parse().unwrap();
    let handle = long_handle(created, "sleep", &parsed);
    assert_eq!(home.status(&handle)["id"], id.as_str(), "{handle}");
    // The id of co-cli does not end with letters of the task id.
    let short = handle.rsplit_once('_').unwrap().0;
    assert_eq!(home.status(short)["id"], id.as_str(), "{short}");
}

#[test]
fn an_ambiguous_prefix_is_refused() {
    let home = home();
    let ids = [home.start("true"), home.start("true")];
    let error = home.mw(["status", "--json", "bash-"]).refusal(5);
    let text = error.to_string();
    assert!(ids.iter().any(|id| text.contains(id.as_str())), "no candidate is named: {error}");
}

#[test]
fn a_name_that_equals_an_id_is_refused() {
    let home = home();
    let id = home.start("true");
    // It would hide the task of that id.
    let error = home.mw(["start", "--json", "--name", &id, "true"]).refusal(2);
    assert!(error["message"].as_str().unwrap().contains("looks like an id"), "{error}");
    assert_eq!(home.status(&id)["id"], id.as_str());
    assert_eq!(home.list().len(), 1);
}

#[test]
fn a_prefix_of_fewer_than_four_characters_changes_no_task() {
    let home = home();
    let id = home.start(mw_testkit::children::SLEEPER);
    let suffix = id.strip_prefix("bash-").unwrap();
    for short in [&suffix[..1], &suffix[..3], "bash-", &id[..8], "b"] {
        for action in [&["kill"][..], &["clear", "--kill"], &["restart"], &["input", "--eof"], &["attach"]] {
            let words = [action, &["--json", short]].concat();
            let refusal = home.mw(words).refusal(2).to_string();
            assert!(refusal.contains(&id) && refusal.contains("too short"), "{action:?} {short}: {refusal}");
        }
        assert_eq!(home.status(short)["status"], "running", "{short}");
    }
    let _ = home.mw(["kill", &suffix[..4]]).ok();
    assert_eq!(home.status(&id)["status"], "cancelled");
}
