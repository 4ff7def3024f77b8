//! Limits on what a task uses go on when those who hold them are killed.

use mw_testkit::{Home, children};

use crate::home;
use crate::resources::assert_struck;

/// Starts a task that waits at a gate before it takes too much.
fn waiting(home: &Home) -> String {
    let script = format!("echo ready; {}; {}", children::gate("begin"), children::hold_memory(200, "go"));
    let id = home.start_with(&["--memory", "48MiB"], &script);
    home.until_logged(&id, "ready");
    id
}

#[test]
fn the_guardian_holds_the_limits_of_a_killed_supervisor() {
    let home = home();
    let id = waiting(&home);
    let pair = home.pair(&id);
    home.slay(pair.supervisor);
    home.open("begin");
    assert_struck(&home, &id, "memory limit 48 MiB");
}

#[test]
fn the_supervisor_holds_them_without_a_guardian() {
    let home = home();
    let id = waiting(&home);
    home.slay(home.pair(&id).guardian);
    home.open("begin");
    assert_struck(&home, &id, "memory limit 48 MiB");
}

#[test]
fn an_adopter_holds_them_when_both_were_killed() {
    let home = home();
    let id = waiting(&home);
    home.slay_watchers(&id);
    assert_eq!(home.status(&id)["status"], "running");
    home.open("begin");
    assert_struck(&home, &id, "memory limit 48 MiB");
}

#[test]
fn an_adopter_counts_processes_and_their_time() {
    let table = [
        (["--pids", "30"], children::doubling(7), "pids limit 30"),
        (["--cpu-time", "700ms"], children::burn(2), "CPU time limit 0.7 s"),
    ];
    for (limit, script, words) in table {
        let home = home();
        let script = format!("echo ready; {}; {script}", children::gate("begin"));
        let id = home.start_with(&limit, &script);
        home.until_logged(&id, "ready");
        home.slay_watchers(&id);
        assert_eq!(home.status(&id)["status"], "running");
        home.open("begin");
        assert_struck(&home, &id, words);
    }
}

#[test]
fn time_that_ended_processes_used_is_known_to_the_guardian() {
    let home = home();
    let id = home.start_with(&["--cpu-time", "3s"], children::BURN_ORPHANED);
    home.slay(home.pair(&id).supervisor);
    assert_struck(&home, &id, "CPU time limit 3 s");
}

#[test]
fn the_kernel_holds_processor_time_when_nobody_is_left_to() {
    let home = home();
    let script = format!("echo ready; {}; {}", children::gate("begin"), children::burn(1));
    let id = home.start_with(&["--cpu-time", "1s"], &script);
    home.until_logged(&id, "ready");
    let leader = home.pid(&id);
    home.slay_watchers(&id);
    home.open("begin");
    // No command is run meanwhile, so nobody adopts it.
    home.until_dead(leader);
}
