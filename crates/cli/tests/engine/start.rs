//! `mw start`: its reply, and what the task inherits.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use mw_model::TaskId;
use mw_testkit::contract::{START_FIELDS, has_fields, is_signal};
use mw_testkit::processes::stat;
use mw_testkit::{SOON, alive, children};

use crate::home;

#[test]
fn start_answers_with_id_status_pid_and_log_path() {
    let home = home();
    let answer = home.mw(["start", "--json", &children::gated("go", 0)]).exits(0).json();
    has_fields(&answer, &START_FIELDS);
    assert!(answer["id"].as_str().unwrap().parse::<TaskId>().is_ok(), "{answer}");
    assert!(answer["id"].as_str().unwrap().starts_with("bash-"), "{answer}");
    assert_eq!(answer["status"], "running", "{answer}");
    assert!(answer["queue_position"].is_null(), "{answer}");
    assert!(Path::new(answer["output_path"].as_str().unwrap()).is_file(), "{answer}");
    assert!(alive(u32::try_from(answer["pid"].as_u64().unwrap()).unwrap()), "{answer}");
}

#[test]
fn start_returns_while_the_task_runs() {
    let home = home();
    let id = home.start(&children::gated("go", 0));
    assert_eq!(home.status(&id)["status"], "running");
    home.open("go");
    assert_eq!(home.ended(&id)["status"], "completed");
}

/// One of thirty starts must be fast enough: other work on the machine may delay the others.
#[test]
fn a_start_takes_less_than_a_tenth_of_a_second() {
    let home = home();
    let start = || {
        let begun = Instant::now();
        let answer = home.mw(["start", "--json", "exec sleep 600"]).exits(0);
        let took = begun.elapsed();
        home.mw(["kill", "--signal", "KILL", answer.json()["id"].as_str().unwrap()]).ok();
        took
    };
    let fastest = (0..30).map(|_| start()).min().unwrap();
    assert!(fastest < Duration::from_millis(100), "{fastest:?}");
}

#[test]
fn start_does_not_hold_the_callers_output_open() {
    // The kit reads both streams of every command to their end, and fails if a process holds them open.
    let home = home();
    let outcome = home.mw(["start", children::SLEEPER]).exits(0);
    assert!(outcome.text().contains("bash-"), "{outcome}");
}

#[test]
fn start_as_text_names_the_task() {
    let home = home();
    let outcome = home.mw(["start", "exit 0"]).exits(0);
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    assert!(outcome.text().contains(&id), "{outcome}");
    assert!(!outcome.stdout.contains(&0x1b), "colour despite NO_COLOR");
}

#[test]
fn exit_codes_are_reported_unchanged() {
    let home = home();
    for code in [0, 1, 2, 3, 7, 42, 77, 100, 126, 127, 128, 129, 143, 254, 255] {
        let id = home.start(&format!("exit {code}"));
        let task = home.ended(&id);
        let word = if code == 0 { "completed" } else { "failed" };
        assert_eq!((&task["exit_code"], &task["status"]), (&code.into(), &word.into()), "{task}");
        assert!(task["signal"].is_null(), "{task}");
        let _ = home.mw(["wait", &id]).exits(code);
    }
}

#[test]
fn an_end_by_a_signal_has_no_exit_code() {
    let home = home();
    for (name, number) in [("SEGV", 11), ("KILL", 9), ("TERM", 15)] {
        let task = home.ended(&home.start(&format!("kill -{name} $$")));
        assert_eq!(task["status"], "failed", "{task}");
        assert!(task["exit_code"].is_null(), "{task}");
        assert!(is_signal(&task["signal"], number), "{task}");
    }
}

#[test]
fn one_argument_is_a_script() {
    let home = home();
    let id = home.start("echo one; echo two | tr a-z A-Z");
    home.ended(&id);
    assert_eq!(home.log(&id), b"one\nTWO\n");
}

#[test]
fn arguments_after_two_hyphens_are_passed_unchanged() {
    let home = home();
    let answer = home.mw(["start", "--json", "--", "printf", "%s|", "$HOME *", "it's", "", "--name", "a  b"]);
    let id = answer.exits(0).json()["id"].as_str().unwrap().to_owned();
    home.ended(&id);
    assert_eq!(home.log(&id), b"$HOME *|it's||--name|a  b|");
}

#[test]
fn arguments_that_are_not_utf8_are_passed_unchanged() {
    let home = home();
    let outcome =
        home.command(["start", "--json", "--", "printf", "%s"]).arg(OsStr::from_bytes(b"\xff\xfe")).run();
    let id = outcome.exits(0).json()["id"].as_str().unwrap().to_owned();
    home.ended(&id);
    assert_eq!(home.log(&id), b"\xff\xfe");
}

#[test]
fn a_script_of_100_kilobytes_runs() {
    let home = home();
    let long = "x".repeat(100_000);
    let id = home.start(&format!("echo {long}"));
    home.ended(&id);
    assert_eq!(home.log(&id).len(), long.len() + 1);
}

