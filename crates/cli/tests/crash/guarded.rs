//! A change reads the task again inside its transaction: another process may have changed it since, and each may
//! be killed at any step.

use std::fs;

use mw_testkit::processes::stat;
use mw_testkit::{Home, Running, SOON, alive, children, wait_until};
use rustix::process::Signal;
use serde_json::Value;

use crate::home;

const FAIL_AT: &str = "MEANWHILE_FAIL_AT";
/// Appends a line for each run, prints the number of the run, and fails.
const COUNTED: &str = "echo ran >> ran; wc -l < ran; exit 3";

/// Runs `mw` until it stops at a step.
fn stopped_at(home: &Home, step: &str, args: &[&str]) -> Running {
    let running = home.command(args).env(FAIL_AT, format!("stop:{step}")).spawn();
    wait_until(SOON, "the command stops at the step", || {
        stat(running.pid()).is_some_and(|stat| stat.state == 'T').then_some(())
    });
    running
}

/// Continues a stopped command and waits for its end.
fn go_on(running: Running) -> mw_testkit::Outcome {
    running.signal(Signal::CONT);
    running.wait()
}

fn times_run(home: &Home) -> usize {
    fs::read_to_string(home.work().join("ran")).unwrap_or_default().lines().count()
}

fn output_of(home: &Home, id: &str, run: usize) -> String {
    home.mw(["output", id, "--run", &run.to_string()]).exits(0).text().trim().to_owned()
}

/// Checks that every run has its own output, and the outcome of the last one.
fn check_runs(home: &Home, id: &str, runs: usize) {
    let task = home.ended(id);
    assert_eq!((&task["runs"], &task["status"]), (&runs.into(), &"failed".into()), "{task}");
    assert_eq!(task["exit_code"], 3, "{task}");
    assert_eq!(times_run(home), runs, "number of executions");
    for run in 1..=runs {
        assert_eq!(output_of(home, id, run), run.to_string(), "output of run {run}");
    }
}

#[test]
fn a_delayed_restart_adds_a_run_after_that_of_a_concurrent_restart() {
    let home = home();
    let id = home.start(COUNTED);
    home.ended(&id);
    let slow = stopped_at(&home, "restart-looked", &["restart", "--json", &id]);
    let _ = home.mw(["restart", &id]).ok();
    check_runs(&home, &id, 2);
    let _ = go_on(slow).exits(0);
    check_runs(&home, &id, 3);
}

#[test]
fn a_restart_does_not_end_a_run_that_a_concurrent_restart_started() {
    let home = home();
    let script =
        format!("echo ran >> ran; wc -l < ran; [ $(wc -l < ran) = 1 ] || {}; exit 3", children::gate("go"));
    let id = home.start(&script);
    home.ended(&id);
    let slow = stopped_at(&home, "restart-looked", &["restart", "--json", &id]);
    let _ = home.mw(["restart", &id]).ok();
    let pid = home.pid(&id);
    let error = go_on(slow).refusal(6);
    assert_eq!(error["code"], "wrong_state", "{error}");
    assert!(alive(pid), "the run of the concurrent restart continues");
    home.open("go");
    check_runs(&home, &id, 2);
}

#[test]
fn concurrent_restarts_leave_every_run_complete() {
    let home = home();
    let id = home.start(COUNTED);
    home.ended(&id);
    for _ in 0..10 {
        let restart = || home.command(["restart", "--json", &id]).spawn();
        let outcomes = [restart(), restart(), restart()].map(Running::wait);
        assert!(outcomes.iter().any(|outcome| outcome.code == Some(0)), "no restart succeeded: {outcomes:?}");
        for outcome in &outcomes {
            match outcome.code {
                Some(0) => {}
                // Another restart removed its run from the queue, and the reply says so.
                Some(1) => assert_eq!(outcome.json()["cause"], "cancelled by restart before it started"),
                // Its run has ended before its reply.
                Some(3) => assert_eq!(outcome.json()["cause"], "exited 3"),
                _ => assert_eq!(outcome.refusal(6)["code"], "wrong_state"),
            }
        }
        let task = home.ended(&id);
        for run in 1..=task["runs"].as_u64().unwrap() {
            let record = home.mw(["output", &id, "--run", &run.to_string(), "--json"]).exits(0).text();
            assert!(!record.contains("damaged"), "{record}");
        }
    }
    home.wait_until_empty(SOON);
    // A run that another restart ended before it could print has no line; no other run may have its output.
    let task = home.ended(&id);
    let runs = usize::try_from(task["runs"].as_u64().unwrap()).unwrap();
    let printed: Vec<usize> = (1..=runs).filter_map(|run| output_of(&home, &id, run).parse().ok()).collect();
    assert!(printed.is_sorted_by(|one, next| one < next), "{printed:?}");
    assert_ne!(task["status"], "lost", "{task}");
    assert_eq!(printed.first(), Some(&1), "the first run's output is gone");
}

