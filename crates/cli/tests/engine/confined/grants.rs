//! Which grant a task gets, and what is said about it.

use std::fs;

use mw_testkit::Home;

use super::{Outside, PROJECT, confined, confining};
use crate::approval::{SESSION, open};
use crate::home;
use crate::settings::{both_ways, variable};

#[test]
fn a_start_that_cannot_be_confined_is_refused() {
    let home = home().with_env("MEANWHILE_LACKS", "landlock");
    let refused = home.command(["start", "--json", "--confine", "project", "echo ran > ran"]).run();
    let refusal = refused.refusal(1);
    assert!(refusal.to_string().contains("cannot be confined: landlock"), "{refusal}");
    assert!(!home.has_file("ran"));
    home.mw(["start", "true"]).ok();
}

/// As in a container that shares the home, or after a change of the system's settings.
#[test]
fn a_kernel_that_confines_less_than_it_did_is_asked_again() {
    let home = confining().gated();
    let start = |lacks: &str| models(&home, "python3 x.py").env("MEANWHILE_LACKS", lacks).run();
    let _ = start("").exits(0);
    // What was found out is still believed, and the supervisor refuses.
    assert!(start("namespaces").exits(1).text().contains("cannot be confined"));
    let _ = start("namespaces").exits(3);
}

#[test]
fn a_failure_of_the_confinement_is_recognised() {
    let home = confining();
    let outside = Outside::new();
    let script = format!("echo x > {}/new", outside.show());
    let (_, task) = confined(&home, &PROJECT, &script);
    assert!(task["confined"]["refused"].as_str().unwrap().contains("Read-only file system"), "{task}");
    let text = home.mw(["status", task["id"].as_str().unwrap()]).ok();
    assert!(text.contains("retry with approval"), "{text}");
    let (_, task) = confined(&home, &PROJECT, "exit 3");
    assert!(task["confined"].get("refused").is_none(), "{task}");
}

fn models(home: &Home, script: &str) -> mw_testkit::Invocation {
    home.command(["start", "--json", script])
        .session(SESSION)
        .env("MEANWHILE_MODE", "safe")
        .env(variable("approval.wait"), "50ms")
}

#[test]
fn what_a_model_starts_gets_the_grant_of_its_verdict() {
    let home = confining();
    fs::write(home.work().join("precious"), "x").unwrap();
    let started = models(&home, "cat precious").run().json();
    let task = home.ended(started["id"].as_str().unwrap());
    assert!(task["confined"]["grant"].as_str().unwrap().contains("no network"), "{task}");
    assert_eq!(task["confined"]["by"].as_array().unwrap().len(), 3, "{task}");
    let asked = models(&home, "# ask: the compiler of the system\ncat precious").run();
    assert_eq!(asked.code, Some(3), "{}", asked.stderr_text());
    let entry = &open(&home)[0];
    assert_eq!(entry["grant"], "may do everything that you may", "{entry}");
    home.mw(["approve", entry["id"].as_str().unwrap()]).ok();
    let started = models(&home, "# ask: the compiler of the system\ncat precious").run().json();
    let task = home.ended(started["id"].as_str().unwrap());
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["confined"]["by"].as_array().unwrap().len(), 0, "{task}");
}

#[test]
fn a_confined_task_reports_its_grant_when_it_is_restarted() {
    let home = confining();
    let (_, task) = confined(&home, &PROJECT, "true");
    let id = task["id"].as_str().unwrap();
    home.mw(["restart", id]).ok();
    let again = home.ended(id);
    assert_eq!(again["confined"], task["confined"], "{again}");
}

#[test]
fn confine_user_takes_effect() {
    drop(confining());
    for home in both_ways("confine.user", "project") {
        let (_, task) = confined(&home, &[], "true");
        assert_eq!(task["confined"]["by"].as_array().unwrap().len(), 3, "{task}");
        let (_, task) = confined(&home, &["--confine", "none"], "true");
        assert!(task.get("confined").is_none(), "{task}");
    }
}

#[test]
fn confine_models_takes_effect() {
    let usual = confining().gated();
    let started = |home: &Home| {
        let wait = variable("approval.wait");
        let started = home.command(["start", "--json", "ls"]).session(SESSION).env(wait, "50ms").run().json();
        home.ended(started["id"].as_str().unwrap())
    };
    let task = started(&usual);
    assert_eq!(task["confined"]["by"].as_array().unwrap().len(), 3, "{task}");
    let (_, own) = confined(&usual, &[], "true");
    assert!(own.get("confined").is_none(), "{own}");
    for home in both_ways("confine.models", "false") {
        let task = started(&home);
        assert!(task.get("confined").is_none(), "{task}");
    }
}
