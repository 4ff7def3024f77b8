//! A client that starts tasks, reads, waits, kills, and takes notifications.

use std::thread;
use std::time::Duration;

use super::requests::{answer_of, limited, take_notices};
use super::{Stage, plan, race};
use crate::lab::actions::{Answer, Start};
use crate::lab::random::Random;

/// What an actor does next.
#[derive(Clone, Copy)]
enum Act {
    Start,
    Run,
    List,
    Status,
    Output,
    Wait,
    Kill,
    Notices,
    Short,
    Race,
}

const ACTS: [(Act, u64); 9] = [
    (Act::Start, 50),
    (Act::Run, 5),
    (Act::List, 8),
    (Act::Status, 6),
    (Act::Output, 6),
    (Act::Wait, 8),
    (Act::Kill, 6),
    (Act::Notices, 8),
    (Act::Short, 3),
];

/// Acts until the round is over.
pub(in crate::lab) fn act(stage: &Stage<'_>, session: &str, has_shortage: bool, mut random: Random) {
    let mut acts: Vec<(Act, u64)> = ACTS.to_vec();
    if stage.has_races {
        acts.push((Act::Race, 25));
    }
    if has_shortage {
        acts.push((Act::Short, 40));
    }
    while !stage.is_over() {
        if let Some(act) = random.weighted(&acts) {
            once(stage, session, act, &mut random);
        }
        thread::sleep(Duration::from_millis(random.below(60)));
    }
}

fn once(stage: &Stage<'_>, session: &str, act: Act, random: &mut Random) {
    let known = stage.started(session);
    let recent = &known[known.len().saturating_sub(20)..];
    let chosen = random.pick(recent).cloned();
    match (act, chosen) {
        (Act::Start, _) => start(stage, session, random, &[]),
        (Act::Run, _) => run(stage, session, random),
        (Act::List, _) => _ = stage.mw(None, &["list", "--json", "--limit", "20"]),
        (Act::Notices, _) => _ = take_notices(stage, session, &[]),
        (Act::Short, _) => short(stage, session, random),
        (Act::Race, _) => race::race(stage, session, random),
        (Act::Status, Some((_, id))) => _ = stage.mw(None, &["status", "--json", &id]),
        (Act::Output, Some((_, id))) => _ = stage.mw(None, &["output", "--tail", "20", &id]),
        (Act::Wait, Some((_, id))) => _ = stage.mw(None, &["wait", "--timeout", "2s", &id]),
        (Act::Kill, Some((key, id))) => {
            stage.book.actions().kills.insert(key);
            let grace = if random.chance(50) { "0s" } else { "1s" };
            stage.mw(None, &["kill", "--grace", grace, &id]);
        }
        (Act::Status | Act::Output | Act::Wait | Act::Kill, None) => {}
    }
}

/// Starts a task, under the limits of `prlimit` if there are any.
fn start(stage: &Stage<'_>, session: &str, random: &mut Random, limits: &[&str]) {
    let key = stage.key();
    let timeout = random.chance(15).then(|| Duration::from_millis(random.between(200, 2500)));
    let has_cap = random.chance(10);
    let request =
        Start { session: session.to_owned(), answer: Answer::Unknown, timeout, has_cap, is_attached: false };
    stage.note_start(&key, request);
    let mut words = vec!["start".to_owned(), "--json".to_owned()];
    if let Some(timeout) = timeout {
        words.extend(["--timeout".to_owned(), format!("{}ms", timeout.as_millis())]);
    }
    if has_cap {
        words.extend(["--cap".to_owned(), "4096".to_owned()]);
    }
    if random.chance(10) {
        words.extend(["--lifetime".to_owned(), "detached".to_owned()]);
    }
    let mut plan = plan(key.clone(), random);
    if random.chance(6) && timeout.is_none() && !has_cap && stage.has_far {
        words.extend(["--on".to_owned(), "far".to_owned()]);
        // What outlives a command on another machine cannot be found from here.
        plan.has_child = false;
    }
    words.push("--".to_owned());
    words.extend(plan.words(&stage.world.witness(), &stage.world.facts()));
    let outcome = if limits.is_empty() {
        stage.mw(Some(session), &words)
    } else {
        let mut command = stage.world.command("prlimit".as_ref(), Some(session));
        command.args(limits).arg(stage.world.mw()).args(&words);
        stage.run(command)
    };
    stage.note_answer(&key, answer_of(&outcome));
}

/// Runs a task in the foreground.
fn run(stage: &Stage<'_>, session: &str, random: &mut Random) {
    let key = stage.key();
    let request = Start {
        session: session.to_owned(),
        answer: Answer::Unknown,
        timeout: None,
        has_cap: false,
        is_attached: true,
    };
    stage.note_start(&key, request);
    let mut plan = plan(key, random);
    plan.bursts = plan.bursts.min(4);
    let mut words = vec!["run".to_owned(), "--".to_owned()];
    words.extend(plan.words(&stage.world.witness(), &stage.world.facts()));
    stage.mw(Some(session), &words);
}

/// Runs a command that has too few descriptors for its work.
fn short(stage: &Stage<'_>, session: &str, random: &mut Random) {
    let number = random.between(4, 22);
    let limit = format!("--nofile={number}:{number}");
    stage.book.count("command short of descriptors", 1);
    match random.below(4) {
        0 => start(stage, session, random, &[&limit]),
        1 => _ = take_notices(stage, session, &[&limit]),
        2 => _ = limited(stage, &[&limit], &["list", "--json"]),
        _ => {
            let known = stage.started(session);
            if let Some((_, id)) = random.pick(&known) {
                limited(stage, &[&limit], &["status", "--json", id]);
            }
        }
    }
}
