//! `mw signal`, `mw pause`, `mw resume`.

use mw_testkit::{SOON, children, wait_until};

use crate::home;

#[test]
fn a_paused_task_stops_with_its_children_and_continues() {
    let home = home();
    let script = "sh -c 'while :; do echo tick >> ticks; sleep 0.02; done' & wait";
    let id = home.start_with(&["--name", "web"], script);
    home.file("ticks");
    let said = home.mw(["pause", "web"]).ok();
    assert_eq!(said, format!("web ({id}) running: SIGSTOP sent\n"));
    let status =
        wait_until(SOON, "the task is paused", || Some(home.status("web")).filter(|it| it["paused"] == true));
    assert_eq!(status["status"], "running");
    let before = std::fs::read(home.work().join("ticks")).unwrap().len();
    assert!(home.mw(["list"]).ok().contains(" paused "));
    assert!(home.mw(["status", "web"]).ok().contains("\nstatus     paused\n"));
    assert_eq!(std::fs::read(home.work().join("ticks")).unwrap().len(), before, "its child is stopped, too");
    let _ = home.mw(["resume", "web"]).exits(0);
    wait_until(SOON, "its child continues", || {
        (std::fs::read(home.work().join("ticks")).unwrap().len() > before).then_some(())
    });
    assert!(home.status("web")["paused"].is_null());
}

#[test]
fn a_paused_task_can_be_killed() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let _ = home.mw(["pause", &id]).exits(0);
    assert_eq!(home.mw(["kill", "--json", &id]).exits(0).json()["status"], "cancelled");
}

#[test]
fn a_signal_is_only_sent() {
    let home = home();
    let script =
        "trap 'echo got TERM' TERM; trap 'echo got USR1' USR1; echo ready; while :; do sleep 0.02; done";
    let id = home.start_with(&["--name", "web"], script);
    home.until_logged(&id, "ready\n");
    for name in ["TERM", "USR1"] {
        assert_eq!(home.mw(["signal", name, "web", "--json"]).exits(0).json()["status"], "running");
        home.until_logged(&id, &format!("got {name}\n"));
    }
    assert_eq!(home.status("web")["status"], "running");
    let receipt = home.mw(["kill", "-s", "USR1", "--then-kill", "--json", "web"]).exits(0);
    assert_eq!(receipt.json()["status"], "cancelled");
}

#[test]
fn a_signal_of_no_such_name_or_task_is_refused() {
    let home = home();
    let _ = home.mw(["signal", "NOSUCH", "web"]).exits(2);
    let _ = home.mw(["signal", "HUP", "web"]).exits(5);
    let ended = home.start("true");
    home.ended(&ended);
    let _ = home.mw(["resume", &ended]).exits(0);
}

#[test]
fn a_wait_for_a_batch_lists_what_failed_and_counts_the_rest() {
    let home = home();
    for script in ["true", "true", "exit 3"] {
        let _ = home.start_with(&["--batch", "nightly"], script);
    }
    let said = home.mw(["wait", "--batch", "nightly"]).exits(3).text();
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("✗ "), "{said}");
    assert_eq!(lines[1], "3 tasks: 2 completed, 1 failed");
}

#[test]
fn the_status_names_the_shell_and_the_outcome() {
    let home = home();
    let script = "echo '===== 3 failed, 41 passed in 2.10s ====='; exit 1";
    let id = home.start_with(&["--name", "tests"], script);
    home.ended(&id);
    let task = home.mw(["status", "tests", "--json"]).exits(0).json();
    assert_eq!(task["shell"], "/bin/sh");
    assert!(task["outcome"].as_str().unwrap().contains("3 failed, 41 passed"), "{task}");
    let page = home.mw(["status", "tests"]).ok();
    assert!(page.starts_with(&format!("name       tests\ntask       {id}\nstatus     failed")), "{page}");
    assert!(page.contains("\nhandle     bash_1\n"), "{page}");
    assert!(!page.contains("approved") && !page.contains(".000"), "{page}");
}

#[test]
fn a_list_on_a_terminal_begins_with_names_and_has_short_ids() {
    let home = home();
    let _web = home.start_with(&["--name", "web"], &format!("{} # {}", children::SLEEPER, "x".repeat(100)));
    let mut terminal = home.command(["list"]).on_terminal();
    assert_eq!(terminal.ended(), Some(0));
    let screen = terminal.screen().text;
    let lines: Vec<_> = screen.lines().collect();
    assert_eq!(lines.len(), 2, "nothing wraps: {screen}");
    assert!(lines[0].trim_start().starts_with("NAME "), "{screen}");
    assert!(lines[1].starts_with("●  web: exec sleep 600 #") && lines[1].contains("  bash_1  "), "{screen}");
}
