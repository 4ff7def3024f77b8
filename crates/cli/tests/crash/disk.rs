//! A full disk: output is dropped and counted, and nothing else is lost.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mw_testkit::host::Host;
use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::{Value, json};

use crate::slow_disk::missing_in;

/// Returns a home on a disk of 8 MiB.
fn small() -> Home {
    Home::on_small_disk(env!("CARGO_BIN_EXE_mw"), 8 << 20)
}

/// Fills the disk of a home; returns the file that takes the space.
fn fill(home: &Home) -> PathBuf {
    let ballast = home.state().join("ballast");
    assert!(fs::write(&ballast, vec![0; 16 << 20]).is_err(), "the disk is not full");
    ballast
}

#[test]
fn a_task_that_fills_the_disk_keeps_its_exit_code() {
    let home = small();
    let bytes = 40_000_000;
    let id = home.start_with(&["--cap", "0"], &format!("{}; exit 5", children::one_line(bytes)));
    let task = home.ended(&id);
    assert_eq!((&task["status"], &task["exit_code"]), (&"failed".into(), &5.into()), "{task}");
    assert_eq!(task["output_bytes"], bytes, "{task}");
    assert!(task["dropped_bytes"].as_u64().unwrap() > bytes - (8 << 20), "{task}");
    home.wait_until_empty(SOON);
}

#[test]
fn a_full_disk_neither_kills_nor_blocks_a_task() {
    let home = small();
    let id = home.start(&format!(
        "echo before; {}; seq 1 100000; touch done; {}; exit 6",
        children::gate("a"),
        children::gate("b")
    ));
    home.until_logged(&id, "before");
    let ballast = fill(&home);
    home.open("a");
    home.file("done");
    fs::remove_file(&ballast).unwrap();
    home.open("b");
    let task = home.ended(&id);
    assert_eq!(task["exit_code"], 6, "{task}");
    assert_eq!(task["output_bytes"], 7 + children::numbered(1, 100_000).len(), "{task}");
}

#[test]
fn dropped_bytes_are_counted_once_if_the_supervisor_dies_at_their_marker() {
    for step in ["drop-announced", "drop-marked"] {
        let home = small();
        let reached = home.work().join("reached");
        let script = format!(
            "echo before; {}; seq 1 100000; touch done; {}; echo after; exit 6",
            children::gate("a"),
            children::gate("b")
        );
        let start = home.command(["start", "--json", &script]);
        let started = start.env("MEANWHILE_FAIL_AT", format!("{step}@{}", reached.display())).run();
        let id = started.json()["id"].as_str().unwrap().to_owned();
        home.until_logged(&id, "before");
        let ballast = fill(&home);
        home.open("a");
        home.file("done");
        fs::remove_file(&ballast).unwrap();
        home.open("b");
        // The guardian dies at the same step, so the first command that looks starts an adopter.
        wait_until(SOON, step, || reached.exists().then_some(()));
        let task = home.ended(&id);
        home.wait_until_empty(SOON);
        let printed = [b"before\n", children::numbered(1, 100_000).as_slice(), b"after\n"].concat();
        let missing = missing_in(&home.log(&id), &printed).unwrap();
        match task["status"].as_str() {
            Some("failed") => assert_eq!(
                (&task["exit_code"], &task["dropped_bytes"]),
                (&6.into(), &missing.into()),
                "{task}"
            ),
            _ => assert_eq!(
                (&task["status"], &task["output_complete"]),
                (&"lost".into(), &false.into()),
                "{step}: {task}"
            ),
        }
    }
}

#[test]
fn an_end_on_a_full_disk_is_recorded_once_there_is_space() {
    let home = small();
    let id = home.start(&children::gated("go", 7));
    home.until_logged(&id, "waiting");
    let pid = home.pid(&id);
    let ballast = fill(&home);
    home.open("go");
    home.until_dead(pid);
    fs::remove_file(&ballast).unwrap();
    assert_eq!(home.ended(&id)["exit_code"], 7);
}

