//! Resource limits are enforced after the supervisor, the guardian or both were killed.

use mw_testkit::{Home, children};

use crate::home;
use crate::resources::assert_struck;

/// Starts a task that waits at a gate before it exceeds its limit.
fn waiting(home: &Home) -> String {
    let script = format!("echo ready; {}; {}", children::gate("begin"), children::hold_memory(200, "go"));
    let id = home.start_with(&["--memory", "48MiB"], &script);
    home.until_logged(&id, "ready");
    id
}

#[test]
fn the_guardian_enforces_limits_after_the_supervisor_was_killed() {
    let home = home();
    let id = waiting(&home);
    let pair = home.pair(&id);
    home.kill_process(pair.supervisor);
    home.open("begin");
    assert_struck(&home, &id, "memory limit 48 MiB");
}

#[test]
fn the_supervisor_enforces_limits_without_a_guardian() {
    let home = home();
    let id = waiting(&home);
    home.kill_process(home.pair(&id).guardian);
    home.open("begin");
    assert_struck(&home, &id, "memory limit 48 MiB");
}

#[test]
fn an_adopting_supervisor_enforces_limits() {
    let home = home();
    let id = waiting(&home);
    home.kill_supervisors(&id);
    assert_eq!(home.status(&id)["status"], "running");
    home.open("begin");
    assert_struck(&home, &id, "memory limit 48 MiB");
}

#[test]
fn an_adopting_supervisor_counts_processes_and_processor_time() {
    let table = [
        (["--pids", "30"], children::doubling(7), "pids limit 30"),
        (["--cpu-time", "700ms"], children::burn(2), "CPU time limit 0.7 s"),
    ];
    for (limit, script, words) in table {
        let home = home();
        let script = format!("echo ready; {}; {script}", children::gate("begin"));
        let id = home.start_with(&limit, &script);
        home.until_logged(&id, "ready");
        home.kill_supervisors(&id);
        assert_eq!(home.status(&id)["status"], "running");
        home.open("begin");
        assert_struck(&home, &id, words);
    }
}

#[test]
fn the_guardian_counts_the_processor_time_of_ended_processes() {
    let home = home();
    let id = home.start_with(&["--cpu-time", "3s"], children::BURN_ORPHANED);
    home.kill_process(home.pair(&id).supervisor);
    assert_struck(&home, &id, "CPU time limit 3 s");
}

#[test]
fn the_kernel_enforces_processor_time_without_supervisors() {
    let home = home();
    let script = format!("echo ready; {}; {}", children::gate("begin"), children::burn(1));
    let id = home.start_with(&["--cpu-time", "1s"], &script);
    home.until_logged(&id, "ready");
    let leader = home.pid(&id);
    home.kill_supervisors(&id);
    home.open("begin");
    // No command runs meanwhile, so no supervisor adopts the task.
    home.until_dead(leader);
}
