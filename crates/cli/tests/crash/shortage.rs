//! Commands with few descriptors: state that they cannot read is unknown, never gone, and they record
//! nothing about it.

use mw_testkit::{Home, Need, Outcome, SOON, alive, children, need_program, need_root, skip, wait_until};

use crate::home;

/// Descriptor limits, from too few to open the database up to enough for everything.
const FEW: std::ops::RangeInclusive<u32> = 4..=24;

/// Runs `mw` with a limit of open files.
fn with_files(home: &Home, files: u32, args: &[&str]) -> Outcome {
    let script = format!("ulimit -n {files}; exec \"$0\" \"$@\"");
    let command = home.program("sh").arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_mw"));
    args.iter().fold(command, |command, argument| command.arg(argument)).run()
}

/// A user with a process limit: root has none.
const SOMEBODY: u32 = 65_534;

/// Runs a program as a user with a limit of processes.
fn as_limited_user(home: &Home, processes: u32, program: &str, args: &[&str]) -> Outcome {
    let somebody = SOMEBODY.to_string();
    let command = home.program("setpriv").arg("--reuid").arg(somebody).arg("--clear-groups");
    // The build may be in a directory that only root can access.
    let command = command.arg("--inh-caps=+dac_override").arg("--ambient-caps=+dac_override");
    let command = command.arg("prlimit").arg(format!("--nproc={processes}")).arg(program);
    args.iter().fold(command, |command, argument| command.arg(argument)).run()
}

fn with_processes(home: &Home, processes: u32, args: &[&str]) -> Outcome {
    as_limited_user(home, processes, env!("CARGO_BIN_EXE_mw"), args)
}

#[test]
fn a_start_at_the_process_limit_is_refused_with_a_next_step() {
    need_root();
    need_program("setpriv");
    need_program("prlimit");
    let home = home();
    for place in [home.work(), home.user(), home.work().parent().unwrap().to_owned()] {
        std::os::unix::fs::chown(place, Some(SOMEBODY), None).unwrap();
    }
    let work = home.work().to_string_lossy().into_owned();
    if as_limited_user(&home, 100, "test", &["-w", &work]).code != Some(0) {
        skip(Need::Root, "others cannot reach the directory for temporary files");
    }
    for processes in [1, 2, 3] {
        let outcome = with_processes(&home, processes, &["start", "touch ran"]).exits(1);
        let said = String::from_utf8_lossy(&outcome.stderr);
        assert!(said.contains("Resource temporarily unavailable"), "{processes}: {said}");
        assert!(said.contains("hint: raise the limits of this process (ulimit -a)"), "{processes}: {said}");
    }
    assert_eq!(with_processes(&home, 100, &["list"]).ok(), "No tasks.\n", "no task is left");
    assert!(!home.has_file("ran"));
}

fn statuses(home: &Home) -> Vec<String> {
    home.list().iter().map(|task| task["status"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_command_with_few_descriptors_records_no_task_as_lost() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "100").with_env("MEANWHILE_SESSION", "s");
    let old = home.start(children::SLEEPER);
    let _ = home.list();
    let mut count = 1;
    for files in FEW {
        // A task that is not in the database yet.
        let fresh = home.start(children::SLEEPER);
        count += 1;
        for args in [&["list", "--json"][..], &["status", &old], &["wait", "--timeout", "10ms", &fresh]] {
            let outcome = with_files(&home, files, args);
            assert!(outcome.code.is_some(), "{files} {args:?}: {outcome}");
        }
        let seen = statuses(&home);
        assert!(seen.len() == count && seen.iter().all(|status| status == "running"), "{files}: {seen:?}");
    }
    let notices = home.mw(["notices", "--json"]).ok();
    assert!(!notices.contains("lost"), "{notices}");
}

#[test]
fn a_rebuild_at_the_descriptor_limit_loses_no_task() {
    let home = home();
    let tasks = [home.start(children::SLEEPER), home.start("exit 3")];
    home.ended(&tasks[1]);
    for files in FEW {
        home.delete_database();
        let outcome = with_files(&home, files, &["list", "--json"]);
        assert!(outcome.code.is_some(), "{files}: {outcome}");
        assert_eq!(home.status(&tasks[0])["status"], "running", "{files}");
        assert_eq!(home.status(&tasks[1])["exit_code"], 3, "{files}");
        assert_eq!(home.list().len(), 2, "{files}");
    }
}

#[test]
fn a_start_refused_for_lack_of_resources_never_runs() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let (mut started, mut refused) = (0, 0);
    for files in FEW {
        let script = format!("echo ran >> ran-{files}; exec sleep 600");
        let outcome = with_files(&home, files, &["start", "--json", "--at-capacity", "reject", &script]);
        let listed = home.list();
        if outcome.code == Some(0) {
            let id = outcome.json()["id"].as_str().unwrap().to_owned();
            started += 1;
            home.file(&format!("ran-{files}"));
            // The task holds the slot.
            let _ = home.mw(["start", "--json", "--at-capacity", "reject", children::SLEEPER]).refusal(6);
            let _ = home.mw(["kill", &id]).ok();
            let _ = home.mw(["clear", &id]).ok();
        } else {
            refused += 1;
            assert_eq!(listed.len(), 0, "{files}: {outcome} {listed:?}");
        }
    }
    assert!(started > 0 && refused > 0, "{started} started, {refused} refused");
    home.wait_until_empty(SOON);
    for files in FEW {
        let ran = home.has_file(&format!("ran-{files}"));
        assert!(!ran || home.lines_in(&format!("ran-{files}"), 1) == "ran\n", "{files}");
    }
    assert!(home.list().is_empty());
}

