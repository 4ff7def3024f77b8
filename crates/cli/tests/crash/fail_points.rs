//! Kills at every durable step.
//!
//! A debug build kills itself at the step that `MEANWHILE_FAIL_AT` names; `mw fail-points` lists them. The
//! variable is inherited, so the same name hits the command, the supervisor, its guardian or `mw settle`,
//! whichever reaches that step. Each test does one kind of work once to learn which steps it passes, and then again
//! for each of them with a kill there. One further command runs without the variable, and then the invariants of
//! `truth` must hold.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;
use crate::slow_disk::missing_in;
use crate::truth::{none_pending, reach_all, truth};

pub(crate) const FAIL_AT: &str = "MEANWHILE_FAIL_AT";
/// After this many failed steps the test stops.
const ENOUGH: usize = 4;

fn names() -> Vec<String> {
    let text = home().mw(["fail-points"]).ok();
    let names: Vec<_> = text.lines().map(str::to_owned).filter(|name| !name.is_empty()).collect();
    assert!(!names.is_empty(), "this build has no fail points; only a debug build has");
    names
}

/// Steps of `mw start`.
const STARTING: [&str; 7] = [
    "start-directory-made",
    "start-spec-written",
    "start-message-sent",
    "start-answered",
    "supervisor-locked",
    "supervisor-files-made",
    "supervisor-entrusted",
];
/// Steps of `mw restart`.
const RESTARTING: [&str; 7] = [
    "restart-looked",
    "restart-prepared",
    "queue-committed",
    "change-committed",
    "restart-committed",
    "restart-archive-marked",
    "restart-file-archived",
];
/// Steps of a supervisor whose guardian takes over.
pub(crate) const SUPERVISING: [&str; 7] = [
    "supervisor-spawned",
    "supervisor-journalled",
    "supervisor-answered",
    "supervisor-exit-seen",
    "supervisor-recorded",
    "supervisor-reaped",
    "supervisor-settling",
];