#[test]
fn another_shell_can_be_chosen() {
    let home = home();
    let shell = home.work().join("myshell");
    std::fs::write(&shell, "#!/bin/sh\necho \"shell $1: $2\"\n").unwrap();
    std::fs::set_permissions(&shell, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let id = home.start_with(&["--shell", shell.to_str().unwrap()], "the script");
    home.ended(&id);
    assert_eq!(home.log(&id), b"shell -c: the script\n");
}

#[test]
fn a_task_runs_in_the_callers_directory() {
    let home = home();
    let id = home.start("pwd -P");
    assert_eq!(home.ended(&id)["cwd"], home.work().to_str().unwrap());
    assert_eq!(home.log(&id), format!("{}\n", home.work().display()).as_bytes());
}

#[test]
fn a_task_runs_in_the_given_directory() {
    let home = home();
    std::fs::create_dir(home.work().join("deeper")).unwrap();
    let id = home.start_with(&["--cwd", "deeper"], "pwd -P");
    let expected = home.work().join("deeper");
    assert_eq!(home.ended(&id)["cwd"], expected.to_str().unwrap());
    assert_eq!(home.log(&id), format!("{}\n", expected.display()).as_bytes());
}

#[test]
fn a_task_has_the_callers_environment_and_added_variables() {
    let home = home();
    let script = "echo \"$OUTER $ADDED $REPLACED\"";
    let outcome = home
        .command(["start", "--json", "--env", "ADDED=b c=d", "--env", "REPLACED=new", script])
        .env("OUTER", "a")
        .env("REPLACED", "old")
        .run();
    let id = outcome.exits(0).json()["id"].as_str().unwrap().to_owned();
    home.ended(&id);
    assert_eq!(home.log(&id), b"a b c=d new\n");
}

#[test]
fn a_task_has_its_id_and_session_in_the_environment() {
    let home = home();
    let id = home.start("echo $MEANWHILE_TASK_ID $MEANWHILE_TASK_SESSION");
    home.ended(&id);
    assert_eq!(home.log(&id), format!("{id} default\n").as_bytes());
}

#[test]
fn standard_input_is_empty_unless_requested() {
    let home = home();
    let id = home.start("cat; echo end");
    assert_eq!(home.ended(&id)["exit_code"], 0);
    assert_eq!(home.log(&id), b"end\n");
}

#[test]
fn description_batch_lifetime_and_name_are_kept() {
    let home = home();
    let options =
        ["--description", "builds it", "--batch", "b7", "--lifetime", "detached", "--name", "build"];
    let task = home.ended(&home.start_with(&options, "true"));
    assert_eq!(task["description"], "builds it", "{task}");
    assert_eq!(task["batch_id"], "b7", "{task}");
    assert_eq!(task["lifetime"], "detached", "{task}");
    assert_eq!(task["name"], "build", "{task}");
    assert_eq!(task["kind"], "shell", "{task}");
    assert_eq!(task["command"], "true", "{task}");
}

#[test]
fn the_default_lifetime_of_a_task_is_its_session() {
    let home = home();
    let task = home.ended(&home.start("true"));
    assert_eq!(task["lifetime"], "session", "{task}");
}

#[test]
fn a_task_is_in_a_separate_session_and_process_group() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let mine = stat(std::process::id()).unwrap();
    let pair = home.pair(&id);
    for pid in [home.pid(&id), pair.supervisor, pair.guardian] {
        let theirs = stat(pid).unwrap();
        assert_ne!(theirs.session, mine.session, "process {pid} is in the starter's session");
        assert_ne!(theirs.group, mine.group, "process {pid} is in the starter's group");
    }
    assert_ne!(stat(pair.guardian).unwrap().parent, std::process::id());
    let own = stat(home.pid(&id)).unwrap();
    assert_eq!((own.group, own.session), (home.pid(&id), home.pid(&id)));
}

#[test]
fn a_task_inherits_no_descriptors() {
    let home = home();
    let id = home.start("ls /proc/self/fd | wc -w");
    home.ended(&id);
    // The three streams, and the directory that `ls` itself reads.
    assert_eq!(String::from_utf8_lossy(&home.log(&id)).trim(), "4");
}

#[test]
fn a_task_inherits_no_blocked_or_ignored_signals() {
    let home = home();
    let id = home.start("grep -E '^Sig(Blk|Ign):' /proc/self/status");
    home.ended(&id);
    let log = String::from_utf8(home.log(&id)).unwrap();
    let sets: Vec<_> = log.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(sets, ["0000000000000000", "0000000000000000"], "{log}");
}

#[test]
fn a_supervisor_exits_after_its_task() {
    let home = home();
    let id = home.start("true");
    home.ended(&id);
    home.wait_until_empty(SOON);
    assert_eq!(home.supervisors_of(&id), [0; 0]);
}
