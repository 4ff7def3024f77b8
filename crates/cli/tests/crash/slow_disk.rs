//! A slow disk: tasks are not slowed, dropped output is counted, and no kill loses the count.
//!
//! A debug build delays every write by the time in the file that `MEANWHILE_SLOW_DISK` names.

use std::fs;

use mw_model::wire::drop_marker;
use mw_testkit::{Home, SOON, children, processes, wait_until};
use rustix::process::{Pid, Signal, kill_process};

use crate::home;

fn slow_home() -> Home {
    let home = home();
    let file = home.work().join("slow");
    home.with_env("MEANWHILE_SLOW_DISK", file)
}

/// Sets the delay of every write; 0 = none.
fn slow_down(home: &Home, ms: u64) {
    let (beside, file) = (home.work().join("slow.new"), home.work().join("slow"));
    if ms == 0 {
        return fs::remove_file(file).unwrap();
    }
    fs::write(&beside, ms.to_string()).unwrap();
    fs::rename(beside, file).unwrap();
}

/// Checks that a log has parts of the output, and a marker with the exact count wherever bytes are missing;
/// returns their number. Bytes missing at the end are not counted.
pub fn missing_in(log: &[u8], full: &[u8]) -> Result<u64, String> {
    let begin = "\n…(".as_bytes();
    let (mut at, mut place, mut missing) = (0, 0, 0);
    loop {
        let rest = &log[at..];
        let cut = rest.windows(begin.len()).position(|window| window == begin).unwrap_or(rest.len());
        if full.get(place..place + cut) != Some(&rest[..cut]) {
            return Err(format!("other bytes than were printed, between {place} and {}", place + cut));
        }
        if cut == rest.len() {
            return Ok(missing);
        }
        let digits = rest[cut + begin.len()..].iter().take_while(|byte| byte.is_ascii_digit());
        let count = digits.fold(0, |count, digit| count * 10 + u64::from(digit - b'0'));
        let marker = drop_marker(count);
        if !rest[cut..].starts_with(marker.as_bytes()) {
            return Err(format!("incomplete marker after byte {place}"));
        }
        missing += count;
        place += cut + usize::try_from(count).unwrap();
        at += cut + marker.len();
    }
}

/// The processes of a task on a slow disk.
#[derive(Clone, Copy, Debug)]
struct Three {
    guardian: u32,
    supervisor: u32,
    writer: u32,
}

fn three(home: &Home, id: &str) -> Three {
    wait_until(SOON, "the supervisor has a writer", || {
        let found = home.supervisors_of(id);
        let child_of = |parent| {
            found.iter().copied().find(|pid| processes::stat(*pid).is_some_and(|stat| stat.parent == parent))
        };
        let guardian = found
            .iter()
            .copied()
            .find(|pid| processes::stat(*pid).is_some_and(|stat| !found.contains(&stat.parent)))?;
        let supervisor = child_of(guardian)?;
        Some(Three { guardian, supervisor, writer: child_of(supervisor)? })
    })
}

#[test]
fn a_slow_disk_does_not_slow_a_task() {
    let home = slow_home();
    let script = format!(
        "echo before; {}; seq 1 2000000; touch done
        i=0; while [ ! -e enough ]; do i=$((i+1)); echo after $i; sleep 0.05; done; exit 5",
        children::gate("a"),
    );
    let id = home.start_with(&["--cap", "0"], &script);
    home.until_logged(&id, "before");
    // Forty writes or more: a task that waits for each of them does not end in time.
    slow_down(&home, 5000);
    home.open("a");
    home.file("done");
    slow_down(&home, 0);
    // The last slow write may take a while; output after it is complete.
    home.until_logged(&id, "after ");
    home.open("enough");
    let task = home.ended(&id);
    let log = home.log(&id);
    let after = String::from_utf8_lossy(&log)
        .lines()
        .last()
        .and_then(|line| line.strip_prefix("after ")?.parse().ok());
    let after: String = (1..=after.unwrap_or(0)).map(|at| format!("after {at}\n")).collect();
    let full = [b"before\n".as_slice(), &children::numbered(1, 2_000_000), after.as_bytes()].concat();
    assert_eq!(task["exit_code"], 5, "{task}");
    assert_eq!(task["output_bytes"], full.len(), "{task}");
    let missing = missing_in(&log, &full).unwrap();
    assert!(missing > 0, "no output was dropped");
    assert_eq!(task["dropped_bytes"], missing, "{task}");
    home.wait_until_empty(SOON);
}

#[test]
fn every_gap_is_marked_where_output_was_dropped() {
    let home = slow_home();
    let script = "i=0; while [ $i -lt 60 ]; do i=$((i+1)); seq 1 40000; sleep 0.05; done";
    let id = home.start_with(&["--cap", "0"], &format!("{}; {script}; exit 5", children::gate("a")));
    slow_down(&home, 350);
    home.open("a");
    let task = home.ended(&id);
    let full = children::numbered(1, 40_000).repeat(60);
    let log = home.log(&id);
    let missing = missing_in(&log, &full).unwrap();
    assert_eq!(
        (&task["output_bytes"], &task["dropped_bytes"]),
        (&full.len().into(), &missing.into()),
        "{task}"
    );
    let gaps = String::from_utf8_lossy(&log).matches("bytes dropped from middle").count();
    assert!(gaps > 1, "{gaps} gaps");
}

