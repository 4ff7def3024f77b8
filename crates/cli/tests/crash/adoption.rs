//! Guardian and supervisor killed: the task continues, the next command adopts it, and no outcome is invented.

use std::fs;

use mw_testkit::{Home, Need, SOON, alive, children, skip};
use rustix::system::uname;

use crate::home;

/// Returns whether the kernel gives the exit code to a process that is not the parent (`PIDFD_GET_INFO`, Linux 6.15).
fn exit_codes_can_be_learned() -> bool {
    let release = uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(15))
}

/// Runs a read command, which repairs the state.
fn one_further_command(home: &Home) {
    let _ = home.mw(["list", "--json"]).ok();
}

#[test]
fn a_running_task_continues_and_is_adopted() {
    let home = home();
    let id = home.start(&format!("seq 1 50000; {}; seq 50001 100000; exit 7", children::gate("go")));
    home.until_logged(&id, "\n50000\n");
    let pid = home.pid(&id);
    home.kill_supervisors(&id);
    assert!(alive(pid));
    one_further_command(&home);
    assert_eq!(home.status(&id)["status"], "running");
    home.open("go");
    let task = home.ended(&id);
    assert!(home.log(&id) == children::numbered(1, 100_000), "the log differs");
    if exit_codes_can_be_learned() {
        assert_eq!((&task["status"], &task["exit_code"]), (&"failed".into(), &7.into()), "{task}");
    } else {
        assert_eq!(task["status"], "lost", "{task}");
    }
}

#[test]
fn a_task_can_print_without_supervisors() {
    let home = home();
    // Less than a pipe of 1 MiB holds, so it does not block.
    let id = home.start(&format!(
        "{}; seq 1 50000; touch printed; {}; exit 3",
        children::gate("a"),
        children::gate("b")
    ));
    home.kill_supervisors(&id);
    home.open("a");
    home.file("printed");
    one_further_command(&home);
    home.open("b");
    home.ended(&id);
    assert!(home.log(&id) == children::numbered(1, 50_000), "the log differs");
}

#[test]
fn a_task_blocked_on_a_full_pipe_loses_no_output() {
    let home = home();
    let script = format!("{}; touch printing; seq 1 600000; exit 3", children::gate("a"));
    let id = home.start_with(&["--cap", "0"], &script);
    home.kill_supervisors(&id);
    home.open("a");
    home.file("printing");
    one_further_command(&home);
    home.ended(&id);
    assert!(home.log(&id) == children::numbered(1, 600_000), "the log differs");
}

#[test]
fn a_task_that_ended_unobserved_is_lost_even_after_success() {
    let home = home();
    let id = home.start(&children::gated("go", 0));
    let pid = home.pid(&id);
    home.kill_supervisors(&id);
    home.open("go");
    home.until_dead(pid);
    let task = home.ended(&id);
    assert_eq!(task["status"], "lost", "{task}");
    assert!(task["exit_code"].is_null() && task["signal"].is_null(), "{task}");
    assert!(task["ended_at"].is_string(), "{task}");
    let _ = home.mw(["wait", &id]).exits(125);
}

#[test]
fn output_before_an_unobserved_end_is_kept() {
    let home = home();
    let id = home.start(&format!("echo one; {}; echo two", children::gate("go")));
    home.until_logged(&id, "one");
    let pid = home.pid(&id);
    home.kill_supervisors(&id);
    home.open("go");
    home.until_dead(pid);
    home.ended(&id);
    assert!(home.log(&id).starts_with(b"one\n"));
}

#[test]
fn a_lost_task_frees_its_slot() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let first = home.start(children::SLEEPER);
    let _second = home.start("touch second");
    let pid = home.pid(&first);
    home.kill_supervisors(&first);
    home.kill_process(pid);
    one_further_command(&home);
    home.file("second");
    assert_eq!(home.status(&first)["status"], "lost");
}

#[test]
fn a_task_without_supervisors_can_be_killed() {
    let home = home();
    let leave = [children::leave_setsid("a"), children::leave_double_fork("b"), children::leave_holder("c")];
    let id = home.start(&format!("{}\nexec sleep 600", leave.join("\n")));
    let kids = [home.pid_in("a"), home.pid_in("b"), home.pid_in("c"), home.pid(&id)];
    home.kill_supervisors(&id);
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    for kid in kids {
        assert!(!alive(kid), "{receipt}");
    }
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    home.wait_until_empty(SOON);
}