/// Runs the work for every fail point that it passes, and for those given, in a separate home each, and reports all
/// failures. At the given steps a process must have died.
pub(crate) fn sweep(reaches: &[&str], work: impl Fn(&Home, &str) -> Result<(), String>) {
    let known = names();
    for name in reaches {
        assert!(known.iter().any(|known| known == name), "{name} is not a fail point");
    }
    let traced = home();
    work(&traced, TRACE).unwrap();
    let passed = reached(&traced);
    assert!(!passed.is_empty(), "no step was passed");
    let mut wrong = Vec::new();
    for name in known.iter().filter(|name| passed.contains(name) || reaches.contains(&name.as_str())) {
        let home = home();
        // A panic inside the kit is a failure of this step only.
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&home, name)));
        let outcome = outcome.unwrap_or_else(|_| Err("see the panic above".to_owned()));
        if let Err(reason) = outcome {
            wrong.push(format!("{name}: {reason}"));
        }
        if reaches.contains(&name.as_str()) && !reached(&home).contains(name) {
            wrong.push(format!("{name}: no process died there"));
        }
        if wrong.len() >= ENOUGH {
            break;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The name with which every step is noted and nothing dies.
const TRACE: &str = "trace";
/// The file with the names of the steps that were reached.
const REACHED: &str = "reached";

pub(crate) fn reached(home: &Home) -> Vec<String> {
    let names = std::fs::read_to_string(home.work().join(REACHED)).unwrap_or_default();
    names.lines().map(str::to_owned).collect()
}

/// Returns the value of the variable that kills at a step and notes that it was reached.
pub(crate) fn fail_at(home: &Home, name: &str) -> String {
    format!("{name}@{}", home.work().join(REACHED).display())
}

/// Runs `mw` with the fail point set; it may die, refuse or succeed.
pub(crate) fn dying(home: &Home, name: &str, args: &[&str]) -> mw_testkit::Outcome {
    home.command(args).env(FAIL_AT, fail_at(home, name)).run()
}

/// Runs the one further command. A supervisor that waits for its start message holds the slot until it has
/// noticed that the sender is gone; on a busy machine that takes a while.
pub(crate) fn recover(home: &Home) {
    let written = || {
        let tasks = std::fs::read_dir(home.state().join("tasks")).into_iter().flatten().flatten();
        tasks.filter(|task| task.path().join("spec.json").exists()).count()
    };
    wait_until(SOON, "every task with a spec is listed", || (home.list().len() >= written()).then_some(()));
}

/// Checks that a task whose start was answered is listed.
fn remembered(home: &Home, started: &mw_testkit::Outcome) -> Result<(), String> {
    if started.code != Some(0) {
        return Ok(());
    }
    let id = started.json()["id"].clone();
    let known = home.list().iter().any(|task| task["id"] == id);
    known.then_some(()).ok_or_else(|| format!("{id} was reported as started, but is not listed"))
}

#[test]
fn a_failed_task_is_never_reported_as_completed() {
    sweep(&[STARTING.as_slice(), &SUPERVISING].concat(), |home, name| {
        let started = dying(home, name, &["start", "--json", "echo hi; exit 3"]);
        recover(home);
        remembered(home, &started)?;
        truth(home, &["failed"])
    });
}

#[test]
fn a_successful_task_runs_once() {
    sweep(&[STARTING.as_slice(), &SUPERVISING].concat(), |home, name| {
        let started = dying(home, name, &["start", "--json", "echo ran >> ran; exit 0"]);
        recover(home);
        remembered(home, &started)?;
        truth(home, &["completed"])?;
        let ran = std::fs::read_to_string(home.work().join("ran")).unwrap_or_default();
        let runs = ran.lines().count();
        let completed = home.list().iter().filter(|task| task["status"] == "completed").count();
        if runs > 1 || completed > runs {
            return Err(format!("{completed} completed, but it ran {runs} times"));
        }
        Ok(())
    });
}

#[test]
fn a_running_task_stays_controllable() {
    sweep(&[STARTING.as_slice(), &SUPERVISING, &["supervisor-kill-noted"]].concat(), |home, name| {
        let script = format!("{}\nexec sleep 600", children::leave_setsid("kid"));
        let started = dying(home, name, &["start", "--json", &script]);
        recover(home);
        remembered(home, &started)?;
        none_pending(home);
        reach_all(home)?;
        truth(home, &["cancelled"])
    });
}

#[test]
fn a_kill_can_be_repeated() {
    sweep(&["kill-sent"], |home, name| {
        let script = format!("{}\nexec sleep 600", children::leave_double_fork("kid"));
        let id = home.start(&script);
        let _ = home.pid_in("kid");
        let _ = dying(home, name, &["kill", "--json", &id, "--grace", "300ms"]);
        recover(home);
        reach_all(home)?;
        truth(home, &["cancelled"])
    });
}

#[test]
fn an_end_under_a_dying_supervisor_is_reported_correctly() {
    sweep(&[STARTING.as_slice(), &SUPERVISING].concat(), |home, name| {
        let _ = dying(home, name, &["start", "--json", &children::gated("go", 3)]);
        recover(home);
        home.open("go");
        truth(home, &["failed"])
    });
}

#[test]
fn the_queue_never_stalls() {
    let steps =
        ["queue-committed", "start-committed", "settle-begun", "settle-released", "supervisor-has-turn"];
    sweep(&[STARTING.as_slice(), &SUPERVISING, &steps].concat(), |home, name| {
        let start = |home: &Home, script: &str| {
            let command = home.command(["start", "--json", script]).env(FAIL_AT, fail_at(home, name));
            command.env("MEANWHILE_QUEUE_MAX_RUNNING", "1").run()
        };
        for script in [children::gated("go", 3).as_str(), "exit 3", "exit 3"] {
            let _ = start(home, script);
        }
        home.open("go");
        recover(home);
        truth(home, &["failed"])
    });
}

#[test]
fn a_restart_killed_at_any_step_reports_no_wrong_exit_code() {
    sweep(&[RESTARTING.as_slice(), &SUPERVISING].concat(), |home, name| {
        let id = home.start("exit 3");
        home.ended(&id);
        let _ = dying(home, name, &["restart", "--json", &id]);
        recover(home);
        truth(home, &["failed"])?;
        let task = home.status(&id);
        if task["status"] == "failed" && task["exit_code"] != 3 {
            return Err(format!("an invented exit code: {task}"));
        }
        Ok(())
    });
}

#[test]
fn a_clear_killed_at_any_step_can_be_repeated_and_spares_other_tasks() {
    sweep(&["clear-looked", "clear-marked", "clear-committed"], |home, name| {
        let (one, other) = (home.start("exit 3"), home.start("exit 3"));
        home.ended(&one);
        home.ended(&other);
        let _ = dying(home, name, &["clear", "--json", &one]);
        recover(home);
        // The rest of a cleared task is removed with the expired ones.
        if name == "clear-committed" {
            let _ = home.mw(["clear", "--expired"]).ok();
        }
        truth(home, &["failed"])?;
        let left = home.list();
        if !left.iter().any(|task| task["id"] == other.as_str()) {
            return Err("the other task is gone".to_owned());
        }
        // The rest of the first can still be cleared.
        let _ = home.mw(["clear", "--finished"]).ok();
        if !home.list().is_empty() {
            return Err(format!("cannot be cleared: {:?}", home.list()));
        }
        truth(home, &["failed"])
    });
}

#[test]
fn a_time_limit_is_reported_correctly() {
    sweep(&[STARTING.as_slice(), &SUPERVISING].concat(), |home, name| {
        let _ = dying(home, name, &["start", "--json", "--timeout", "300ms", "exec sleep 600"]);
        recover(home);
        truth(home, &["timed_out"])
    });
}

#[test]
fn later_commands_can_be_killed_too() {
    sweep(&[STARTING.as_slice(), &SUPERVISING, &["arrivals-committed"]].concat(), |home, name| {
        let _ = dying(home, name, &["start", "--json", "exit 3"]);
        for _ in 0..3 {
            let _ = dying(home, name, &["list", "--json"]);
        }
        recover(home);
        truth(home, &["failed"])
    });
}

#[test]
fn a_capped_log_has_head_marker_and_tail() {
    let steps = ["middle-copied", "middle-index-replaced", "middle-dropped"];
    sweep(&[STARTING.as_slice(), &SUPERVISING, &steps].concat(), |home, name| {
        let _ = dying(home, name, &["start", "--json", "--cap", "2048", "seq 1 5000; exit 3"]);
        recover(home);
        truth(home, &["failed"])?;
        for task in home.list() {
            let log = home.log(task["id"].as_str().unwrap_or_default());
            let missing = missing_in(&log, &children::numbered(1, 5000))?;
            if task["status"] == "failed" && task["dropped_bytes"] != missing {
                return Err(format!("{missing} bytes are missing: {task}"));
            }
        }
        Ok(())
    });
}

#[test]
fn the_guardian_that_took_over_can_be_killed_too() {
    let steps = ["guardian-takes-over", "guardian-took-over"];
    sweep(&[STARTING.as_slice(), &steps].concat(), |home, name| {
        let started = dying(home, name, &["start", "--json", &children::gated("go", 3)]);
        recover(home);
        remembered(home, &started)?;
        for task in home.list() {
            if let Some(pair) = task["id"].as_str().and_then(|id| home.find_pair(id)) {
                home.try_kill_process(pair.supervisor);
            }
        }
        recover(home);
        home.open("go");
        truth(home, &["failed"])
    });
}

#[test]
fn the_adopting_supervisor_can_be_killed_too() {
    sweep(&["adopt-recorded", "adopter-noted"], |home, name| {
        let id = home.start(children::SLEEPER);
        home.kill_supervisors(&id);
        for _ in 0..2 {
            let _ = dying(home, name, &["list", "--json"]);
        }
        recover(home);
        reach_all(home)?;
        truth(home, &["cancelled"])
    });
}

#[test]
fn a_kill_that_was_only_journaled_starts_again_with_its_first_signal() {
    let home = home();
    let script = "trap 'echo tidied; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    let started = dying(&home, "supervisor-kill-noted", &["start", "--json", script]);
    let id = started.json()["id"].as_str().unwrap().to_owned();
    home.until_logged(&id, "ready");
    let supervisor = home.pair(&id).supervisor;
    let killing = home.command(["kill", &id, "--grace", "10m"]).spawn();
    home.until_dead(supervisor);
    let _ = killing.wait();
    assert_eq!(home.ended(&id)["status"], "cancelled");
    assert!(String::from_utf8_lossy(&home.log(&id)).contains("tidied\n"));
}

/// A takeover in the journal shows that the supervisor died at this step.
#[test]
fn only_the_exit_record_of_a_long_run_is_synced() {
    for (script, is_synced) in [("sleep 1.1; exit 3", true), ("exit 3", false)] {
        // On a busy machine the short run may take long.
        wait_until(SOON, "a run of the intended length", || {
            let home = home();
            let started = dying(&home, "supervisor-synced", &["start", "--json", script]);
            let id = started.json()["id"].as_str().unwrap().to_owned();
            let is_long = home.ended(&id)["duration_ms"].as_u64().unwrap() >= 1000;
            home.wait_until_empty(SOON);
            let journal = std::fs::read_to_string(home.task_dir(&id).join("journal.jsonl")).unwrap();
            assert_eq!(journal.contains("taken_over"), is_long, "{script}: {journal}");
            (is_long == is_synced).then_some(())
        });
    }
}

/// A guardian that takes over does not know which processes got the signal, so the receipt is the supervisor's.
#[test]
fn a_kill_is_answered_before_the_exit_record_is_synced() {
    let home = home();
    let started = dying(&home, "supervisor-synced", &["start", "--json", children::SLEEPER]);
    let id = started.json()["id"].as_str().unwrap().to_owned();
    let pid = home.pid(&id);
    wait_until(SOON, "it has run for a second", || {
        (home.status(&id)["duration_ms"].as_u64()? >= 1000).then_some(())
    });
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    assert_eq!(mw_testkit::contract::pids(&receipt["killed"]), [u64::from(pid)], "{receipt}");
    home.wait_until_empty(SOON);
    let journal = std::fs::read_to_string(home.task_dir(&id).join("journal.jsonl")).unwrap();
    assert!(journal.contains("taken_over"), "the supervisor did not die at the sync: {journal}");
}