#[test]
fn a_start_on_a_full_disk_works_or_leaves_no_task() {
    let home = small();
    let _ = home.ended(&home.start("true"));
    let ballast = fill(&home);
    let outcome = home.mw(["start", "--json", "exit 3"]);
    match outcome.code {
        Some(0) => {}
        Some(code @ (1 | 7)) => {
            let _ = outcome.refusal(code);
        }
        _ => panic!("{outcome}"),
    }
    fs::remove_file(&ballast).unwrap();
    wait_until(SOON, "every task has ended", || {
        let tasks = home.list();
        let over = tasks.iter().all(|task| task["status"] == "completed" || task["status"] == "failed");
        over.then_some(())
    });
    let expected = if outcome.code == Some(0) { 2 } else { 1 };
    assert_eq!(home.list().len(), expected);
}

#[test]
fn reading_works_on_a_full_disk() {
    let home = small();
    let id = home.start("echo hi; exit 3");
    home.ended(&id);
    let _ballast = fill(&home);
    assert_eq!(home.mw(["output", &id]).ok(), "hi\n");
    assert_eq!(home.status(&id)["exit_code"], 3);
}

#[test]
fn tasks_are_read_without_space_for_the_shared_memory_file_of_the_database() {
    let home = small();
    let over = home.start("echo hi; exit 3");
    home.ended(&over);
    let live = home.start(children::SLEEPER);
    let _ = home.list();
    home.until_settled(&over);
    fs::remove_file(home.state().join("meanwhile.db-shm")).unwrap();
    let ballast = fill(&home);
    assert_eq!(home.status(&over)["exit_code"], 3);
    assert_eq!(home.mw(["output", &over]).ok(), "hi\n");
    assert_eq!(home.list().len(), 2);
    let report = home.mw(["clear", "--json", &over]).exits(0).json();
    assert!(!home.task_dir(&over).join("output.log").exists(), "{report}");
    let kept = report["kept"].as_array().unwrap().len();
    assert_eq!(home.list().len(), 1 + kept, "a listed task is not reported as cleared: {report}");
    let _ = home.mw(["kill", &live]);
    home.until_dead(home.pid(&live));
    fs::remove_file(&ballast).unwrap();
    assert_eq!(home.ended(&live)["status"], "cancelled");
}

#[test]
fn without_a_database_on_a_full_disk_tasks_are_listed_and_can_be_cleared() {
    let home = small();
    let over = home.start("head -c 100000 /dev/zero; exit 3");
    home.ended(&over);
    let live = home.start(children::SLEEPER);
    let pid = home.pid(&live);
    home.until_settled(&over);
    home.delete_database();
    let _ballast = fill(&home);
    assert_eq!(home.status(&over)["exit_code"], 3);
    assert_eq!(home.list().len(), 2);
    let _ = home.mw(["kill", &live]);
    home.until_dead(pid);
    home.wait_until_empty(SOON);
    let _ = home.mw(["clear", "--finished"]).exits(0);
    assert!(!home.task_dir(&over).join("output.log").exists());
}

#[test]
fn a_queued_task_that_cannot_start_on_a_full_disk_stays_queued() {
    let home = crate::home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let (full, wrapper) = (home.work().join("full"), home.work().join("supervisor"));
    let refusal = r#"{"refused":{"code":"no_room","message":"journal: No space left on device"}}"#;
    let real = Path::new(env!("CARGO_BIN_EXE_mw")).with_file_name("mw-supervisor");
    let (gone, real) = (full.display(), real.display());
    let script = format!("#!/bin/sh\n[ ! -e '{gone}' ] || exec echo '{refusal}'\nexec '{real}' \"$@\"\n");
    fs::write(&wrapper, script).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o700)).unwrap();
    let home = home.with_env("MEANWHILE_SUPERVISOR", &wrapper);
    let first = home.start(&children::gated("go", 3));
    let second = home.start("exit 4");
    fs::write(&full, "").unwrap();
    home.open("go");
    home.ended(&first);
    home.until_settled(&first);
    assert_eq!(home.status(&second)["status"], "pending");
    fs::remove_file(&full).unwrap();
    assert_eq!(home.ended(&second)["exit_code"], 4);
}

