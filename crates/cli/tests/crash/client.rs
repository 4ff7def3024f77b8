//! Kills of the command itself.

use std::time::{Duration, Instant};

use mw_testkit::{SOON, children, wait_until};

use crate::home;
use crate::truth::assert_true;

#[test]
fn a_start_killed_at_any_time_leaves_a_consistent_state() {
    let home = home();
    for step in 0..24_u32 {
        let args = ["start", "--json", "exit 3"];
        let starting = home.command(args).spawn();
        // Spins, so that each kill hits another moment.
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_micros(u64::from(step) * 250) {
            std::hint::spin_loop();
        }
        let _ = starting.kill();
    }
    assert_true(&home, &["failed"]);
}

#[test]
fn a_kill_is_carried_out_after_its_command_was_killed() {
    let home = home();
    let id = home.start(children::STUBBORN);
    home.until_logged(&id, "ready");
    let pid = home.pid(&id);
    let killing = home.command(["kill", &id, "--grace", "6s"]).spawn();
    home.until_status(&id, "cancelling");
    let _ = killing.kill();
    home.until_dead(pid);
    assert_eq!(home.ended(&id)["status"], "cancelled");
    home.wait_until_empty(SOON);
}

#[test]
fn killing_a_waiting_command_affects_no_task() {
    let home = home();
    let id = home.start(&children::gated("go", 4));
    for args in [&["wait", &id][..], &["output", &id, "--follow"], &["watch"]] {
        let waiting = home.command(args).spawn();
        wait_until(SOON, "the command runs", || waiting.runs().then_some(()));
        let _ = waiting.kill();
    }
    home.open("go");
    assert_eq!(home.ended(&id)["exit_code"], 4);
}

#[test]
fn killing_the_process_group_of_a_host_kills_no_task() {
    let home = home();
    let script = "\"$0\" start --json \"$1\" && exec sleep 600";
    let host = home
        .program("setsid")
        .arg("sh")
        .arg("-c")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_mw"))
        .arg(children::gated("go", 5))
        .spawn();
    wait_until(SOON, "the task is started", || host.printed().contains('}').then_some(()));
    let group = mw_testkit::processes::stat(host.pid()).unwrap().group;
    assert_eq!(group, host.pid(), "the host leads a separate process group");
    let group = rustix::process::Pid::from_raw(i32::try_from(group).unwrap()).unwrap();
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    let _ = host.wait();
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.status(&id)["status"], "running");
    home.open("go");
    assert_eq!(home.ended(&id)["exit_code"], 5);
}
