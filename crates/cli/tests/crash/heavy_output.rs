//! Repeated kills of supervisors during heavy output.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};

use mw_model::wire::LOG_FILE;
use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

const TIMES: u64 = 10;
const LAST: u64 = 400_000;

/// Returns an unpredictable number.
fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}

fn log_size(home: &Home, id: &str) -> u64 {
    fs::metadata(home.task_dir(id).join(LOG_FILE)).map_or(0, |file| file.len())
}

#[test]
fn no_byte_is_lost_when_a_supervisor_is_killed_during_heavy_output() {
    let home = home();
    let full = children::numbered(1, LAST);
    let mut hits = 0;
    for time in 0..TIMES {
        let (code, draw) = (time + 3, chance());
        let id = home.start_with(&["--cap", "0"], &format!("{}; exit {code}", children::numbers(LAST)));
        // In the first half, so that the rest takes a while to print.
        let enough = draw % (full.len() as u64 / 2);
        wait_until(SOON, "enough is printed", || (log_size(&home, &id) >= enough).then_some(()));
        let victim = if draw & (1 << 40) == 0 { "supervisor" } else { "guardian" };
        // On a fast machine it may have ended by now; then there is no process to kill.
        if let Some(pair) = home.find_pair(&id) {
            let pid = if victim == "supervisor" { pair.supervisor } else { pair.guardian };
            hits += u32::from(home.try_kill_process(pid));
        }
        let task = home.ended(&id);
        let context = format!("round {time}, the {victim} was killed after {enough} bytes");
        assert_eq!(task["exit_code"], code, "{context}: {task}");
        assert_eq!(task["output_bytes"], full.len(), "{context}: {task}");
        assert_eq!(task["dropped_bytes"], 0, "{context}: {task}");
        let log = home.log(&id);
        let same = log.iter().zip(&full).take_while(|(found, wanted)| found == wanted).count();
        assert!(log == full, "{context}: {} bytes, the same up to {same}", log.len());
    }
    assert!(hits > 0, "no supervisor was killed in time");
    home.wait_until_empty(SOON);
}

#[test]
fn both_streams_are_complete_after_a_supervisor_was_killed() {
    let home = home();
    for time in 0..4 {
        let gate = format!("go-{time}");
        let print = |from: u64| {
            let (half, next, last) = (from + 99_999, from + 100_000, from + 199_999);
            format!("(seq {from} {half}; {}; seq {next} {last})", children::gate(&gate))
        };
        let script = format!("{} >&2 & {}; wait; exit 5", print(1), print(200_001));
        let id = home.start_with(&["--cap", "0"], &script);
        wait_until(SOON, "200 kB are in the log", || (log_size(&home, &id) >= 200_000).then_some(()));
        let pair = home.pair(&id);
        home.kill_process(if time % 2 == 0 { pair.supervisor } else { pair.guardian });
        home.open(&gate);
        assert_eq!(home.ended(&id)["exit_code"], 5);
        for (stream, first) in [("stderr", 1), ("stdout", 200_001)] {
            let args = ["output", &id, "--raw", "--offset", "0", "--max-bytes", "0", "--stream", stream];
            let outcome = home.mw(args).exits(0);
            let full = children::numbered(first, first + 199_999);
            assert!(outcome.stdout == full, "{stream}: {} of {} bytes", outcome.stdout.len(), full.len());
        }
    }
}

/// Prints in large writes, so that a supervisor finds much in the pipe at once. The content of a pipe that no process
/// holds is lost, so the task stays until it is adopted.
fn in_large_writes(printing: &str) -> String {
    format!("{printing} | dd obs=300k 2>/dev/null; {}; exit 5", children::gate("go"))
}

fn assert_same(log: &[u8], full: &[u8], context: &str) {
    let same = log.iter().zip(full).take_while(|(found, wanted)| found == wanted).count();
    assert!(log == full, "{context}: {} of {} bytes, the same up to {same}", log.len(), full.len());
}

/// Two kinds of output: numbers, and repeated bytes, of which only the count shows what is missing or
/// duplicated.
fn kinds() -> [(String, Vec<u8>); 2] {
    [
        (in_large_writes(&children::numbers(LAST)), children::numbered(1, LAST)),
        (in_large_writes("yes | head -c 4194304"), b"y\n".repeat(2 << 20)),
    ]
}

#[test]
fn output_is_exact_when_both_supervisors_die_at_any_step_of_a_batch() {
    const FAIL_AT: &str = "MEANWHILE_FAIL_AT";
    for step in ["output-armed", "output-read", "output-written"] {
        for (script, full) in &kinds() {
            let home = home();
            let start = ["start", "--json", "--cap", "0", script];
            let id = home.command(start).env(FAIL_AT, step).run().json()["id"].as_str().unwrap().to_owned();
            // The supervisor dies there, its guardian takes over and dies there too.
            wait_until(SOON, "both are dead", || home.supervisors_of(&id).is_empty().then_some(()));
            if step != "output-armed" {
                // An adopting supervisor dies after it has finished the batch and before it removed the buffer.
                let _ = home.command(["list", "--json"]).env(FAIL_AT, "output-recovered").run();
                wait_until(SOON, "the adopting supervisor is dead", || {
                    home.supervisors_of(&id).is_empty().then_some(())
                });
            }
            let _ = home.mw(["list", "--json"]).ok();
            home.open("go");
            let task = home.ended(&id);
            assert_same(&home.log(&id), full, step);
            assert_eq!(
                (&task["output_bytes"], &task["dropped_bytes"]),
                (&full.len().into(), &0.into()),
                "{task}"
            );
            home.wait_until_empty(SOON);
            assert!(!home.task_dir(&id).join("output.buffer").exists(), "{step}: the buffer is left");
        }
    }
}

#[test]
fn output_is_exact_when_both_supervisors_die_during_large_writes() {
    let kinds = kinds();
    let home = home();
    let mut hits = 0;
    for time in 0..TIMES {
        let (script, full) = &kinds[time as usize % kinds.len()];
        let id = home.start_with(&["--cap", "0"], script);
        let enough = chance() % (full.len() as u64 * 3 / 4);
        wait_until(SOON, "enough is printed", || (log_size(&home, &id) >= enough).then_some(()));
        if let Some(pair) = home.find_pair(&id) {
            let guardian = home.try_kill_process(pair.guardian);
            hits += u32::from(home.try_kill_process(pair.supervisor) && guardian);
        }
        let _ = home.mw(["list", "--json"]).ok();
        home.open("go");
        let task = home.ended(&id);
        fs::remove_file(home.work().join("go")).unwrap();
        assert_same(&home.log(&id), full, &format!("round {time}, both were killed after {enough} bytes"));
        assert_eq!(
            (&task["output_bytes"], &task["dropped_bytes"]),
            (&full.len().into(), &0.into()),
            "{task}"
        );
    }
    assert!(hits > 0, "no supervisor was killed in time");
}
