//! A round: load and faults for some seconds, then quiet, then the check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::actions::Book;
use super::check::{self, Evidence, Promise, Violation};
use super::claims::{self, Task};
use super::client::Watchdog;
use super::facts::Facts;
use super::faults::{self, Profile};
use super::load::{self, Stage};
use super::processes;
use super::random::Random;
use super::signals;
use super::world::World;
use crate::error::Failure;

/// How long all tasks may take to end, once nothing disturbs them.
const QUIET: Duration = Duration::from_secs(120);
/// How long processes may take to exit after the last kill.
const EXIT: Duration = Duration::from_secs(30);

/// What a round has shown.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    pub(super) seed: u64,
    pub(super) profile: Profile,
    pub(super) faults: BTreeMap<&'static str, u64>,
    pub(super) races: u64,
    /// Runs of witnesses.
    pub(super) runs: u64,
    pub(super) bytes: u64,
    pub(super) notifications: u64,
    pub(super) lost: u64,
    pub(super) violations: Vec<Violation>,
}

/// Runs a round. If it has a violation, its directory is kept.
pub(super) fn run(seed: u64, root: &Path, programs: &Path) -> Result<Verdict, Failure> {
    let mut random = Random::new(seed);
    let profile = Profile::ALL[(seed % Profile::ALL.len() as u64) as usize];
    let world = World::new(root, programs, profile.has_disk())?;
    let log =
        File::create(root.join("log")).map_err(|source| Failure::File { path: root.join("log"), source })?;
    let (book, dog) = (Book::new(log), Watchdog::start());
    let (stop, next_key) = (AtomicBool::new(false), AtomicU64::new(0));
    let stage = Stage {
        world: &world,
        book: &book,
        dog: &dog,
        stop: &stop,
        next_key: &next_key,
        has_far: !profile.has_disk() && !profile.has_shortage(),
        has_races: profile.has_races(),
    };
    let long = Duration::from_millis(random.between(15_000, 25_000));
    disturb(&stage, profile, &random, long);
    let (tasks, mut violations) = settle(&stage);
    let text =
        fs::read_to_string(world.facts()).map_err(|source| Failure::File { path: world.facts(), source })?;
    let facts = match Facts::parse(&text) {
        Ok(facts) => facts,
        Err(text) => {
            violations.push(Violation { promise: Promise::Once, text });
            Facts::default()
        }
    };
    let actions = book.actions().clone();
    violations.extend(check::all(&Evidence { facts: &facts, actions: &actions, tasks: &tasks }));
    let bad = actions.misbehaviour.iter().cloned().chain(dog.hung());
    violations.extend(bad.map(|text| Violation { promise: Promise::Command, text }));
    if violations.is_empty() {
        world.remove();
    } else {
        world.keep();
    }
    Ok(Verdict {
        seed,
        profile,
        faults: actions.faults.clone(),
        races: actions.races,
        runs: facts.runs.len() as u64,
        bytes: facts.runs.iter().flat_map(|run| run.written).sum(),
        notifications: actions.receipts.len() as u64,
        lost: tasks.iter().filter(|task| task.status == "lost").count() as u64,
        violations,
    })
}

/// Runs the load and the faults.
fn disturb(stage: &Stage<'_>, profile: Profile, random: &Random, long: Duration) {
    let parts = AtomicU64::new(1);
    let part = || random.part(parts.fetch_add(1, Ordering::Relaxed));
    thread::scope(|scope| {
        for session in ["s0", "s1", "h0"] {
            for random in [part(), part()] {
                scope.spawn(move || load::act(stage, session, profile.has_shortage(), random));
            }
        }
        let (host, agent, page, injector, killer) = (part(), part(), part(), part(), part());
        scope.spawn(move || load::hold(stage, "h0", host));
        scope.spawn(move || load::serve_mcp(stage, "m0", agent));
        scope.spawn(move || load::serve_web(stage, page));
        scope.spawn(move || faults::signal(stage.world, stage.book, stage.stop, killer));
        scope.spawn(move || faults::inject(stage.world, stage.book, stage.stop, profile, injector));
        thread::sleep(long);
        stage.stop.store(true, Ordering::Relaxed);
    });
    stage.book.log("quiet");
}

/// Waits until all tasks have ended, takes all notifications, kills what is left, and returns what the product says.
fn settle(stage: &Stage<'_>) -> (Vec<Task>, Vec<Violation>) {
    let mut violations = Vec::new();
    let mut say = |promise, text| violations.push(Violation { promise, text });
    let end = Instant::now() + QUIET;
    loop {
        let list = list(stage);
        let is_live = |task: &Task| matches!(task.status.as_str(), "pending" | "running" | "cancelling");
        match list {
            Some(tasks) if !tasks.iter().any(is_live) => break,
            _ if Instant::now() > end => {
                let live = list
                    .map(|tasks| tasks.into_iter().filter(is_live).map(|task| task.id).collect::<Vec<_>>());
                say(Promise::Ending, format!("still not ended after {QUIET:?} of quiet: {live:?}"));
                break;
            }
            _ => thread::sleep(Duration::from_millis(300)),
        }
    }
    for session in ["s0", "s1", "h0", "m0", "default"] {
        let outcome = load::take_notices(stage, session, &[]);
        if !outcome.is_success() && !outcome.stderr.contains("no session") {
            say(Promise::Command, format!("{}: {}", outcome.shown, outcome.stderr));
        }
    }
    let tasks = list(stage);
    if tasks.is_none() {
        say(Promise::Command, "mw list fails although nothing disturbs it".to_owned());
    }
    let killed = stage.mw(None, &["kill", "--all", "--grace", "1s", "--json"]);
    if !killed.is_success() {
        say(Promise::Command, format!("{}: {}{}", killed.shown, killed.stderr, killed.stdout));
    }
    for left in left_processes(stage) {
        say(Promise::Process, left);
    }
    (tasks.unwrap_or_default(), violations)
}

fn list(stage: &Stage<'_>) -> Option<Vec<Task>> {
    let outcome = stage.mw(None, &["list", "--all", "--json", "--raw"]);
    outcome.is_success().then(|| claims::tasks(&outcome.json(), &stage.world.home()))
}

/// Waits until no process of the round is left. Returns those that are, after they were killed.
fn left_processes(stage: &Stage<'_>) -> Vec<String> {
    let end = Instant::now() + EXIT;
    loop {
        let found = processes::all(stage.world);
        if found.is_empty() {
            return Vec::new();
        }
        if Instant::now() > end {
            let pids: BTreeSet<u32> = found.iter().map(|process| process.pid).collect();
            signals::send("KILL", &pids.into_iter().collect::<Vec<_>>());
            let show = |process: processes::Process| {
                format!("{:?} {} {:?}: {}", process.role, process.pid, process.task, process.command)
            };
            return found.into_iter().map(show).collect();
        }
        thread::sleep(Duration::from_millis(100));
    }
}