#[test]
fn the_writer_ends_and_output_is_complete_once_the_disk_is_fast() {
    let home = slow_home();
    let gates = ["a", "b", "c"].map(|gate| format!("{}; echo {gate}; echo {gate} >&2", children::gate(gate)));
    let id = home.start(&format!("{}; exit 5", gates.join("; ")));
    slow_down(&home, 2000);
    home.open("a");
    let three = three(&home, &id);
    home.open("b");
    home.until_logged(&id, "b\nb\n");
    slow_down(&home, 0);
    home.until_dead(three.writer);
    assert_eq!(home.supervisors_of(&id).len(), 2);
    home.open("c");
    let task = home.ended(&id);
    assert_eq!(home.log(&id), b"a\na\nb\nb\nc\nc\n");
    assert_eq!((&task["exit_code"], &task["dropped_bytes"]), (&5.into(), &0.into()), "{task}");
    let stderr = home.mw(["output", &id, "--stream", "stderr"]).ok();
    assert_eq!(stderr, "a\nb\nc\n");
}

#[test]
fn dropped_bytes_are_exact_whichever_process_dies_on_a_slow_disk() {
    type Victims = fn(Three) -> Vec<u32>;
    let deaths: [(&str, Victims); 5] = [
        ("writer", |three| vec![three.writer]),
        ("supervisor", |three| vec![three.supervisor]),
        ("guardian", |three| vec![three.guardian]),
        ("supervisor and writer", |three| vec![three.supervisor, three.writer]),
        ("guardian and writer", |three| vec![three.guardian, three.writer]),
    ];
    for (who, victims) in deaths {
        let home = slow_home();
        let script = format!(
            "{}; seq 1 400000; touch done; {}; seq 400001 500000; exit 5",
            children::gate("a"),
            children::gate("b")
        );
        let id = home.start_with(&["--cap", "0"], &script);
        slow_down(&home, 600);
        home.open("a");
        let three = three(&home, &id);
        for victim in victims(three) {
            // It may have ended, because its input is closed.
            let _ = home.try_kill_process(victim);
        }
        home.file("done");
        slow_down(&home, 0);
        home.open("b");
        let task = home.ended(&id);
        let full = children::numbered(1, 500_000);
        assert_eq!(task["exit_code"], 5, "{who}: {task}");
        assert_eq!(task["output_bytes"], full.len(), "{who}: {task}");
        let missing = missing_in(&home.log(&id), &full).unwrap_or_else(|wrong| panic!("{who}: {wrong}"));
        assert_eq!(task["dropped_bytes"], missing, "{who}: {task}");
        home.wait_until_empty(SOON);
    }
}

#[test]
fn a_writer_continues_without_supervisors_and_an_adopting_one_appends() {
    let home = slow_home();
    let script = format!("{}; seq 1 20000; {}; echo after; exit 5", children::gate("a"), children::gate("b"));
    let id = home.start_with(&["--cap", "0"], &script);
    slow_down(&home, 4000);
    home.open("a");
    let three = three(&home, &id);
    home.kill_process(three.guardian);
    let _ = kill_process(Pid::from_raw(three.supervisor as i32).unwrap(), Signal::KILL);
    slow_down(&home, 0);
    home.until_dead(three.writer);
    let _ = home.list();
    let _ = home.pair(&id);
    home.open("b");
    let task = home.ended(&id);
    let full = [children::numbered(1, 20_000).as_slice(), b"after\n"].concat();
    assert_eq!(missing_in(&home.log(&id), &full), Ok(0), "{task}");
    assert_eq!(home.log(&id).len(), full.len(), "{task}");
}

#[test]
fn a_kill_works_on_a_slow_disk() {
    let home = slow_home();
    let id = home.start_with(&["--cap", "0"], &format!("{}; exec yes", children::gate("a")));
    let pid = home.pid(&id);
    slow_down(&home, 2000);
    home.open("a");
    let _ = three(&home, &id);
    let kill = home.command(["kill", "--json", &id]).spawn();
    home.until_dead(pid);
    slow_down(&home, 0);
    let _ = kill.wait().exits(0);
    assert_eq!(home.ended(&id)["status"], "cancelled");
}

#[test]
fn output_is_exact_when_the_writer_dies_after_a_write_or_at_its_end() {
    for step in ["writer-wrote", "writer-ended"] {
        let home = slow_home();
        let script = format!("{}; seq 1 100000; exit 5", children::gate("a"));
        let start = home.command(["start", "--json", "--cap", "0", &script]).env("MEANWHILE_FAIL_AT", step);
        let id = start.run().exits(0).json()["id"].as_str().unwrap().to_owned();
        slow_down(&home, 350);
        home.open("a");
        wait_until(SOON, "the task is no longer running", || {
            let task = home.status(&id);
            (task["status"] != "running").then_some(())
        });
        slow_down(&home, 0);
        let task = home.ended(&id);
        let full = children::numbered(1, 100_000);
        let missing = missing_in(&home.log(&id), &full).unwrap_or_else(|wrong| panic!("{step}: {wrong}"));
        // If guardian and supervisor both died at this step, the end was not observed.
        if task["status"] != "lost" {
            let counted = (&task["output_bytes"], &task["dropped_bytes"]);
            assert_eq!(counted, (&full.len().into(), &missing.into()), "{step}: {task}");
        }
    }
}