#[test]
fn a_queued_task_does_not_start_without_space_for_the_database() {
    let home = small();
    let home = home.with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start(&children::gated("go", 3));
    home.until_logged(&first, "waiting");
    let pid = home.pid(&first);
    let second = home.start("echo ran >> ran; exit 4");
    let ballast = fill(&home);
    // Space for a few files, but not for the shared memory file of the database.
    fs::remove_file(home.state().join("meanwhile.db-shm")).unwrap();
    let file = fs::OpenOptions::new().append(true).open(&ballast).unwrap();
    let _ = (&file).write_all(&vec![0; 1 << 20]);
    file.set_len(file.metadata().unwrap().len() - 5 * 4096).unwrap();
    drop(file);
    home.open("go");
    home.until_dead(pid);
    home.wait_until_empty(SOON);
    for _ in 0..2 {
        assert_eq!(home.status(&first)["exit_code"], 3);
        assert_eq!(home.status(&second)["status"], "pending");
    }
    assert!(
        home.mw(["start", "--name", "n", "--json", "true"]).code != Some(0),
        "a start that cannot be recorded is refused"
    );
    fs::remove_file(&ballast).unwrap();
    assert_eq!(home.ended(&second)["exit_code"], 4);
    assert_eq!(home.lines_in("ran", 1), "ran\n");
    assert_eq!(home.list().len(), 2);
}

#[test]
fn a_watch_shows_later_events_once_there_is_space() {
    let home = small();
    home.ended(&home.start("true"));
    let first = home.start(children::SLEEPER);
    let ballast = fill(&home);
    let watching = home.command(["watch"]).spawn();
    let shows = |id: &str| {
        let event = |event: &Value| event["event"] == "started" && event["task"] == id;
        wait_until(SOON, &format!("the start of {id} is shown"), || {
            watching.json_lines().iter().any(event).then_some(())
        });
    };
    shows(&first);
    fs::remove_file(&ballast).unwrap();
    shows(&home.start(children::SLEEPER));
}

#[test]
fn a_kill_works_on_a_full_disk() {
    let home = small();
    let id = home.start(children::SLEEPER);
    let pid = home.pid(&id);
    let ballast = fill(&home);
    let _ = home.mw(["kill", &id]);
    home.until_dead(pid);
    fs::remove_file(&ballast).unwrap();
    assert_eq!(home.ended(&id)["status"], "cancelled");
}

#[test]
fn a_task_that_ran_has_a_journal_entry_however_little_space_was_left() {
    const PAGE: u64 = 4096;
    let (mut refused, mut ran) = (0, 0);
    for room in 0..8 {
        let home = small();
        let _ = home.ended(&home.start("true"));
        let ballast = fill(&home);
        let file = fs::OpenOptions::new().write(true).open(&ballast).unwrap();
        file.set_len(file.metadata().unwrap().len() - room * PAGE).unwrap();
        drop(file);
        let outcome = home.mw(["start", "--json", "echo ran >> ran"]);
        fs::remove_file(&ballast).unwrap();
        home.wait_until_empty(SOON);
        if !home.has_file("ran") {
            assert_ne!(outcome.code, Some(0), "{outcome}");
            refused += 1;
            continue;
        }
        ran += 1;
        let task = home.ended(outcome.json()["id"].as_str().unwrap());
        let directory = home.task_dir(task["id"].as_str().unwrap());
        let journal = fs::read_to_string(directory.join("journal.jsonl")).unwrap();
        assert!(
            journal.contains("\"spawning\""),
            "it ran with {room} pages, but its journal says {journal:?}"
        );
    }
    assert!(refused > 0 && ran > 0, "{refused} starts were refused, {ran} succeeded");
}

/// Returns a home on a disk of 2 MiB that a task has filled, with an earlier task, and both ids.
fn filled() -> (Home, String, String) {
    let home = Home::on_small_disk(env!("CARGO_BIN_EXE_mw"), 2 << 20);
    let earlier = home.start("true");
    home.ended(&earlier);
    let filler = home.start_with(&["--cap", "0"], &format!("{}; exit 7", children::one_line(5_000_000)));
    home.ended(&filler);
    home.wait_until_empty(SOON);
    assert_eq!(home.status(&filler)["exit_code"], 7);
    (home, earlier, filler)
}

