//! Slots and the queue after kills and lost files: the limit is never exceeded, and no
//! task waits while a slot is free.

use std::fs;

use mw_testkit::{Home, SOON, children, processes, wait_until};
use rustix::process::Signal;

use crate::home;
use crate::truth::assert_true;

const LIMIT: &str = "MEANWHILE_QUEUE_MAX_RUNNING";
const FAIL_AT: &str = "MEANWHILE_FAIL_AT";

fn one_slot() -> Home {
    home().with_env(LIMIT, "1")
}

/// Runs a start that is killed at a step, and returns the id of its task.
fn half_started(home: &Home, step: &str, options: &[&str], script: &str) -> String {
    let args = [&["start", "--json"], options, &[script]].concat();
    let known: Vec<_> = directories(home);
    let outcome = home.command(args).env(FAIL_AT, step).run();
    assert_eq!(outcome.code, None, "it did not die at {step}; only a debug build does: {outcome}");
    directories(home).into_iter().find(|id| !known.contains(id)).unwrap()
}

fn directories(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.state().join("tasks")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Waits for a file without a command, because a command would start queued tasks.
fn until_file(home: &Home, file: &str) {
    let path = home.work().join(file);
    wait_until(SOON, "the task runs without a further command", || path.exists().then_some(()));
}

#[test]
fn a_task_requeued_by_status_starts_when_a_slot_is_free() {
    let home = one_slot();
    let id = half_started(&home, "start-committed", &["--name", "b"], "touch ran; exit 3");
    let holder = home.start(&children::gated("go", 3));
    home.until_logged(&holder, "waiting");
    let _ = home.mw(["status", &id]).ok();
    home.open("go");
    until_file(&home, "ran");
    assert_true(&home, &["failed"]);
}

#[test]
fn a_task_found_by_an_output_command_starts_when_a_slot_is_free() {
    let home = one_slot();
    let id = half_started(&home, "start-spec-written", &[], "touch ran; exit 3");
    let holder = home.start(&children::gated("go", 3));
    home.until_logged(&holder, "waiting");
    let _ = home.mw(["output", &id]);
    home.open("go");
    until_file(&home, "ran");
    assert_true(&home, &["failed"]);
}

#[test]
fn a_guardian_with_survivors_frees_the_slot() {
    let home = one_slot();
    let script = format!("{}\n{}; exit 3", children::leave_setsid("kid"), children::gate("go"));
    let started = home.command(["start", "--json", &script]).env(FAIL_AT, "supervisor-reaped").run();
    let _ = started.ok();
    let kid = home.pid_in("kid");
    let _ = home.start("touch ran; exit 3");
    home.open("go");
    until_file(&home, "ran");
    assert!(processes::alive(kid));
}

#[test]
fn status_of_a_queued_task_does_not_take_the_slot_of_an_unsupervised_one() {
    let home = one_slot();
    let holder = home.start(children::SLEEPER);
    let pid = home.pid(&holder);
    let next = home.start("touch ran; exit 3");
    home.kill_supervisors(&holder);
    assert_eq!(home.status(&next)["status"], "pending");
    assert!(processes::alive(pid));
    assert!(!home.has_file("ran"));
}

#[test]
fn a_start_does_not_take_the_slot_of_an_unsupervised_task() {
    for options in [&[][..], &["--name", "n"], &["--at-capacity", "reject"]] {
        let home = one_slot();
        let holder = home.start(children::SLEEPER);
        let pid = home.pid(&holder);
        home.kill_supervisors(&holder);
        let args = [&["start", "--json"], options, &["touch ran; exit 3"]].concat();
        let outcome = home.mw(args);
        let taken = outcome.code == Some(0) && outcome.json()["status"] != "pending";
        assert!(!taken && processes::alive(pid), "{options:?}: {outcome}");
        assert!(!home.has_file("ran"));
    }
}

#[test]
fn the_slot_of_a_task_killed_with_its_supervisors_is_reused() {
    let home = one_slot();
    let holder = home.start(children::SLEEPER);
    let pid = home.pid(&holder);
    home.kill_supervisors(&holder);
    home.kill_process(pid);
    assert_eq!(home.ended(&home.start("exit 3"))["exit_code"], 3);
    assert_eq!(home.status(&holder)["status"], "lost");
    // The slot stays free for later starts.
    assert_eq!(home.ended(&home.start("exit 3"))["exit_code"], 3);
}

#[test]
fn a_stale_waiting_flag_is_removed() {
    let home = one_slot();
    let _ = home.ended(&home.start("exit 3"));
    fs::write(home.state().join("waiting"), "").unwrap();
    let _ = home.start("touch ran; exit 3");
    until_file(&home, "ran");
    wait_until(SOON, "the flag is gone", || (!home.state().join("waiting").exists()).then_some(()));
    assert_true(&home, &["failed"]);
}

#[test]
fn a_missing_waiting_flag_is_set_again_by_a_query() {
    let home = one_slot();
    let holder = home.start(&children::gated("go", 3));
    home.until_logged(&holder, "waiting");
    let _ = home.start("touch ran; exit 3");
    fs::remove_file(home.state().join("waiting")).unwrap();
    let _ = home.list();
    home.open("go");
    until_file(&home, "ran");
}

#[test]
fn a_removed_sessions_directory_loses_no_task_and_no_number() {
    let home = home();
    let running = home.start(&children::gated("go", 3));
    home.until_logged(&running, "waiting");
    fs::remove_dir_all(home.state().join("sessions")).unwrap();
    let next = home.start("exit 3");
    home.open("go");
    assert_eq!(home.ended(&running)["exit_code"], 3);
    assert_eq!(home.ended(&next)["exit_code"], 3);
    assert_eq!(home.status("bash_1")["id"], running.as_str());
    assert_eq!(home.status("bash_2")["id"], next.as_str());
    assert_true(&home, &["failed"]);
}

#[test]
fn bad_input_leaves_neither_process_nor_directory() {
    let home = home();
    let bad: [&[&str]; 7] = [
        &["start"],
        &["start", "--json", ""],
        &["start", "--nonsense", "true"],
        &["start", "--cwd", "/nowhere", "true"],
        &["start", "--after", "bash-zzzzzzzz", "true"],
        &["start", "--", "no-such-program"],
        &["start", "--shell", "no-such-shell", "true"],
    ];
    for args in bad {
        let outcome = home.mw(args);
        assert_ne!(outcome.code, Some(0), "{outcome}");
        home.wait_until_empty(SOON);
        assert_eq!(directories(&home), [""; 0], "{outcome}");
    }
    let outcome = home.command(["start", "true"]).session(&"x".repeat(201)).run();
    assert_ne!(outcome.code, Some(0), "{outcome}");
    home.wait_until_empty(SOON);
}

#[test]
fn concurrent_starts_do_not_take_slots_of_unsupervised_tasks() {
    let home = home().with_env(LIMIT, "2");
    let holders = [home.start(children::SLEEPER), home.start(children::SLEEPER)];
    for holder in &holders {
        home.kill_supervisors(holder);
    }
    let starting: Vec<_> = (0..4).map(|_| home.command(["start", "--json", "touch ran"]).spawn()).collect();
    for start in starting {
        assert_eq!(start.wait().json()["status"], "pending");
    }
    for holder in &holders {
        assert_eq!(home.status(holder)["status"], "running");
    }
    assert!(!home.has_file("ran"));
}

#[test]
fn a_task_keeps_its_slot_when_both_supervisors_die_during_its_start() {
    for step in ["start-message-sent", "start-answered"] {
        let home = one_slot();
        let script = format!("echo $$ > first; {}", children::gated("go", 0));
        let start = home.command(["start", "--json", &script]).env(FAIL_AT, format!("stop:{step}"));
        let starter = start.spawn();
        let _ = home.pid_in("first");
        let is_stopped = || processes::stat(starter.pid()).is_some_and(|stat| stat.state == 'T');
        wait_until(SOON, "the start command has stopped at the step", || is_stopped().then_some(()));
        let first = directories(&home).pop().unwrap();
        home.kill_supervisors(&first);
        let second = home.start("echo ran >> second");
        assert_eq!(home.status(&second)["status"], "pending", "{step}");
        assert!(!home.has_file("second"), "{step}: it ran while the first held the slot");
        starter.signal(Signal::CONT);
        let _ = starter.wait();
        assert_eq!(home.status(&first)["status"], "running", "{step}");
        assert!(!home.has_file("second"), "{step}: it ran while the first held the slot");
        home.open("go");
        home.ended(&second);
        assert_eq!(home.lines_in("second", 1), "ran\n");
    }
}
