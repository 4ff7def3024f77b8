//! Kills at every step of tasks that start later, again, or repeatedly: of the command, the alarm, the supervisors and `mw
//! settle`.

use std::fs;

use mw_testkit::{Home, SOON, wait_until};

use crate::fail_points::{FAIL_AT, SUPERVISING, dying, fail_at, reached, recover, sweep};
use crate::truth::{reach_all, truth};

/// Steps of the alarm.
const ALARM: [&str; 4] = ["alarm-taken", "alarm-started-due", "alarm-noted", "alarm-released"];
/// Steps of a start that must be queued.
const QUEUEING: [&str; 4] =
    ["start-directory-made", "start-spec-written", "queue-committed", "start-committed"];

/// Returns how often the command ran.
fn ran(home: &Home) -> usize {
    fs::read_to_string(home.work().join("ran")).unwrap_or_default().lines().count()
}

/// Returns how many runs of all tasks have started, for those that are left.
fn runs(home: &Home) -> u64 {
    home.list().iter().filter_map(|task| task["runs"].as_u64()).sum()
}

/// Waits until a process has died at a step, or nothing is left to do. Only then other commands may start what is due.
fn until_dead(home: &Home, name: &str, runs: usize) {
    /// For a moment, a process that executes another program belongs to no home.
    const LOOKS: usize = 20;
    let mut empty = 0;
    wait_until(SOON, "a process died, or all runs have ended", || {
        empty = if home.tagged().is_empty() { empty + 1 } else { 0 };
        let is_over = empty >= LOOKS || ran(home) >= runs;
        (is_over || reached(home).iter().any(|reached| reached == name)).then_some(())
    });
}

#[test]
fn a_delayed_task_runs_once() {
    sweep(&[ALARM.as_slice(), &QUEUEING, &SUPERVISING].concat(), |home, name| {
        let _ = dying(home, name, &["start", "--json", "--delay", "200ms", "echo ran >> ran; exit 0"]);
        until_dead(home, name, 2);
        recover(home);
        truth(home, &["completed"])?;
        let completed = home.list().iter().filter(|task| task["status"] == "completed").count();
        if ran(home) > 1 || completed > ran(home) {
            return Err(format!("{completed} completed, but it ran {} times", ran(home)));
        }
        Ok(())
    });
}

#[test]
fn a_failed_task_is_retried_and_its_owner_is_notified_once() {
    let steps = ["again-decided", "change-committed", "restart-archive-marked", "restart-file-archived"];
    sweep(&[ALARM.as_slice(), &steps, &SUPERVISING].concat(), |home, name| {
        let args = ["start", "--json", "--retries", "1", "echo ran >> ran; exit 3"];
        let _ = home.command(args).session("s").env(FAIL_AT, fail_at(home, name)).run();
        until_dead(home, name, 3);
        recover(home);
        truth(home, &["failed"])?;
        if ran(home) as u64 > runs(home) || home.list().iter().any(|task| task["runs"] != 2) {
            return Err(format!("it ran {} times: {:?}", ran(home), home.list()));
        }
        let notices = home.mw(["notices", "--json", "--session", "s"]).exits(0).json();
        let told = notices["notices"].as_array().map_or(0, Vec::len);
        let ended = home.list().len();
        if told != ended {
            return Err(format!("{told} notifications of {ended} ends: {notices}"));
        }
        Ok(())
    });
}

#[test]
fn a_repeated_task_goes_on_until_it_is_killed() {
    let steps = ["alarm-taken", "alarm-started-due", "alarm-noted", "again-decided", "start-spec-written"];
    sweep(&[steps.as_slice(), &SUPERVISING].concat(), |home, name| {
        let _ = dying(home, name, &["start", "--json", "--every", "1s", "echo ran >> ran; exit 3"]);
        until_dead(home, name, 3);
        recover(home);
        if home.list().is_empty() {
            return Ok(());
        }
        // Only commands that look: they start what is due, and another alarm.
        wait_until(SOON, "it was repeated", || (runs(home) >= 3 && ran(home) >= 2).then_some(()));
        if ran(home) as u64 > runs(home) {
            return Err(format!("it ran {} times: {:?}", ran(home), home.list()));
        }
        reach_all(home)?;
        truth(home, &["cancelled", "failed"])?;
        match home.list().iter().all(|task| task["status"] == "cancelled" || task["status"] == "lost") {
            true => Ok(()),
            false => Err(format!("not ended by the kill: {:?}", home.list())),
        }
    });
}

#[test]
fn a_machine_that_stops_loses_no_due_task() {
    let home = crate::home();
    let delayed = home.start_with(&["--delay", "2s"], "echo ran >> ran");
    let repeated = home.start_with(&["--every", "1s"], "echo run >> runs");
    let _ = home.lines_in("runs", 2);
    // Everything that belongs to the home dies at once.
    wait_until(SOON, "every process is dead", || {
        home.tagged().into_iter().for_each(|pid| _ = home.try_kill_process(pid));
        home.tagged().is_empty().then_some(())
    });
    wait_until(SOON, "the next command starts what is due", || {
        let _ = home.list();
        (ran(&home) == 1).then_some(())
    });
    home.ended(&delayed);
    let before = fs::read_to_string(home.work().join("runs")).unwrap().lines().count();
    let _ = home.lines_in("runs", before + 1);
    let _ = home.mw(["kill", &repeated]).exits(0);
    home.wait_until_empty(SOON);
}