/// Kills a restart at a step, perhaps deletes the database, and returns the task as the next commands find it.
fn after_killed_restart(step: &str, database_is_lost: bool) -> (Home, Value) {
    let home = home();
    let id = home.start(COUNTED);
    home.ended(&id);
    home.wait_until_empty(SOON);
    let killed = home.command(["restart", "--json", &id]).env(FAIL_AT, step).run();
    assert_eq!(killed.signal, Some(9), "{step} was not passed: {killed}");
    if database_is_lost {
        home.delete_database();
    }
    let _ = home.list();
    let task = home.ended(&id);
    home.wait_until_empty(SOON);
    let runs = usize::try_from(task["runs"].as_u64().unwrap()).unwrap();
    check_runs(&home, &id, runs);
    (home, task)
}

#[test]
fn a_killed_restart_is_completed_by_the_next_command_or_undone() {
    for (step, runs) in [
        ("restart-looked", 1),
        ("restart-prepared", 1),
        ("restart-committed", 2),
        ("restart-archive-marked", 2),
        ("restart-file-archived", 2),
    ] {
        let (_home, task) = after_killed_restart(step, false);
        assert_eq!(task["runs"], runs, "{step}");
    }
}

#[test]
fn a_killed_restart_is_consistent_after_a_database_rebuild() {
    // There was no reply: a change that only the database had did not happen, and nothing runs for it.
    for (step, runs) in [
        ("restart-looked", 1),
        ("restart-prepared", 1),
        ("restart-committed", 1),
        ("restart-archive-marked", 2),
        ("restart-file-archived", 2),
    ] {
        let (_home, task) = after_killed_restart(step, true);
        assert_eq!(task["runs"], runs, "{step}");
    }
}

