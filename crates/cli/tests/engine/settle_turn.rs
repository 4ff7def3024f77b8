//! Many tasks that end at the same moment: one process settles them, and every queued task starts.

use std::fs::File;
use std::time::{Duration, SystemTime};

use mw_testkit::{Home, SOON, children, wait_until};

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
    // The test only reads a file: no command runs that could start a task.
    let _ = home.lines_in("ran", 40);
}

#[test]
fn an_end_is_left_to_the_process_that_settles() {
    let home = limited(1);
    let first = home.start(&children::gated("go", 0));
    let _ = home.start("touch second");
    let turn = take_turn(&home, Duration::ZERO);
    home.open("go");
    home.mw(["wait", &first]).ok();
    let mark = home.state().join("unsettled");
    wait_until(SOON, "the supervisor has left a mark", || mark.exists().then_some(()));
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
