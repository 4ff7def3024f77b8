//! Death of a supervisor or of its guardian: it costs no byte and no exit code.

use mw_model::wire::drop_marker;
use mw_testkit::{Home, Pair, SOON, alive, children, wait_until};

use crate::home;

/// Which of a task's two watchers dies.
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

fn slay(home: &Home, id: &str, victim: Victim) {
    home.slay(victim.of(home.pair(id)));
}

#[test]
fn a_task_between_two_outputs_feels_nothing() {
    for victim in BOTH {
        let home = home();
        let id = home.start(&format!("seq 1 50000; {}; seq 50001 100000; exit 7", children::gate("go")));
        home.until_logged(&id, "\n50000\n");
        slay(&home, &id, victim);
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
fn a_task_in_the_midst_of_its_output_loses_no_byte() {
    for victim in BOTH {
        let home = home();
        let id = home.start_with(&["--cap", "0"], "seq 1 3000000; exit 9");
        wait_until(SOON, "much is printed", || (home.log(&id).len() > 500_000).then_some(()));
        // It may have ended by now on a fast machine; then there is nobody left to kill.
        if let Some(pair) = home.find_pair(&id) {
            home.try_slay(victim.of(pair));
        }
        let task = home.ended(&id);
        assert_eq!(task["exit_code"], 9, "{victim:?}: {task}");
        assert!(home.log(&id) == children::numbered(1, 3_000_000), "{victim:?}: the log differs");
        assert_eq!(task["output_bytes"], home.log(&id).len(), "{victim:?}: {task}");
    }
}

#[test]
fn the_streams_stay_apart() {
    let home = home();
    let script =
        format!("{}; {}; {}", children::both_streams(200), children::gate("go"), children::both_streams(200));
    let id = home.start(&script);
    home.until_logged(&id, "out 200\n");
    home.until_logged(&id, "err 200\n");
    slay(&home, &id, Victim::Supervisor);
    home.open("go");
    home.ended(&id);
    for (stream, word) in [("stdout", "out"), ("stderr", "err")] {
        let args = ["output", &id, "--raw", "--offset", "0", "--max-bytes", "1000000", "--stream", stream];
        let one: String = (1..=200).map(|n| format!("{word} {n}\n")).collect();
        assert_eq!(home.mw(args).ok(), one.repeat(2));
    }
}

#[test]
fn the_cap_counts_on_exactly() {
    let home = home();
    let script = format!("seq 1 200000; {}; seq 200001 400000", children::gate("go"));
    let id = home.start_with(&["--cap", "64KiB"], &script);
    home.until_logged(&id, "\n200000\n");
    slay(&home, &id, Victim::Supervisor);
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
fn kill_still_takes_the_whole_tree() {
    for victim in BOTH {
        let home = home();
        let leave = [children::leave_setsid("a"), children::leave_double_fork("b")];
        let id = home.start(&format!("{}\nexec sleep 600", leave.join("\n")));
        let kids = [home.pid_in("a"), home.pid_in("b"), home.pid(&id)];
        slay(&home, &id, victim);
        let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
        assert_eq!(receipt["status"], "cancelled", "{victim:?}: {receipt}");
        for kid in kids {
            assert!(!alive(kid), "{victim:?}: {receipt}");
        }
        home.wait_until_empty(SOON);
    }
}

#[test]
fn whoever_waits_is_still_told() {
    for victim in BOTH {
        let home = home();
        let id = home.start(&children::gated("go", 6));
        let waiting = home.command(["wait", &id]).spawn();
        let following = home.command(["output", &id, "--follow"]).spawn();
        wait_until(SOON, "the follower follows", || following.printed().contains("waiting").then_some(()));
        slay(&home, &id, victim);
        home.open("go");
        let _ = waiting.wait().exits(6);
        assert_eq!(following.wait().ok(), "waiting\n", "{victim:?}");
    }
}

#[test]
fn a_time_limit_still_holds() {
    for victim in BOTH {
        let home = home();
        let id = home.start_with(&["--timeout", "6s"], children::SLEEPER);
        slay(&home, &id, victim);
        let task = home.ended(&id);
        assert_eq!(task["status"], "timed_out", "{victim:?}: {task}");
    }
}

#[test]
fn a_kill_in_progress_is_carried_on() {
    let home = home();
    let id = home.start(children::STUBBORN);
    home.until_logged(&id, "ready");
    let pid = home.pid(&id);
    let killing = home.command(["kill", &id, "--grace", "6s"]).spawn();
    home.until_status(&id, "cancelling");
    slay(&home, &id, Victim::Supervisor);
    home.until_dead(pid);
    let task = home.ended(&id);
    assert_eq!(task["status"], "cancelled", "{task}");
    let _ = killing.wait();
}

#[test]
fn typing_still_works() {
    let home = home();
    let id = home.start_with(&["--stdin"], "read a; echo \"got $a\"; exit 3");
    slay(&home, &id, Victim::Supervisor);
    let outcome = wait_until(SOON, "somebody takes the input", || {
        let outcome = home.mw(["input", &id, "word"]);
        (outcome.code == Some(0)).then_some(outcome)
    });
    let _ = outcome.ok();
    assert_eq!(home.ended(&id)["exit_code"], 3);
    assert_eq!(home.log(&id), b"got word\n");
}

#[test]
fn a_terminal_survives_its_supervisor() {
    let home = home();
    let id =
        home.start_with(&["--pty"], &format!("echo first; {}; echo second; exit 5", children::gate("go")));
    home.until_logged(&id, "first");
    slay(&home, &id, Victim::Supervisor);
    home.open("go");
    let task = home.ended(&id);
    assert_eq!(task["exit_code"], 5, "{task}");
    assert!(String::from_utf8_lossy(&home.log(&id)).contains("second"));
}

#[test]
fn survivors_stay_in_reach() {
    let home = home();
    let id = home.start(&format!("{}\nexit 0", children::leave_double_fork("kid")));
    home.ended(&id);
    let kid = home.pid_in("kid");
    slay(&home, &id, Victim::Supervisor);
    let _ = home.mw(["kill", &id]).ok();
    assert!(!alive(kid));
    assert_eq!(home.status(&id)["status"], "completed");
    home.wait_until_empty(SOON);
}

#[test]
fn an_ending_is_told_once() {
    let home = home();
    let id = home.start(&children::gated("go", 3));
    slay(&home, &id, Victim::Supervisor);
    home.open("go");
    home.ended(&id);
    home.wait_until_empty(SOON);
    let events = home.mw(["watch", "--no-follow", "--task", &id]).exits(0).json_lines();
    assert_eq!(events.iter().filter(|event| event["event"] == "ended").count(), 1, "{events:?}");
}

#[test]
fn the_queue_moves_on() {
    for victim in BOTH {
        let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
        let first = home.start(&children::gated("go", 0));
        let _second = home.start("touch second");
        slay(&home, &first, victim);
        home.open("go");
        // Only a file is looked at: no command of ours runs that could start anything.
        home.file("second");
    }
}