#[test]
fn survivors_of_a_lost_task_can_be_killed() {
    let home = home();
    let id = home.start(&format!("{}\nexec sleep 600", children::leave_setsid("kid")));
    let (pid, kid) = (home.pid(&id), home.pid_in("kid"));
    home.kill_supervisors(&id);
    home.kill_process(pid);
    assert_eq!(home.ended(&id)["status"], "lost");
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    assert!(!alive(kid), "{receipt}");
    assert_eq!(home.status(&id)["status"], "lost");
    home.wait_until_empty(SOON);
}

#[test]
fn an_adopted_task_keeps_its_time_limit() {
    let home = home();
    let id = home.start_with(&["--timeout", "5s"], children::SLEEPER);
    let pid = home.pid(&id);
    home.kill_supervisors(&id);
    one_further_command(&home);
    home.until_dead(pid);
    assert_eq!(home.ended(&id)["status"], "timed_out");
}

#[test]
fn an_adopted_task_accepts_input() {
    let home = home();
    // A pending read gets the end of input when both supervisors die; a later one does not.
    let script = format!("{}; read a; echo \"got $a\"; exec sleep 600", children::gate("go"));
    let id = home.start_with(&["--stdin"], &script);
    home.kill_supervisors(&id);
    one_further_command(&home);
    home.open("go");
    let _ = home.mw(["input", &id, "word"]).ok();
    home.until_logged(&id, "got word");
}

#[test]
fn an_adopting_supervisor_can_be_killed_too() {
    let home = home();
    let id = home.start(&format!("echo one; {}; echo two; exit 4", children::gate("go")));
    home.until_logged(&id, "one");
    home.kill_supervisors(&id);
    one_further_command(&home);
    for pid in home.supervisors_of(&id) {
        home.try_kill_process(pid);
    }
    one_further_command(&home);
    home.open("go");
    let task = home.ended(&id);
    assert!(task["status"] == "failed" || task["status"] == "lost", "{task}");
    assert_eq!(home.log(&id), b"one\ntwo\n");
}

#[test]
fn concurrent_commands_adopt_a_task_once() {
    let home = home();
    let id = home.start(&children::gated("go", 3));
    home.kill_supervisors(&id);
    let many: Vec<_> = (0..6).map(|_| home.command(["list", "--json"]).spawn()).collect();
    for one in many {
        let _ = one.wait().ok();
    }
    assert!(home.supervisors_of(&id).len() <= 2, "{:?}", home.supervisors_of(&id));
    home.open("go");
    home.ended(&id);
    let events = home.mw(["watch", "--no-follow", "--task", &id]).exits(0).json_lines();
    assert_eq!(events.iter().filter(|event| event["event"] == "ended").count(), 1, "{events:?}");
    assert_eq!(home.log(&id), b"waiting\n");
}

#[test]
fn a_task_with_an_incomplete_journal_line_is_adopted() {
    let home = home();
    let id = home.start(&format!("echo ran >> ran; {}; exit 7", children::gate("go")));
    home.file("ran");
    let path = home.task_dir(&id).join("journal.jsonl");
    for _ in 0..2 {
        home.kill_supervisors(&id);
        // Its writer was killed inside a character.
        let mut text = fs::read(&path).unwrap();
        text.extend(b"{\"v\":1,\"prompt\":\"\xe2\x82");
        fs::write(&path, text).unwrap();
        one_further_command(&home);
        let _ = home.pair(&id);
        assert_eq!(home.status(&id)["status"], "running");
    }
    let _ = home.mw(["kill", &id]).ok();
    let task = home.ended(&id);
    assert_eq!(task["status"], "cancelled", "{task}");
    assert_eq!(home.lines_in("ran", 1), "ran\n");
    let journal = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
    let taken_over = journal.lines().filter(|line| line.starts_with("{\"v\"") && line.contains("taken_over"));
    assert_eq!(taken_over.count(), 2, "{journal}");
}

/// Runs `mw` with a supervisor executable that does not exist.
fn without_supervisor(home: &Home, args: &[&str]) -> mw_testkit::Outcome {
    home.command(args).env("MEANWHILE_SUPERVISOR", "/nonexistent/mw-supervisor").run()
}

