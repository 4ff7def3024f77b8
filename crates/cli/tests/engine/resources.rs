//! Resource limits: memory, CPU time, processes.

use std::fs;

use mw_testkit::contract::is_signal;
use mw_testkit::processes::voluntary_switches;
use mw_testkit::{Home, Invocation, Need, SOON, children, need_program, skip, wait_until};
use serde_json::Value;

use crate::home;
use crate::settings::both_ways;

/// Checks that a limit ended a task and that every command reports this text.
#[track_caller]
pub(crate) fn assert_struck(home: &Home, id: &str, words: &str) -> Value {
    let task = home.ended(id);
    assert_eq!((&task["status"], &task["cause"]), (&"failed".into(), &words.into()), "{task}");
    let text = home.mw(["status", id]).ok();
    assert!(text.contains(&format!("failed ({words})")), "{text}");
    let listed = home.list().into_iter().find(|listed| listed["id"] == id).unwrap();
    assert_eq!(listed["cause"], words, "{listed}");
    home.wait_until_empty(SOON);
    task
}

#[test]
fn a_task_above_its_memory_limit_is_killed_and_the_limit_is_named() {
    let home = home();
    let id = home.start_with(&["--memory", "48MiB"], &children::hold_memory(200, "go"));
    let task = assert_struck(&home, &id, "memory limit 48 MiB");
    assert!(is_signal(&task["signal"], 9), "{task}");
    assert_eq!(home.mw(["wait", &id]).code, Some(137));
    let record: Value =
        serde_json::from_slice(&fs::read(home.task_dir(&id).join("result.json")).unwrap()).unwrap();
    assert_eq!(record["struck"]["memory"], 48 << 20, "{record}");
}

#[test]
fn memory_of_processes_in_separate_sessions_counts() {
    let home = home();
    fs::write(home.work().join("hold"), children::hold_memory(200, "go")).unwrap();
    let script = "sh -c 'setsid sh hold </dev/null >/dev/null 2>&1 &'; exec sleep 600";
    let id = home.start_with(&["--memory", "48MiB"], script);
    assert_struck(&home, &id, "memory limit 48 MiB");
}

#[test]
fn a_task_within_its_limits_is_not_killed() {
    let home = home();
    let script = format!("{}; exit 3", children::hold_memory(24, "go"));
    let id = home.start_with(&["--memory", "64MiB", "--pids", "50", "--cpu-time", "1h"], &script);
    home.file("go.held");
    let supervisor = home.pair(&id).supervisor;
    let begun = voluntary_switches(supervisor);
    wait_until(SOON, "the supervisor has taken samples", || {
        (voluntary_switches(supervisor) > begun + 5).then_some(())
    });
    home.open("go");
    let task = home.ended(&id);
    assert_eq!((&task["exit_code"], &task["cause"]), (&3.into(), &"exited 3".into()), "{task}");
}

#[test]
fn shared_memory_is_counted_once() {
    let home = home();
    // Six copies of a shell that holds 24 MiB: 144 MiB if each counted alone.
    let copy = format!("({}) & ", children::gate("go"));
    let script =
        format!("x=$(head -c 24M /dev/zero | tr '\\0' x); {}touch ready; wait; exit 3", copy.repeat(5));
    let id = home.start_with(&["--memory", "110MiB"], &script);
    home.file("ready");
    let supervisor = home.pair(&id).supervisor;
    let begun = voluntary_switches(supervisor);
    wait_until(SOON, "the supervisor has taken samples", || {
        (voluntary_switches(supervisor) > begun + 5).then_some(())
    });
    home.open("go");
    assert_eq!(home.ended(&id)["exit_code"], 3);
}

#[test]
fn a_fork_bomb_is_killed_completely() {
    let home = home();
    let id = home.start_with(&["--pids", "30"], &children::doubling(8));
    let task = assert_struck(&home, &id, "pids limit 30");
    assert!(is_signal(&task["signal"], 9), "{task}");
}

#[test]
fn processor_time_of_all_processes_is_added() {
    let home = home()
        .with_env("MEANWHILE_KILL_GRACE_MS", "60000")
        .with_env("MEANWHILE_KILL_TIMEOUT_GRACE_MS", "60000");
    let id = home.start_with(&["--cpu-time", "1s"], &children::burn(3));
    let task = assert_struck(&home, &id, "CPU time limit 1 s");
    assert!(is_signal(&task["signal"], 15), "the task can clean up: {task}");
}

#[test]
fn processor_time_of_processes_that_have_ended_counts() {
    for script in [children::BURN_IN_TURN, children::BURN_ORPHANED] {
        let home = home();
        let id = home.start_with(&["--cpu-time", "800ms"], script);
        assert_struck(&home, &id, "CPU time limit 0.8 s");
    }
}

#[test]
fn the_limit_that_was_exceeded_is_named() {
    let home = home();
    let limits = ["--memory", "48MiB", "--pids", "30", "--cpu-time", "2s"];
    let scripts = [
        (children::hold_memory(200, "go"), "memory limit 48 MiB"),
        (children::doubling(8), "pids limit 30"),
        (children::burn(2), "CPU time limit 2 s"),
    ];
    for (script, words) in scripts {
        assert_struck(&home, &home.start_with(&limits, &script), words);
    }
}

#[test]
fn a_killed_task_is_not_reported_as_over_its_limits() {
    let home = home();
    let id = home.start_with(&["--memory", "64MiB", "--pids", "30"], children::SLEEPER);
    home.mw(["kill", &id]).ok();
    assert_eq!(home.ended(&id)["status"], "cancelled");
}

