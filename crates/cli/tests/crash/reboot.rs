//! After a reboot, running tasks are lost, and the process with their pid is not theirs.

use std::fs;

use mw_testkit::contract::pids;
use mw_testkit::{Home, alive, children};

use crate::home;

/// The journal of a task.
const JOURNAL: &str = "journal.jsonl";

/// Another boot of this machine.
const EARLIER_BOOT: &str = "01234567-89ab-cdef-0123-456789abcdef";

/// Changes the journal of a task to an earlier boot.
fn move_to_earlier_boot(home: &Home, id: &str) {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let file = home.task_dir(id).join(JOURNAL);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(boot.trim()), "the boot is not in the journal: {text}");
    // Written in place, because supervisors lock this file.
    fs::write(&file, text.replace(boot.trim(), EARLIER_BOOT)).unwrap();
}

/// A script that becomes a process without the variables of the task and records every signal.
///
/// It has the pid and the start time of the task's first process, as an unrelated process may after a reboot.
fn unrelated_process() -> &'static str {
    "echo 'for s in TERM INT HUP QUIT USR1; do trap \"echo $s >> hit\" $s; done; : > ready
        while :; do sleep 0.05; done' > stranger.sh
     exec env -i MW_TEST_TAG=\"$MW_TEST_TAG\" PATH=\"$PATH\" sh stranger.sh"
}

/// Starts a task and simulates a reboot. Returns its id and pid.
fn rebooted(home: &Home, script: &str, ready: &str) -> (String, u32) {
    let id = home.start(script);
    home.file(ready);
    let pid = home.pid(&id);
    go_down(home, &id);
    (id, pid)
}

fn go_down(home: &Home, id: &str) {
    home.kill_supervisors(id);
    move_to_earlier_boot(home, id);
}

#[test]
fn a_running_task_is_lost_after_a_reboot_and_never_completed() {
    let home = home();
    let (id, pid) = rebooted(&home, unrelated_process(), "ready");
    let task = home.ended(&id);
    assert_eq!(task["status"], "lost", "{task}");
    assert!(task["exit_code"].is_null() && task["signal"].is_null(), "{task}");
    assert!(task["ended_at"].is_string(), "{task}");
    let _ = home.mw(["wait", &id]).exits(125);
    assert!(alive(pid), "an unrelated process was killed");
    assert!(!home.has_file("hit"), "an unrelated process was signalled");
}

#[test]
fn a_running_task_is_lost_after_a_reboot_when_its_pid_is_free() {
    let home = home();
    let (id, pid) = rebooted(&home, unrelated_process(), "ready");
    home.kill_process(pid);
    let task = home.ended(&id);
    assert_eq!(task["status"], "lost", "{task}");
    assert!(task["exit_code"].is_null(), "{task}");
}

#[test]
fn a_task_lost_by_a_reboot_frees_its_slot() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start(unrelated_process());
    home.file("ready");
    let second = home.start("touch second; exit 4");
    assert_eq!(home.status(&second)["status"], "pending");
    let pid = home.pid(&first);
    home.kill_supervisors(&first);
    move_to_earlier_boot(&home, &first);
    let _ = home.mw(["list", "--json"]).ok();
    home.file("second");
    assert_eq!(home.ended(&second)["exit_code"], 4);
    assert_eq!(home.status(&first)["status"], "lost");
    assert!(alive(pid));
}

#[test]
fn killing_a_lost_task_spares_the_process_with_its_pid() {
    let home = home();
    let (id, pid) = rebooted(&home, unrelated_process(), "ready");
    assert_eq!(home.ended(&id)["status"], "lost");
    for _ in 0..2 {
        let receipt = home.mw(["kill", "--json", &id, "--grace", "200ms"]).exits(0).json();
        assert_eq!(receipt["status"], "lost", "{receipt}");
        assert!(!pids(&receipt["killed"]).contains(&u64::from(pid)), "{receipt}");
        assert!(alive(pid), "{receipt}");
        assert!(!home.has_file("hit"), "an unrelated process was signalled: {receipt}");
    }
}

#[test]
fn a_kill_as_first_command_spares_the_process_with_the_old_pid() {
    let home = home();
    let (id, pid) = rebooted(&home, unrelated_process(), "ready");
    let receipt = home.mw(["kill", "--json", &id, "--grace", "200ms"]).exits(0).json();
    assert!(!pids(&receipt["killed"]).contains(&u64::from(pid)), "{receipt}");
    assert!(alive(pid), "{receipt}");
    assert!(!home.has_file("hit"), "an unrelated process was signalled: {receipt}");
    let task = home.status(&id);
    assert_eq!(task["status"], "lost", "{task}");
    assert!(task["exit_code"].is_null(), "{task}");
}

#[test]
fn killing_and_clearing_all_spares_the_process_with_the_old_pid() {
    let home = home();
    let (id, pid) = rebooted(&home, unrelated_process(), "ready");
    let _ = home.mw(["kill", "--all", "--grace", "200ms"]).ok();
    let _ = home.mw(["clear", &id, "--kill"]).ok();
    assert_eq!(home.list().len(), 0);
    assert!(alive(pid));
    assert!(!home.has_file("hit"), "an unrelated process was signalled");
}

#[test]
fn a_restart_spares_the_process_with_the_old_pid() {
    let home = home();
    let script = format!("if [ -e ready ]; then echo again; exit 5; fi\n{}", unrelated_process());
    let (id, pid) = rebooted(&home, &script, "ready");
    assert_eq!(home.ended(&id)["status"], "lost");
    let _ = home.mw(["restart", &id]).ok();
    let task = home.ended(&id);
    assert_eq!((&task["status"], &task["exit_code"]), (&"failed".into(), &5.into()), "{task}");
    assert_eq!(home.log(&id), b"again\n");
    assert!(alive(pid));
    assert!(!home.has_file("hit"), "an unrelated process was signalled");
}

#[test]
fn output_from_before_the_reboot_is_kept() {
    let home = home();
    let id = home.start(&format!("seq 1 1000; {}", unrelated_process()));
    home.until_logged(&id, "\n1000\n");
    home.file("ready");
    go_down(&home, &id);
    assert_eq!(home.ended(&id)["status"], "lost");
    assert!(home.log(&id) == children::numbered(1, 1000), "the log differs");
}

#[test]
fn a_running_task_is_lost_after_a_reboot_that_lost_the_database() {
    let home = home();
    let (id, pid) = rebooted(&home, unrelated_process(), "ready");
    for entry in fs::read_dir(home.state()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().contains(".db")) {
            fs::remove_file(path).unwrap();
        }
    }
    assert_eq!(home.ended(&id)["status"], "lost");
    let _ = home.mw(["kill", &id, "--grace", "200ms"]).ok();
    assert!(alive(pid));
    assert!(!home.has_file("hit"), "an unrelated process was signalled");
}