#[test]
fn a_task_whose_adoption_fails_continues_and_is_adopted_later() {
    let home = home();
    let id = home.start(&format!("echo one; {}; echo two; exit 7", children::gate("go")));
    home.until_logged(&id, "one");
    let pid = home.pid(&id);
    home.kill_supervisors(&id);
    for _ in 0..2 {
        let task = without_supervisor(&home, &["status", "--json", &id]).exits(0).json();
        assert_eq!((&task["status"], &task["pid"]), (&"running".into(), &pid.into()), "{task}");
        assert!(task["untended"].as_str().unwrap().contains("/nonexistent/mw-supervisor"), "{task}");
        let said = without_supervisor(&home, &["status", &id]).ok();
        assert!(said.contains("no new one can be started"), "{said}");
    }
    let task = home.status(&id);
    assert_eq!(task["status"], "running", "{task}");
    assert!(task["untended"].is_null(), "{task}");
    let _ = home.pair(&id);
    home.open("go");
    let task = home.ended(&id);
    assert_eq!(home.log(&id), b"one\ntwo\n");
    assert_eq!(task["output_complete"], true, "{task}");
    let word = if exit_codes_can_be_learned() { "failed" } else { "lost" };
    assert_eq!(task["status"], word, "{task}");
}

#[test]
fn a_task_that_cannot_be_adopted_can_be_killed() {
    let home = home();
    let id = home.start(&format!("{}\nexec sleep 600", children::leave_setsid("kid")));
    let (pid, kid) = (home.pid(&id), home.pid_in("kid"));
    home.kill_supervisors(&id);
    let receipt = without_supervisor(&home, &["kill", "--json", &id]).exits(0).json();
    for killed in [pid, kid] {
        assert!(!alive(killed), "{receipt}");
        assert!(receipt["killed"].as_array().unwrap().contains(&killed.into()), "{receipt}");
    }
    assert_eq!(receipt["status"], "cancelled", "{receipt}");
    let task = home.status(&id);
    assert!(task["exit_code"].is_null(), "{task}");
    home.wait_until_empty(SOON);
}

#[test]
fn a_task_that_ended_without_adoption_is_lost_and_keeps_its_output() {
    let home = home();
    let id = home.start(&format!("echo one; {}", children::SLEEPER));
    home.until_logged(&id, "one");
    let pid = home.pid(&id);
    home.kill_supervisors(&id);
    home.kill_process(pid);
    let task = without_supervisor(&home, &["status", "--json", &id]).exits(0).json();
    assert_eq!((&task["status"], &task["output_bytes"]), (&"lost".into(), &4.into()), "{task}");
    assert_eq!(task["output_complete"], false, "{task}");
}

#[test]
fn survivors_are_found_again_after_the_supervisors_were_killed() {
    for first in ["status", "kill"] {
        let home = home();
        let id =
            home.start(&format!("{}\nwhile [ ! -e kid ]; do :; done; exit 3", children::leave_setsid("kid")));
        let kid = home.pid_in("kid");
        home.ended(&id);
        home.kill_supervisors(&id);
        if first == "status" {
            assert_eq!(home.status(&id)["survivors"], 1);
            let _ = home.pair(&id);
        }
        let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
        assert!(!alive(kid), "{first}: {receipt}");
        assert!(receipt["killed"].as_array().unwrap().contains(&kid.into()), "{first}: {receipt}");
        home.wait_until_empty(SOON);
        let task = home.status(&id);
        assert_eq!((&task["exit_code"], &task["survivors"]), (&3.into(), &0.into()), "{first}: {task}");
    }
}

#[test]
fn survivors_that_cannot_be_adopted_stay_known_and_can_be_killed() {
    let home = home();
    let id =
        home.start(&format!("{}\nwhile [ ! -e kid ]; do :; done; exit 3", children::leave_setsid("kid")));
    let kid = home.pid_in("kid");
    home.ended(&id);
    home.kill_supervisors(&id);
    let task = without_supervisor(&home, &["status", "--json", &id]).exits(0).json();
    assert_eq!(task["survivors"], 1, "{task}");
    let receipt = without_supervisor(&home, &["kill", "--json", &id]).exits(0).json();
    assert!(!alive(kid), "{receipt}");
    let task = home.status(&id);
    assert_eq!((&task["exit_code"], &task["survivors"]), (&3.into(), &0.into()), "{task}");
}