#[test]
fn a_queued_task_does_not_fail_when_a_command_cannot_start_it() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    for files in FEW.step_by(2) {
        let first = home.start(children::SLEEPER);
        let second = home.start("exit 4");
        let pid = home.pid(&first);
        home.kill_supervisors(&first);
        home.kill_process(pid);
        let outcome = with_files(&home, files, &["list", "--json"]);
        assert!(outcome.code.is_some(), "{files}: {outcome}");
        let task = home.ended(&second);
        assert_eq!(task["exit_code"], 4, "{files}: {task}");
    }
}

#[test]
fn an_unsupervised_task_is_not_lost_when_a_command_cannot_adopt_it() {
    let home = home();
    let id = home.start(&children::gated("go", 7));
    let pid = home.pid(&id);
    for files in FEW {
        for watcher in home.supervisors_of(&id) {
            home.try_kill_process(watcher);
        }
        let outcome = with_files(&home, files, &["list", "--json"]);
        assert!(outcome.code.is_some(), "{files}: {outcome}");
        assert!(alive(pid));
        if outcome.code == Some(0) {
            assert_eq!(outcome.json()["tasks"][0]["status"], "running", "{files}: {outcome}");
        }
    }
    assert_eq!(home.status(&id)["status"], "running");
    home.open("go");
    let task = home.ended(&id);
    assert!(task["status"] == "failed" || task["status"] == "lost", "{task}");
    assert_eq!(home.log(&id), b"waiting\n");
}

#[test]
fn a_kill_with_few_descriptors_kills_or_reports_an_error() {
    let home = home();
    for files in FEW.step_by(2) {
        let id = home.start(children::SLEEPER);
        let pid = home.pid(&id);
        home.kill_supervisors(&id);
        let outcome = with_files(&home, files, &["kill", "--json", &id]);
        if outcome.code == Some(0) {
            wait_until(SOON, "it is dead", || (!alive(pid)).then_some(()));
            assert!(outcome.text().contains(&pid.to_string()), "{files}: {outcome}");
        } else {
            let _ = home.mw(["kill", &id]).ok();
            assert!(!alive(pid), "{files}: {outcome}");
        }
        assert_eq!(home.status(&id)["status"], "cancelled", "{files}: {outcome}");
    }
}

#[test]
fn a_task_that_starts_with_few_descriptors_can_be_killed() {
    let home = home();
    let mut started = 0;
    for files in FEW {
        // In a session, so that the small program does not replace itself after a failure.
        let script = format!("ulimit -n {files}; exec \"$0\" \"$@\"");
        let command = home.program("sh").arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_mw")).session("s");
        let outcome =
            ["start", "--json", children::SLEEPER].iter().fold(command, |it, word| it.arg(word)).run();
        if outcome.code != Some(0) {
            continue;
        }
        started += 1;
        let id = outcome.json()["id"].as_str().unwrap().to_owned();
        let receipt = home.mw(["kill", "--json", "--grace", "0s", &id]).exits(0).json();
        assert_eq!(receipt["status"], "cancelled", "{files}: {receipt}");
        assert_eq!(receipt["survivors"], serde_json::json!([]), "{files}: {receipt}");
    }
    assert!(started > 0, "no start has succeeded");
    home.wait_until_empty(SOON);
}
