//! A killed supervisor or guardian: no byte and no exit code is lost.

use mw_model::wire::{LOG_FILE, drop_marker};
use mw_testkit::{Home, Pair, SOON, alive, children, wait_until};

use crate::home;

/// Which supervisor of a task is killed.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Supervisor,
    Guardian,
}

const BOTH: [Victim; 2] = [Victim::Supervisor, Victim::Guardian];

impl Victim {
    fn of(self, pair: Pair) -> u32 {
        match self {
            Self::Supervisor => pair.supervisor,
            Self::Guardian => pair.guardian,
        }
    }
}

fn kill_victim(home: &Home, id: &str, victim: Victim) {
    home.kill_process(victim.of(home.pair(id)));
}

#[test]
fn a_takeover_between_two_writes_loses_neither_output_nor_exit_code() {
    for victim in BOTH {
        let home = home();
        let id = home.start(&format!("seq 1 50000; {}; seq 50001 100000; exit 7", children::gate("go")));
        home.until_logged(&id, "\n50000\n");
        kill_victim(&home, &id, victim);
        home.open("go");
        let task = home.ended(&id);
        assert_eq!(
            (&task["status"], &task["exit_code"]),
            (&"failed".into(), &7.into()),
            "{victim:?}: {task}"
        );
        assert!(home.log(&id) == children::numbered(1, 100_000), "{victim:?}: the log differs");
        home.wait_until_empty(SOON);
    }
}

#[test]
fn a_takeover_during_output_loses_no_byte() {
    for victim in BOTH {
        let home = home();
        // It prints without a pause until the test has seen output after the takeover.
        let script = "n=0; until [ -e go ]; do seq 1 100000; n=$((n + 1)); done; echo $n > rounds; exit 9";
        let id = home.start_with(&["--cap", "0"], script);
        let log = home.task_dir(&id).join(LOG_FILE);
        let printed = || std::fs::metadata(&log).map_or(0, |file| file.len());
        let until_printed = |bytes| {
            wait_until(SOON, "more bytes are in the log", || (printed() > bytes).then_some(()));
        };
        until_printed(500_000);
        kill_victim(&home, &id, victim);
        until_printed(printed() + 500_000);
        home.open("go");
        let task = home.ended(&id);
        assert_eq!(task["exit_code"], 9, "{victim:?}: {task}");
        let rounds: usize =
            std::fs::read_to_string(home.work().join("rounds")).unwrap().trim().parse().unwrap();
        let full = children::numbered(1, 100_000).repeat(rounds);
        assert!(home.log(&id) == full, "{victim:?}: the log differs");
        assert_eq!(task["output_bytes"], home.log(&id).len(), "{victim:?}: {task}");
    }
}

#[test]
fn the_streams_stay_separate_after_a_takeover() {
    let home = home();
    let script =
        format!("{}; {}; {}", children::both_streams(200), children::gate("go"), children::both_streams(200));
    let id = home.start(&script);
    home.until_logged(&id, "out 200\n");
    home.until_logged(&id, "err 200\n");
    kill_victim(&home, &id, Victim::Supervisor);
    home.open("go");
    home.ended(&id);
    for (stream, word) in [("stdout", "out"), ("stderr", "err")] {
        let args = ["output", &id, "--raw", "--offset", "0", "--max-bytes", "1000000", "--stream", stream];
        let one: String = (1..=200).map(|n| format!("{word} {n}\n")).collect();
        assert_eq!(home.mw(args).ok(), one.repeat(2));
    }
}

#[test]
fn the_cap_is_exact_after_a_takeover() {
    let home = home();
    let script = format!("seq 1 200000; {}; seq 200001 400000", children::gate("go"));
    let id = home.start_with(&["--cap", "64KiB"], &script);
    home.until_logged(&id, "\n200000\n");
    kill_victim(&home, &id, Victim::Supervisor);
    home.open("go");
    let task = home.ended(&id);
    let dropped = task["dropped_bytes"].as_u64().unwrap();
    let full = children::numbered(1, 400_000);
    let log = home.log(&id);
    let marker = drop_marker(dropped);
    assert_eq!(task["output_bytes"], full.len(), "{task}");
    assert_eq!(log.len() as u64 - marker.len() as u64 + dropped, full.len() as u64, "{task}");
    let text = String::from_utf8_lossy(&log);
    let (head, tail) = text.split_once(&marker).unwrap();
    assert!(full.starts_with(head.as_bytes()) && full.ends_with(tail.as_bytes()));
}

