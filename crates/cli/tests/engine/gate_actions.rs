//! Calls of a session that act on tasks need the same approval, whichever command makes them.

use mw_testkit::children;

use crate::approval::{SESSION, project};

/// The mode `plan` allows only what reads.
#[test]
fn a_session_cannot_clear_or_kill_by_clear_what_its_mode_protects() {
    let home = project();
    let ended = home.command(["start", "--json", "exit 3"]).session(SESSION).run().json();
    let ended = ended["id"].as_str().unwrap().to_owned();
    let _ = home.ended(&ended);
    let live = home.command(["start", "--json", children::SLEEPER]).session(SESSION).run().json();
    let live = live["id"].as_str().unwrap().to_owned();
    let plan = |args: &[&str]| {
        home.command(args.iter().copied()).session(SESSION).env("MEANWHILE_MODE", "plan").run()
    };
    for args in
        [&["clear", &ended][..], &["clear", "--finished"], &["clear", "--kill", &live], &["kill", &live]]
    {
        let _ = plan(args).exits(4);
    }
    assert_eq!(home.status(&ended)["status"], "failed");
    assert_eq!(home.status(&live)["status"], "running");
    let _ = plan(&["clear", "--expired"]).exits(2);
}

#[test]
fn a_session_cannot_type_by_attach_what_its_mode_protects() {
    let home = project();
    let start = home.command(["start", "--json", "--pty", children::SLEEPER]).session(SESSION);
    let task = start.run().json()["id"].as_str().unwrap().to_owned();
    let attach = home.command(["attach", &task]).session(SESSION).env("MEANWHILE_MODE", "plan");
    assert_eq!(attach.on_terminal().wait(), Some(4));
}