#[test]
fn a_task_that_filled_the_disk_can_be_cleared() {
    let (home, earlier, filler) = filled();
    let report = home.mw(["clear", "--json", &filler]).exits(0).json();
    assert_eq!(report["cleared"], json!([filler]), "{report}");
    assert!(!home.task_dir(&filler).exists(), "its space is free again");
    let left: Vec<_> = home.list().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(left, [earlier]);
}

#[test]
fn finished_tasks_are_cleared_completely_on_a_full_disk() {
    let (home, earlier, filler) = filled();
    let report = home.mw(["clear", "--finished", "--json"]).exits(0).json();
    let cleared = report["cleared"].as_array().unwrap();
    assert!(cleared.contains(&earlier.into()) && cleared.contains(&filler.into()), "{report}");
    assert_eq!(home.list(), Vec::<Value>::new());
}

/// The server has no space to record that its reply reports the end.
#[test]
fn a_kill_over_mcp_works_on_a_full_disk() {
    let home = small();
    let mut host = Host::new(&home);
    let id = host.start(children::SLEEPER);
    let _ballast = fill(&home);
    let stopped = host.call("task_stop", &json!({"task_ids": [id]}));
    assert_eq!(stopped["isError"], false, "{stopped}");
    assert_eq!(home.status(&id)["status"], "cancelled");
}

#[test]
fn a_server_acknowledges_later_what_it_delivered_before_the_disk_was_full() {
    let home = small();
    let id = home.command(["start", "--json", "exit 3"]).session("host").run().json()["id"].clone();
    let id = id.as_str().unwrap().to_owned();
    home.ended(&id);
    let reached = home.work().join("reached");
    let at = format!("stop:reply-written@{}", reached.display());
    let mut host = Host::of(home.command(["mcp"]).session("host").env("MEANWHILE_FAIL_AT", at));
    let call = host.begin("task_list", &json!({}));
    assert_eq!(mw_testkit::host::notified_tasks(&host.answer(call)["result"]), std::slice::from_ref(&id));
    wait_until(SOON, "the server has stopped", || reached.exists().then_some(()));
    let ballast = fill(&home);
    host.server.signal(rustix::process::Signal::CONT);
    // The acknowledgement is tried at least once while the disk is full.
    let mut busy = Host::of(home.command(["mcp"]).session("other"));
    let _ = busy.call("task_list", &json!({}));
    fs::remove_file(&ballast).unwrap();
    let told = home.task_dir(&id).join("told");
    wait_until(SOON, "the delivery is recorded", || told.exists().then_some(()));
    host.server.signal(rustix::process::Signal::KILL);
    let _ = host.server.wait(SOON);
    assert_eq!(Host::new(&home).notifications(), Vec::<String>::new());
}

#[test]
fn killing_an_ended_task_on_a_full_disk_is_no_error() {
    let (home, _, filler) = filled();
    let receipt = home.mw(["kill", "--json", &filler]).exits(0).json();
    assert_eq!(receipt["status"], "failed", "{receipt}");
    let report = home.mw(["clear", "--kill", "--json", &filler]).exits(0).json();
    assert_eq!(report["cleared"], json!([filler]), "{report}");
}

#[test]
fn a_task_that_a_full_disk_keeps_in_the_database_is_not_reported_as_cleared() {
    let home = small();
    let id = home.start(&children::gated("go", 7));
    home.until_logged(&id, "waiting");
    let pid = home.pid(&id);
    assert_eq!(home.list()[0]["status"], "running", "the database lists it as running");
    let ballast = fill(&home);
    home.open("go");
    home.until_dead(pid);
    home.wait_until_empty(SOON);
    assert_eq!(home.status(&id)["status"], "failed");
    let report = home.mw(["clear", "--finished", "--json"]).exits(0).json();
    assert!(!home.task_dir(&id).join("output.log").exists(), "{report}");
    let kept = report["kept"].as_array().unwrap();
    let listed = home.list();
    assert_eq!(kept.len(), listed.len(), "a listed task is not reported as cleared: {report}");
    assert!(
        listed.iter().all(|task| task["exit_code"] == 7),
        "an ended task is not running again: {listed:?}"
    );
    fs::remove_file(&ballast).unwrap();
    assert!(home.list().iter().all(|task| task["exit_code"] == 7), "the exit code is kept");
    let _ = home.mw(["clear", "--finished"]).ok();
    assert_eq!(home.list(), Vec::<Value>::new());
}

