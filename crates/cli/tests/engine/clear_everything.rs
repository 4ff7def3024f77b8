//! `mw clear --everything`, before meanwhile is uninstalled.

use std::fs;

use mw_testkit::{SOON, children};
use serde_json::json;

use crate::home;

#[test]
fn everything_goes_with_the_home_and_leaves_no_process() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let ended = home.start("exit 3");
    home.ended(&ended);
    let running = home.start(&format!("{}\nexec sleep 600", children::leave_setsid("kid")));
    let (first, kid) = (home.pid(&running), home.pid_in("kid"));
    let other = home
        .command(["start", "--json", "--lifetime", "detached", children::SLEEPER])
        .session("other")
        .run()
        .json();
    let queued = [home.start("touch ran"), home.start("touch ran")];
    for name in ["serve.key", "confinement.json", "hooks.log", "hooks.log.old"] {
        fs::write(home.state().join(name), "").unwrap();
    }
    let report = home.mw(["clear", "--everything", "--json"]).exits(0).json();
    assert_eq!((&report["kept"], &report["left"]), (&json!([]), &json!([])), "{report}");
    let cleared = report["cleared"].as_array().unwrap();
    for id in [&ended, &running, &queued[0], &queued[1]] {
        assert!(cleared.iter().any(|one| one == id.as_str()), "{id}: {report}");
    }
    assert!(cleared.contains(&other["id"]), "{report}");
    assert!(!home.state().exists());
    home.until_dead(first);
    home.until_dead(kid);
    home.wait_until_empty(SOON);
    assert!(!home.has_file("ran"), "a queued task ran");
    let again = home.mw(["clear", "--everything"]).ok();
    assert!(again.contains("does not exist"), "{again}");
}

#[test]
fn what_meanwhile_did_not_make_is_left_and_named() {
    let home = home();
    let _ = home.ended(&home.start("true"));
    fs::write(home.state().join("mine.txt"), "mine").unwrap();
    let outcome = home.mw(["clear", "--everything"]);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    assert!(outcome.to_string().contains("mine.txt: meanwhile did not make it"), "{outcome}");
    let left: Vec<_> = fs::read_dir(home.state()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["mine.txt"]);
}

#[test]
fn a_session_cannot_remove_everything() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let outcome = home.command(["clear", "--everything"]).session("s").run();
    assert_eq!(outcome.code, Some(2), "{outcome}");
    assert_eq!(home.status(&id)["status"], "running");
}
