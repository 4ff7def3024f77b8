//! Finished tasks are removed by age, number and size; running and undelivered ones are kept.

use mw_testkit::host::Host;
use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::Value;

use crate::home;
use crate::settings::both_ways;

fn ended(home: &Home, script: &str) -> String {
    let id = home.start(script);
    home.ended(&id);
    id
}

fn expire(home: &Home) -> Vec<String> {
    let report = home.mw(["clear", "--expired", "--json"]).exits(0).json();
    report["cleared"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

fn exists(home: &Home, id: &str) -> bool {
    home.task_dir(id).exists()
}

#[test]
fn retention_max_age_takes_effect_and_keeps_running_tasks() {
    for home in both_ways("retention.max_age", "1ms") {
        let old = ended(&home, "true");
        let live = home.start(children::SLEEPER);
        assert_eq!(expire(&home), [old.as_str()]);
        assert!(!exists(&home, &old) && exists(&home, &live));
        home.mw(["kill", &live]).ok();
    }
    let home = home();
    let young = ended(&home, "true");
    assert!(expire(&home).is_empty(), "a week has not passed");
    assert!(exists(&home, &young));
}

/// co-cli does this when it starts.
#[test]
fn a_starting_server_removes_tasks_that_are_too_old() {
    let home = home();
    let old = ended(&home, "true");
    let home = home.with_env("MEANWHILE_RETENTION_MAX_AGE", "1ms");
    let _server = Host::new(&home);
    wait_until(SOON, "the old task is removed", || (!exists(&home, &old)).then_some(()));
}

#[test]
fn retention_automatic_takes_effect_when_a_server_starts() {
    for home in both_ways("retention.automatic", "false") {
        let home = home.with_env("MEANWHILE_RETENTION_MAX_AGE", "1ms");
        let old = ended(&home, "true");
        // Several servers, because a removal in the background may take a while.
        for _ in 0..5 {
            let mut server = Host::new(&home);
            let _ = server.call("task_list", &serde_json::json!({}));
        }
        assert!(exists(&home, &old), "automatic removal is off");
        let home = home.with_env("MEANWHILE_RETENTION_AUTOMATIC", "true");
        let _server = Host::new(&home);
        wait_until(SOON, "the old task is removed", || (!exists(&home, &old)).then_some(()));
    }
}

#[test]
fn retention_max_tasks_takes_effect_on_the_oldest() {
    for home in both_ways("retention.max_tasks", "2") {
        let ids = [(); 5].map(|()| ended(&home, "true"));
        assert_eq!(expire(&home), ids[..3]);
        assert!(expire(&home).is_empty());
    }
}

#[test]
fn retention_max_disk_takes_effect_on_the_oldest() {
    for home in both_ways("retention.max_disk", "1048576") {
        let ids = [(); 4].map(|()| ended(&home, &children::one_line(400_000)));
        assert_eq!(expire(&home), ids[..2], "two of them fit");
    }
}

#[test]
fn a_task_with_an_undelivered_notification_is_kept() {
    let home = home().with_env("MEANWHILE_RETENTION_MAX_AGE", "1ms");
    let started = home.command(["start", "--json", "true"]).session("s").run().json();
    let id = started["id"].as_str().unwrap().to_owned();
    home.ended(&id);
    assert!(expire(&home).is_empty());
    let delivered: Value = home.mw(["notices", "--session", "s", "--json"]).json();
    assert_eq!(delivered["notices"][0]["task"], id.as_str());
    assert_eq!(expire(&home), [id.as_str()]);
}

#[test]
fn retention_does_not_follow_links_in_a_task_directory() {
    let home = home().with_env("MEANWHILE_RETENTION_MAX_AGE", "1ms");
    let id = ended(&home, "true");
    let outside = home.work().join("kept");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("file"), "x").unwrap();
    std::os::unix::fs::symlink(&outside, home.task_dir(&id).join("link")).unwrap();
    assert_eq!(expire(&home), [id.as_str()]);
    assert!(outside.join("file").exists());
}