#[test]
fn output_lost_without_supervisors_is_reported_as_missing() {
    let home = home().with_env("MEANWHILE_SESSION", "s");
    let id = home.start(&format!("echo one; {}; seq 1 100", children::gate("go")));
    home.until_logged(&id, "one");
    let pid = home.pid(&id);
    home.kill_supervisors(&id);
    home.open("go");
    home.until_dead(pid);
    let task = home.ended(&id);
    assert_eq!((&task["status"], &task["output_complete"]), (&"lost".into(), &false.into()), "{task}");
    assert!(task["cause"].as_str().unwrap().contains("output after byte 4 may be missing"), "{task}");
    let said = home.mw(["status", &id]).ok();
    assert!(said.contains("may be incomplete"), "{said}");
    let notices = home.mw(["notices", "--json"]).ok();
    assert!(notices.contains("output after byte 4 may be missing"), "{notices}");
    // A rebuilt database has the same state.
    home.wait_until_empty(SOON);
    home.delete_database();
    assert_eq!(home.status(&id)["output_complete"], false);
    // The next run is complete again.
    let _ = home.mw(["restart", &id]).ok();
    assert_eq!(home.ended(&id)["output_complete"], true);
}

#[test]
fn kill_all_ends_survivors_of_ended_tasks() {
    let home = home();
    let over =
        home.start(&format!("{}\nwhile [ ! -e kid ]; do :; done; exit 3", children::leave_setsid("kid")));
    let kid = home.pid_in("kid");
    home.ended(&over);
    let other = home.start(children::SLEEPER);
    let receipts = home.mw(["kill", "--json", "--all"]).exits(0).json();
    assert!(!alive(kid), "{receipts}");
    assert_eq!(receipts["receipts"].as_array().unwrap().len(), 2, "{receipts}");
    assert_eq!(home.status(&other)["status"], "cancelled");
    home.wait_until_empty(SOON);
}

#[test]
fn the_end_of_an_adopted_task_is_recorded_within_a_second() {
    if !exit_codes_can_be_learned() {
        skip(Need::ForeignExitCodes, "the kernel is older");
    }
    let home = home();
    let id = home.start(&children::gated("go", 4));
    let pid = home.pid(&id);
    home.kill_supervisors(&id);
    one_further_command(&home);
    home.open("go");
    home.until_dead(pid);
    let begun = std::time::Instant::now();
    let task = home.ended(&id);
    assert_eq!((&task["status"], &task["exit_code"]), (&"failed".into(), &4.into()), "{task}");
    // Its new parent may take seconds to reap it.
    assert!(begun.elapsed().as_millis() < 1000, "{:?}", begun.elapsed());
    let killed = home.start(children::SLEEPER);
    home.kill_supervisors(&killed);
    one_further_command(&home);
    let begun = std::time::Instant::now();
    let _ = home.mw(["kill", &killed]).ok();
    assert!(begun.elapsed().as_millis() < 1000, "{:?}", begun.elapsed());
    let task = home.status(&killed);
    assert_eq!((&task["status"], &task["signal"]), (&"cancelled".into(), &"SIGTERM".into()), "{task}");
}

#[test]
fn output_printed_without_supervisors_is_not_reported_as_complete() {
    let home = home();
    let script = format!("echo first; {}; seq 1 1000; touch printed; exec sleep 600", children::gate("go"));
    let id = home.start(&script);
    home.until_logged(&id, "first");
    home.kill_supervisors(&id);
    home.open("go");
    home.file("printed");
    let kill = home.command(["kill", &id]).env("MEANWHILE_SUPERVISOR", "/nonexistent").run();
    assert_eq!(kill.code, Some(0), "{kill}");
    let task = home.status(&id);
    assert_eq!(task["status"], "cancelled", "{task}");
    assert_eq!(task["output_complete"], false, "{task}");
}

/// Both supervisors were killed before they answered, and another process is just adopting the task.
#[test]
fn a_start_without_an_answer_keeps_a_task_that_another_process_adopts() {
    let home = home();
    let id = home.start(children::SLEEPER);
    let journal = home.task_dir(&id).join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let (spawning, _) = text.split_once('\n').unwrap();
    assert!(spawning.contains("spawning"), "{spawning}");
    // The adopter has the lock and has not written who the process is.
    fs::write(&journal, format!("{spawning}\n")).unwrap();
    let _ = home.mw(["started", &id]).exits(0);
    assert!(home.task_dir(&id).join("spec.json").exists(), "the directory of a running task was removed");
    let supervisors = home.supervisors_of(&id);
    assert_eq!(supervisors.len(), 2, "{supervisors:?}");
}
