//! `mw run`: attached to its task.

use mw_testkit::{SOON, children, wait_until};
use rustix::process::Signal;

use crate::home;

#[test]
fn run_passes_both_streams_and_the_exit_code() {
    let outcome = home().mw(["run", "echo out; echo err >&2; exit 7"]).exits(7);
    assert_eq!(outcome.text(), "out\n");
    assert!(outcome.stderr_text().contains("err\n"), "{outcome}");
}

#[test]
fn run_passes_every_byte() {
    let outcome = home().mw(["run", &children::numbers(200_000)]).exits(0);
    assert!(outcome.stdout == children::numbered(1, 200_000), "{outcome}");
}

#[test]
fn run_without_a_shell_passes_arguments_unchanged() {
    let outcome = home().mw(["run", "--", "printf", "%s", "$x"]).exits(0);
    assert_eq!(outcome.text(), "$x");
}

#[test]
fn run_exits_with_128_plus_the_signal_that_ended_the_task() {
    let _ = home().mw(["run", "kill -KILL $$"]).exits(137);
}

#[test]
fn run_exits_with_124_when_the_task_times_out() {
    let _ = home().mw(["run", "--timeout", "300ms", children::SLEEPER]).exits(124);
}

#[test]
fn run_shows_output_while_the_task_runs() {
    let home = home();
    let running = home.command(["run", &children::gated("go", 3)]).spawn();
    wait_until(SOON, "the first line is shown", || running.printed().contains("waiting").then_some(()));
    assert!(running.runs());
    home.open("go");
    let _ = running.wait().exits(3);
}

#[test]
fn run_moves_the_task_to_the_background_when_requested() {
    let home = home();
    let script = children::gated("go", 5);
    let outcome = home.mw(["run", "--detach-after", "300ms", &script]).exits(0);
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    assert!(outcome.stderr_text().contains(&id), "{outcome}");
    assert_eq!(home.status(&id)["status"], "running");
    home.open("go");
    assert_eq!(home.ended(&id)["exit_code"], 5);
}

#[test]
fn a_run_that_ends_in_time_is_not_moved_to_the_background() {
    let _ = home().mw(["run", "--detach-after", "10m", "exit 6"]).exits(6);
}

#[test]
fn an_interrupt_sends_sigint_to_the_task() {
    let home = home().with_env("MEANWHILE_KILL_GRACE_MS", "60000");
    let script = "trap 'echo interrupted; exit 9' INT; echo ready; while :; do sleep 0.05; done";
    let running = home.command(["run", script]).spawn();
    wait_until(SOON, "the task is ready", || running.printed().contains("ready").then_some(()));
    running.signal(Signal::INT);
    let outcome = running.wait();
    assert!(outcome.text().contains("interrupted"), "{outcome}");
    let task = &home.list()[0];
    assert_eq!(task["status"], "cancelled", "{task}");
    assert_eq!(task["exit_code"], 9, "{task}");
}

#[test]
fn a_second_interrupt_kills_the_task() {
    let home = home().with_env("MEANWHILE_KILL_GRACE_MS", "600000");
    let running = home.command(["run", children::STUBBORN]).spawn();
    wait_until(SOON, "the task is ready", || running.printed().contains("ready").then_some(()));
    running.signal(Signal::INT);
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    wait_until(SOON, "the first interrupt has arrived", || {
        (home.status(&id)["status"] == "cancelling").then_some(())
    });
    running.signal(Signal::INT);
    let _ = running.wait();
    assert_eq!(home.status(&id)["status"], "cancelled");
    home.wait_until_empty(SOON);
}

#[test]
fn a_task_outlives_a_killed_run() {
    let home = home();
    let running = home.command(["run", &children::gated("go", 4)]).spawn();
    wait_until(SOON, "the task runs", || running.printed().contains("waiting").then_some(()));
    let _ = running.kill();
    home.open("go");
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.ended(&id)["exit_code"], 4);
}