#[test]
fn a_kill_after_a_takeover_ends_the_whole_tree() {
    for victim in BOTH {
        let home = home();
        let leave = [children::leave_setsid("a"), children::leave_double_fork("b")];
        let id = home.start(&format!("{}\nexec sleep 600", leave.join("\n")));
        let kids = [home.pid_in("a"), home.pid_in("b"), home.pid(&id)];
        kill_victim(&home, &id, victim);
        let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
        assert_eq!(receipt["status"], "cancelled", "{victim:?}: {receipt}");
        for kid in kids {
            assert!(!alive(kid), "{victim:?}: {receipt}");
        }
        home.wait_until_empty(SOON);
    }
}

#[test]
fn a_wait_and_a_follow_end_with_the_task_after_a_takeover() {
    for victim in BOTH {
        let home = home();
        let id = home.start(&children::gated("go", 6));
        let waiting = home.command(["wait", &id]).spawn();
        let following = home.command(["output", &id, "--follow"]).spawn();
        wait_until(SOON, "the follow command shows output", || {
            following.printed().contains("waiting").then_some(())
        });
        kill_victim(&home, &id, victim);
        home.open("go");
        let _ = waiting.wait().exits(6);
        assert_eq!(following.wait().ok(), "waiting\n", "{victim:?}");
    }
}

#[test]
fn a_time_limit_applies_after_a_takeover() {
    for victim in BOTH {
        let home = home();
        let id = home.start_with(&["--timeout", "6s"], children::SLEEPER);
        kill_victim(&home, &id, victim);
        let task = home.ended(&id);
        assert_eq!(task["status"], "timed_out", "{victim:?}: {task}");
    }
}

#[test]
fn a_takeover_continues_a_kill() {
    let home = home();
    let id = home.start(children::STUBBORN);
    home.until_logged(&id, "ready");
    let pid = home.pid(&id);
    let killing = home.command(["kill", &id, "--grace", "6s"]).spawn();
    home.until_status(&id, "cancelling");
    kill_victim(&home, &id, Victim::Supervisor);
    home.until_dead(pid);
    let task = home.ended(&id);
    assert_eq!(task["status"], "cancelled", "{task}");
    let _ = killing.wait();
}

#[test]
fn input_works_after_a_takeover() {
    let home = home();
    let id = home.start_with(&["--stdin"], "read a; echo \"got $a\"; exit 3");
    kill_victim(&home, &id, Victim::Supervisor);
    let outcome = wait_until(SOON, "a supervisor takes the input", || {
        let outcome = home.mw(["input", &id, "word"]);
        (outcome.code == Some(0)).then_some(outcome)
    });
    let _ = outcome.ok();
    assert_eq!(home.ended(&id)["exit_code"], 3);
    assert_eq!(home.log(&id), b"got word\n");
}

#[test]
fn a_terminal_task_survives_a_takeover() {
    let home = home();
    let id =
        home.start_with(&["--pty"], &format!("echo first; {}; echo second; exit 5", children::gate("go")));
    home.until_logged(&id, "first");
    kill_victim(&home, &id, Victim::Supervisor);
    home.open("go");
    let task = home.ended(&id);
    assert_eq!(task["exit_code"], 5, "{task}");
    assert!(String::from_utf8_lossy(&home.log(&id)).contains("second"));
}

#[test]
fn survivors_can_be_killed_after_a_takeover() {
    let home = home();
    let id = home.start(&format!("{}\nexit 0", children::leave_double_fork("kid")));
    home.ended(&id);
    let kid = home.pid_in("kid");
    kill_victim(&home, &id, Victim::Supervisor);
    let _ = home.mw(["kill", &id]).ok();
    assert!(!alive(kid));
    assert_eq!(home.status(&id)["status"], "completed");
    home.wait_until_empty(SOON);
}

#[test]
fn an_end_is_reported_once_after_a_takeover() {
    let home = home();
    let id = home.start(&children::gated("go", 3));
    kill_victim(&home, &id, Victim::Supervisor);
    home.open("go");
    home.ended(&id);
    home.wait_until_empty(SOON);
    let events = home.mw(["watch", "--no-follow", "--task", &id]).exits(0).json_lines();
    assert_eq!(events.iter().filter(|event| event["event"] == "ended").count(), 1, "{events:?}");
}

#[test]
fn the_queue_continues_after_a_takeover() {
    for victim in BOTH {
        let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
        let first = home.start(&children::gated("go", 0));
        let _second = home.start("touch second");
        kill_victim(&home, &first, victim);
        home.open("go");
        // The test only reads a file: no command runs that could start a task.
        home.file("second");
    }
}