#[test]
fn limits_are_shown_with_their_enforcement_and_kept_by_a_restart() {
    let home = home();
    let limits = ["--memory", "1GiB", "--pids", "30", "--cpu-time", "10m"];
    let id = home.start_with(&limits, children::SLEEPER);
    for restarted in [false, true] {
        if restarted {
            home.mw(["restart", &id]).ok();
        }
        let shown = home.status(&id)["limits"].clone();
        let held = shown["enforcement"].as_str().unwrap().to_owned();
        let word = match held.as_str() {
            "sampled" => "sampled",
            "control_group" => "exact",
            other => panic!("{other}"),
        };
        assert_eq!(
            (&shown["memory"], &shown["pids"], &shown["cpu_time_ms"], &shown["cpus"]),
            (&(1 << 30).into(), &30.into(), &600_000.into(), &Value::Null)
        );
        let text = home.mw(["status", &id]).ok();
        let words = format!("memory 1 GiB ({word}), CPU time 600 s (sampled), pids 30 ({word})");
        assert!(text.contains(&words), "{text}");
    }
    let without = home.start(children::SLEEPER);
    assert!(home.status(&without).get("limits").is_none());
}

/// Prepares a command in a mount namespace in which no control group can be created.
fn without_control_groups(home: &Home, words: &[&str]) -> Invocation {
    const HIDE: &str = "mount -t tmpfs none /sys/fs/cgroup && exec \"$0\" \"$@\"";
    let namespace = || home.program("unshare").arg("--user").arg("--map-root-user").arg("--mount");
    need_program("unshare");
    let probe = namespace().arg("sh").arg("-c").arg(HIDE).arg("true").run();
    if probe.code != Some(0) {
        skip(Need::OwnMounts, &probe.to_string());
    }
    let inside = namespace().arg("sh").arg("-c").arg(HIDE).arg(env!("CARGO_BIN_EXE_mw"));
    words.iter().fold(inside, |invocation, word| invocation.arg(word))
}

#[test]
fn a_cpu_limit_is_refused_without_a_control_group() {
    let home = home();
    let start = ["start", "--json", "--cpus", "1.5", children::SLEEPER];
    let outcome = without_control_groups(&home, &start).run();
    let error = &outcome.json()["error"];
    assert!(error["message"].as_str().unwrap().contains("cgroup v2"), "{outcome}");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("--cpus") && hint.contains("--cpu-time"), "{hint}");
    assert!(home.list().is_empty(), "no task is left");
    assert_eq!(fs::read_dir(home.state().join("tasks")).unwrap().count(), 0);
}

#[test]
fn limits_out_of_range_are_refused_by_name() {
    let home = home();
    for (option, value) in
        [("--memory", "1000"), ("--memory", "9999999GiB"), ("--cpus", "0.001"), ("--pids", "99999999")]
    {
        let error = home.mw(["start", "--json", option, value, "touch ran"]).refusal(2);
        assert!(error["hint"].as_str().unwrap().contains(option), "{error}");
    }
    assert!(home.list().is_empty() && !home.has_file("ran"));
}

#[test]
fn a_task_without_limits_is_not_sampled() {
    let home = home();
    let free = home.start(children::SLEEPER);
    let limited = home.start_with(&["--memory", "1GiB", "--pids", "30"], children::SLEEPER);
    for id in [&free, &limited] {
        let control = home.task_dir(id).join("control");
        wait_until(SOON, "the supervisor is set up", || control.exists().then_some(()));
    }
    let (free, limited) = (home.pair(&free).supervisor, home.pair(&limited).supervisor);
    // The supervisor may still be starting; one that takes samples is never idle for this long.
    wait_until(SOON, "one supervisor sleeps while the other takes samples", || {
        let (begun, before) = (voluntary_switches(limited), voluntary_switches(free));
        wait_until(SOON, "the other supervisor has taken samples", || {
            (voluntary_switches(limited) > begun + 8).then_some(())
        });
        (voluntary_switches(free) <= before + 1).then_some(())
    });
}

#[test]
fn limits_memory_takes_effect() {
    for home in both_ways("limits.memory", "50331648") {
        let script = children::hold_memory(120, "go");
        assert_struck(&home, &home.start(&script), "memory limit 48 MiB");
        let id = home.start_with(&["--memory", "0"], &script);
        home.file("go.held");
        home.open("go");
        assert_eq!(home.ended(&id)["status"], "completed", "the option takes precedence");
    }
}

#[test]
fn limits_cpu_time_takes_effect() {
    for home in both_ways("limits.cpu_time", "600ms") {
        assert_struck(&home, &home.start(&children::burn(1)), "CPU time limit 0.6 s");
    }
}

#[test]
fn limits_pids_takes_effect() {
    for home in both_ways("limits.pids", "20") {
        assert_struck(&home, &home.start(&children::doubling(7)), "pids limit 20");
        let id = home.start_with(&["--pids", "0"], &children::fork_many(30, "there"));
        let _ = home.pid_in("there");
        assert_eq!(home.status(&id)["status"], "running", "the option takes precedence");
    }
}

#[test]
fn limits_cpus_takes_effect() {
    for home in both_ways("limits.cpus", "1.5") {
        let outcome = without_control_groups(&home, &["start", "--json", children::SLEEPER]).run();
        assert!(outcome.json()["error"]["hint"].as_str().unwrap().contains("limits.cpus"), "{outcome}");
        let id = home.start_with(&["--cpus", "0"], "exit 3");
        assert_eq!(home.ended(&id)["exit_code"], 3, "the option takes precedence");
    }
}
