//! Concurrent starts from many processes and sessions: a limit is never exceeded, no task waits
//! while a slot is free, and none is lost or run twice.

use std::collections::HashSet;

use mw_testkit::{Home, SOON};

use crate::home;

/// Registers itself, counts the others, waits a moment, counts again and leaves.
const COUNTED: &str = "mkdir -p run; me=run/$MEANWHILE_TASK_SESSION.$$; : > $me; echo $(ls run) >> seen; \
                       echo $MEANWHILE_TASK_ID >> ran; sleep 0.02; echo $(ls run) >> seen; rm $me";

const STARTERS: usize = 8;
const EACH: usize = 4;

/// Starts tasks from many processes at a time and waits until all have run without further commands. Returns
/// the largest number of tasks that ran at the same time, in one session and in all sessions.
fn flood(home: &Home, sessions: &[&str]) -> (usize, usize) {
    let script = format!("i=0; while [ $i -lt {EACH} ]; do i=$((i+1)); \"$0\" start \"$1\" || exit 1; done");
    let starters: Vec<_> = (0..STARTERS)
        .map(|number| {
            let starter =
                home.program("sh").arg("-c").arg(&script).arg(env!("CARGO_BIN_EXE_mw")).arg(COUNTED);
            starter.session(sessions[number % sessions.len()]).spawn()
        })
        .collect();
    for starter in starters {
        let _ = starter.wait().ok();
    }
    let lines = |file: &str| -> Vec<String> {
        let text = std::fs::read_to_string(home.work().join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    let _ = home.lines_in("ran", STARTERS * EACH);
    home.wait_until_empty(SOON);
    let ran: HashSet<_> = lines("ran").into_iter().collect();
    assert_eq!((ran.len(), lines("ran").len()), (STARTERS * EACH, STARTERS * EACH));
    let listed: Vec<_> = home.mw(["list", "--all", "--json"]).json()["tasks"].as_array().unwrap().clone();
    let ids: HashSet<_> = listed.iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!((listed.len(), &ids), (STARTERS * EACH, &ran));
    assert!(listed.iter().all(|task| task["status"] == "completed"), "{listed:?}");
    let in_session = |line: &String| {
        let of = |session: &&str| {
            let own = format!("{session}.");
            line.split(' ').filter(|one| one.starts_with(&own)).count()
        };
        sessions.iter().map(of).max().unwrap_or(0)
    };
    let seen = lines("seen");
    (
        seen.iter().map(in_session).max().unwrap_or(0),
        seen.iter().map(|line| line.split(' ').count()).max().unwrap_or(0),
    )
}

fn limited(limit: usize, total: usize) -> Home {
    home()
        .with_env("MEANWHILE_QUEUE_MAX_RUNNING", limit.to_string())
        .with_env("MEANWHILE_QUEUE_MAX_RUNNING_TOTAL", total.to_string())
}

/// Returns the numbers by which tasks of a session are found.
fn numbers(home: &Home, session: &str) -> Vec<usize> {
    let known = |number: &usize| {
        let handle = format!("bash_{number}");
        home.command(["status", &handle]).session(session).run().code == Some(0)
    };
    (1..=STARTERS * EACH + 1).filter(known).collect()
}

#[test]
fn one_slot_runs_one_task_at_a_time_and_task_numbers_are_unique() {
    let home = limited(1, 0);
    assert_eq!(flood(&home, &["a"]).0, 1);
    assert_eq!(numbers(&home, "a"), (1..=STARTERS * EACH).collect::<Vec<_>>());
}

#[test]
fn the_limit_of_each_session_holds() {
    assert!(flood(&limited(2, 0), &["a", "b", "c"]).0 <= 2);
}

#[test]
fn the_limit_over_all_sessions_holds() {
    let (in_one, in_all) = flood(&limited(2, 3), &["a", "b", "c", "d"]);
    assert!(in_one <= 2 && in_all <= 3, "{in_one} in one, {in_all} in all");
}

#[test]
fn tasks_started_under_a_higher_limit_count_against_a_lower_one() {
    let home = home();
    let start = |limit: &str, gate: &str| {
        let script = format!("while [ ! -e {gate} ]; do sleep 0.02; done");
        let started = home.command(["start", "--json", &script]).env("MEANWHILE_QUEUE_MAX_RUNNING", limit);
        started.run().json()
    };
    let tasks: Vec<_> = ["a", "b", "c"].iter().map(|gate| start("3", gate)).collect();
    home.open("a");
    let _ = home.ended(tasks[0]["id"].as_str().unwrap());
    assert_eq!(start("2", "d")["status"], "pending", "two tasks run already");
    home.open("b");
    home.open("c");
    home.open("d");
}