#[test]
fn bytes_dropped_on_a_full_disk_stay_counted_after_the_last_survivor() {
    let home = small();
    let script = format!(
        "({}) & {}; head -c 5000 /dev/zero | tr '\\0' x; exit 3",
        children::gate("end"),
        children::gate("go")
    );
    let id = home.start(&script);
    let _ = home.list();
    let ballast = fill(&home);
    home.open("go");
    let counts = |task: &Value| (task["output_bytes"].clone(), task["dropped_bytes"].clone());
    let task = home.ended(&id);
    assert_eq!(counts(&task), (5000.into(), 5000.into()), "{task}");
    home.open("end");
    home.wait_until_empty(SOON);
    fs::remove_file(&ballast).unwrap();
    let task = home.status(&id);
    assert_eq!(task["survivors"], 0, "{task}");
    assert_eq!(counts(&task), (5000.into(), 5000.into()), "{task}");
}

#[test]
fn bytes_dropped_on_a_full_disk_stay_counted_if_both_supervisors_are_killed_after_the_end() {
    let home = small();
    let script = format!(
        "({}) & {}; head -c 5000 /dev/zero | tr '\\0' x; exit 3",
        children::gate("end"),
        children::gate("go")
    );
    let id = home.start(&script);
    let _ = home.list();
    let ballast = fill(&home);
    home.open("go");
    let counts = |task: &Value| (task["output_bytes"].clone(), task["dropped_bytes"].clone());
    assert_eq!(counts(&home.ended(&id)), (5000.into(), 5000.into()));
    fs::remove_file(&ballast).unwrap();
    home.kill_supervisors(&id);
    let task = home.status(&id);
    assert_ne!(task["survivors"], 0, "{task}");
    let _ = home.pair(&id);
    home.open("end");
    home.wait_until_empty(SOON);
    let task = home.status(&id);
    assert_eq!(task["survivors"], 0, "{task}");
    assert_eq!(counts(&task), (5000.into(), 5000.into()), "{task}");
}

#[test]
fn no_hint_offers_output_that_was_dropped() {
    let home = small();
    let script =
        format!("{}; head -c 5000 /dev/zero; touch done; {}", children::gate("a"), children::gate("b"));
    let id = home.start(&script);
    home.until_status(&id, "running");
    let ballast = fill(&home);
    home.open("a");
    home.file("done");
    home.open("b");
    home.ended(&id);
    fs::remove_file(&ballast).unwrap();
    assert_eq!(home.status(&id)["dropped_bytes"], 5000);
    for more in [&[][..], &["--max-bytes", "0"]] {
        let said = home.mw(["output", &id].iter().chain(more)).exits(0).stderr_text();
        assert!(!said.contains("--offset 0"), "{more:?}: {said}");
    }
}

/// The retry is decided when its time is recorded, so it must not be lost, nor run twice.
#[test]
fn a_retry_that_is_decided_on_a_full_disk_follows_when_there_is_room() {
    let home = small();
    let script = format!("echo before; echo run >> runs; {}; exit 5", children::gate("a"));
    let id = home.start_with(&["--retries", "1"], &script);
    home.until_logged(&id, "before");
    let ballast = fill(&home);
    home.open("a");
    wait_until(SOON, "the first run has ended", || {
        let task = home.mw(["status", "--json", &id]).json();
        (task["status"] != "running").then_some(())
    });
    fs::remove_file(&ballast).unwrap();
    let task = home.ended(&id);
    assert_eq!((&task["status"], &task["runs"]), (&"failed".into(), &2.into()), "{task}");
    assert_eq!(home.lines_in("runs", 2), "run\nrun\n");
    home.wait_until_empty(SOON);
}
