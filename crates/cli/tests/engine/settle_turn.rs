//! Many tasks that end at the same moment: one process settles them, and every queued task starts.

use std::fs::File;
use std::time::{Duration, SystemTime};

use mw_testkit::{Home, SOON, children, processes, wait_until};

use crate::home;

fn limited(limit: u32) -> Home {
    home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", limit.to_string())
}

/// Holds the turn to settle, like another process that took it this long ago.
fn take_turn(home: &Home, since: Duration) -> File {
    let turn = File::create(home.state().join("settling")).unwrap();
    turn.try_lock().unwrap();
    turn.set_modified(SystemTime::now() - since).unwrap();
    turn
}

#[test]
fn all_queued_tasks_start_after_many_ends_at_once() {
    let home = limited(20);
    for _ in 0..20 {
        let _ = home.start(&children::gated("go", 0));
    }
    for _ in 0..40 {
        let _ = home.start("echo ran >>ran");
    }
    home.open("go");
    // The test only reads: no command runs that could start a task.
    let mut most = 0;
    for count in 1..=40 {
        wait_until(SOON, &format!("{count} queued tasks have run"), || {
            let settles =
                |pid: &u32| processes::command_line(*pid).get(1).is_some_and(|word| word == "settle");
            most = most.max(home.tagged().iter().filter(|pid| settles(pid)).count());
            let ran = std::fs::read_to_string(home.work().join("ran")).unwrap_or_default();
            (ran.lines().count() >= count).then_some(())
        });
    }
    // One has the turn. Others have had it and are about to exit, which may take a while on a busy machine.
    assert!(most <= 4, "{most} processes settled at once");
}

/// Returns whether a process has left a mark for the one that settles.
fn is_marked(home: &Home) -> bool {
    std::fs::metadata(home.state().join("unsettled")).is_ok_and(|mark| mark.len() > 0)
}

#[test]
fn an_end_is_left_to_the_process_that_settles() {
    let home = limited(1);
    let first = home.start(&children::gated("go", 0));
    let _ = home.start("touch second");
    let turn = take_turn(&home, Duration::ZERO);
    home.open("go");
    home.mw(["wait", &first]).ok();
    wait_until(SOON, "the supervisor has left a mark", || is_marked(&home).then_some(()));
    drop(turn);
    // The process that had the turn was killed. The next command does its work.
    let _ = home.list();
    home.file("second");
}

#[test]
fn a_process_that_takes_too_long_to_settle_is_not_waited_for() {
    let home = limited(1);
    let _ = home.start(&children::gated("go", 0));
    let _ = home.start("touch second");
    let _stopped = take_turn(&home, Duration::from_secs(60));
    home.open("go");
    home.file("second");
}

#[test]
fn the_end_of_a_task_is_settled_although_the_process_that_left_the_mark_was_killed() {
    let home = limited(1);
    let first = home.start(&children::gated("go", 0));
    let _ = home.start("touch second");
    let turn = take_turn(&home, Duration::ZERO);
    home.open("go");
    home.mw(["wait", &first]).ok();
    let state = home.state().to_str().unwrap();
    let settle = home.command(["settle", "--home", state, &first]).env("MEANWHILE_FAIL_AT", "settle-marked");
    assert_eq!(settle.run().code, None, "it was killed");
    assert!(is_marked(&home));
    drop(turn);
    let _ = home.list();
    home.file("second");
}