#[test]
fn a_rebuilt_database_notifies_the_end_of_each_run_once() {
    let home = home();
    let started = home.command(["start", "--json", COUNTED]).session("s").run().json();
    let id = started["id"].as_str().unwrap().to_owned();
    home.ended(&id);
    let _ = home.mw(["restart", &id]).ok();
    check_runs(&home, &id, 2);
    home.wait_until_empty(SOON);
    let delivered = || {
        let delivered = home.mw(["notices", "--json", "--session", "s"]).exits(0).json();
        let notices = delivered["notices"].as_array().unwrap();
        notices.iter().map(|notice| notice["run"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    home.delete_database();
    assert_eq!(delivered(), [1, 2]);
    home.delete_database();
    assert_eq!(delivered(), [0_u64; 0], "each end is notified once");
}

#[test]
fn a_delayed_reader_shows_the_run_that_it_has_found() {
    let home = home();
    let id = home.start(COUNTED);
    home.ended(&id);
    for args in [["output", &id].as_slice(), &["output", "--follow", &id], &["output", "--grep", ".", &id]] {
        let slow = stopped_at(&home, "output-looked", args);
        let before = times_run(&home);
        let _ = home.mw(["restart", &id]).ok();
        check_runs(&home, &id, before + 1);
        // It stops before every further read.
        wait_until(SOON, "the reader ends", || {
            slow.signal(Signal::CONT);
            stat(slow.pid()).is_none_or(|stat| stat.state == 'Z').then_some(())
        });
        let shown = slow.wait().exits(0);
        assert!(shown.text().contains(&before.to_string()), "{args:?} after run {before}: {shown}");
    }
}

#[test]
fn the_previous_output_can_be_read_while_the_next_run_is_queued() {
    for step in ["restart-committed", "restart-archive-marked", "restart-file-archived"] {
        let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
        let id = home.start(COUNTED);
        home.ended(&id);
        home.wait_until_empty(SOON);
        let blockers = [home.start(&children::gated("go", 0)), home.start(&children::gated("go", 0))];
        let killed = home.command(["restart", "--json", &id]).env(FAIL_AT, step).run();
        assert_eq!(killed.signal, Some(9), "{step} was not passed: {killed}");
        assert_eq!(home.status(&id)["status"], "pending", "{step}");
        assert_eq!(output_of(&home, &id, 1), "1", "{step}");
        assert_eq!(output_of(&home, &id, 2), "", "{step}");
        // A restart that is cancelled leaves the previous run complete.
        let _ = home.mw(["kill", &id]).ok();
        assert_eq!(
            (output_of(&home, &id, 1), output_of(&home, &id, 2)),
            ("1".into(), String::new()),
            "{step}"
        );
        home.delete_database();
        let task = home.status(&id);
        assert_eq!((&task["runs"], &task["status"]), (&2.into(), &"cancelled".into()), "{step}: {task}");
        home.open("go");
        blockers.iter().for_each(|id| drop(home.ended(id)));
        assert_eq!(times_run(&home), 1, "{step}");
    }
}

#[test]
fn a_restart_refused_on_a_full_disk_never_runs() {
    let home = Home::on_small_disk(env!("CARGO_BIN_EXE_mw"), 8 << 20);
    let work = home.work();
    let mut refused = 0;
    for spare in [0_u64, 4096, 8192, 16384, 32768, 65536] {
        let script = format!("echo ran >> {}; exit 3", work.join(format!("ran-{spare}")).display());
        let started = home.command(["start", "--json", &script]).session("s").run().json();
        let id = started["id"].as_str().unwrap().to_owned();
        home.ended(&id);
        home.wait_until_empty(SOON);
        let ballast = home.state().join("ballast");
        assert!(fs::write(&ballast, vec![0; 16 << 20]).is_err(), "the disk is not full");
        let full = fs::metadata(&ballast).unwrap().len();
        fs::OpenOptions::new().write(true).open(&ballast).unwrap().set_len(full - spare.min(full)).unwrap();
        let answer = home.mw(["restart", "--json", &id]);
        fs::remove_file(&ballast).unwrap();
        let _ = home.list();
        let task = home.ended(&id);
        home.wait_until_empty(SOON);
        let ran = fs::read_to_string(work.join(format!("ran-{spare}"))).unwrap().lines().count();
        if answer.code == Some(0) {
            assert_eq!((&task["runs"], ran), (&2.into(), 2), "{spare}: {task}");
        } else {
            refused += 1;
            assert_eq!((&task["runs"], ran), (&1.into(), 1), "{spare}: {answer}{task}");
        }
        assert_eq!((&task["status"], &task["exit_code"]), (&"failed".into(), &3.into()), "{spare}: {task}");
        let delivered = home.mw(["notices", "--json", "--session", "s"]).json();
        let delivered = delivered["notices"].as_array().unwrap();
        let runs: Vec<_> = delivered.iter().map(|notice| &notice["run"]).collect();
        assert_eq!(runs.len(), ran, "{spare}: every end is notified: {delivered:?}");
        assert_eq!(output_of(&home, &id, 1), "", "{spare}");
    }
    assert!(refused > 0, "the disk was never full enough");
}

#[test]
fn a_task_restarted_concurrently_is_not_cleared() {
    for args in
        [&["clear", "--json"][..], &["clear", "--finished", "--json"], &["clear", "--expired", "--json"]]
    {
        let home = home().with_env("MEANWHILE_RETENTION_MAX_AGE", "1ms");
        let id = home.start("[ ! -e again ] || exec sleep 600");
        home.ended(&id);
        let mut args = args.to_vec();
        if args.len() == 2 {
            args.push(&id);
        }
        let clearing = stopped_at(&home, "clear-looked", &args);
        fs::write(home.work().join("again"), "").unwrap();
        let _ = home.mw(["restart", &id]).ok();
        let pid = home.pid(&id);
        let report = go_on(clearing).exits(0).json();
        assert_eq!(report["cleared"].as_array().unwrap().len(), 0, "{args:?}: {report}");
        assert_eq!(report["kept"][0]["id"], id.as_str(), "{args:?}: {report}");
        assert!(alive(pid) && home.status(&id)["status"] == "running", "{args:?}");
        let _ = home.mw(["kill", "--all"]).ok();
        assert!(!alive(pid), "{args:?}: it can be killed");
    }
}

#[test]
fn a_task_cleared_concurrently_is_not_restarted() {
    let home = home();
    let id = home.start(COUNTED);
    home.ended(&id);
    let restart = stopped_at(&home, "restart-looked", &["restart", "--json", &id]);
    let _ = home.mw(["clear", &id]).ok();
    assert_eq!(go_on(restart).refusal(5)["code"], "not_found");
    assert_eq!((times_run(&home), home.list().len()), (1, 0));
    assert!(!home.task_dir(&id).exists(), "its directory is removed");
}

/// Returns the schema cookie of the database, which every vacuum increments.
fn schema_cookie(home: &Home) -> u32 {
    let head = fs::read(home.state().join("meanwhile.db")).unwrap();
    u32::from_be_bytes(head[40..44].try_into().unwrap())
}

#[test]
fn many_tasks_are_cleared_in_few_transactions_with_one_vacuum() {
    const AT_ONCE: usize = 64;
    const TASKS: usize = AT_ONCE + 6;
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "200");
    // Enough for a vacuum.
    let long = format!(": {}", "x".repeat(60_000));
    (0..TASKS).for_each(|_| drop(home.start_with(&["--batch", "b"], &long)));
    let _ = home.mw(["wait", "--batch", "b"]).ok();
    home.wait_until_empty(SOON);
    let left = || home.mw(["list", "--json"]).json()["total"].as_u64().unwrap() as usize;
    assert_eq!(left(), TASKS);
    let outcome = home.command(["clear", "--finished"]).env(FAIL_AT, "clear-committed").run();
    assert_eq!((outcome.code, left()), (None, TASKS - AT_ONCE), "after the first change: {outcome}");
    let before = schema_cookie(&home);
    let _ = home.mw(["clear", "--finished"]).ok();
    assert_eq!(left(), 0);
    assert_eq!(schema_cookie(&home) - before, 1, "vacuums");
    let size = fs::metadata(home.state().join("meanwhile.db")).unwrap().len();
    assert!(size < 1 << 20, "{size}");
}

#[test]
fn a_start_is_not_lost_when_the_clock_is_set_forward() {
    let home = home();
    let (clock, name) = (home.work().join("clock"), ["start", "--json", "--name", "n", "echo ran >> ran"]);
    let start = stopped_at(&home, "start-committed", &name);
    // An hour later by the clock, the machine seems to have booted after the start.
    fs::write(&clock, "3600000").unwrap();
    let _ = home.command(["list"]).env("MEANWHILE_CLOCK", &clock).run().exits(0);
    let started = go_on(start).json();
    let task = home.ended(started["id"].as_str().unwrap());
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(times_run(&home), 1);
}

#[test]
fn a_process_that_looked_before_the_start_does_not_forget_the_children_that_are_left() {
    let home = home();
    let script = "setsid sleep 600 & echo $! > child";
    let start = stopped_at(&home, "start-committed", &["start", "--json", "--name", "n", script]);
    let look = stopped_at(&home, "task-looked-at", &["list"]);
    let started = go_on(start).json();
    let id = started["id"].as_str().unwrap();
    home.ended(id);
    let child = fs::read_to_string(home.work().join("child")).unwrap().trim().parse().unwrap();
    let _ = go_on(look).exits(0);
    // The child has no supervisor then; the next command sends one.
    home.kill_supervisors(id);
    let _ = home.mw(["kill", id]).ok();
    home.until_dead(child);
}

#[test]
fn a_command_whose_process_had_not_noted_its_pid_when_the_supervisor_died_is_not_refused() {
    let home = home();
    let script = "echo ran >> ran; exit 3";
    let started =
        home.command(["start", "--json", script]).env(FAIL_AT, "command-forked").run().exits(0).json();
    let task = home.ended(started["id"].as_str().unwrap());
    assert_eq!((&task["exit_code"], times_run(&home)), (&3.into(), 1), "{task}");
}
