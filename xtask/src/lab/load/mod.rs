//! The load of a round: clients, hosts and servers, each a thread.

mod actor;
mod host;
mod mcp;
mod race;
mod requests;
mod web;

pub(super) use actor::act;
pub(super) use host::hold;
pub(super) use mcp::serve as serve_mcp;
pub(super) use requests::take_notices;
pub(super) use web::serve as serve_web;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::actions::Book;
use super::client::{self, Outcome, Watchdog};
use super::random::Random;
use super::witness::Plan;
use super::world::World;

/// What the threads of a round share.
pub(super) struct Stage<'a> {
    pub(super) world: &'a World,
    pub(super) book: &'a Book,
    pub(super) dog: &'a Watchdog,
    pub(super) stop: &'a AtomicBool,
    pub(super) next_key: &'a AtomicU64,
    /// Whether tasks run on a back-end. What happens to its drivers without disk space, descriptors or pids is in docs/limits.md.
    pub(super) has_far: bool,
    /// Whether tasks are restarted and cleared.
    pub(super) has_races: bool,
}

impl Stage<'_> {
    pub(super) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn key(&self) -> String {
        format!("k{:05}", self.next_key.fetch_add(1, Ordering::Relaxed))
    }

    /// Runs `mw` with these words and logs how it ended.
    pub(super) fn mw<S: AsRef<str>>(&self, session: Option<&str>, words: &[S]) -> Outcome {
        let mut command = self.world.command(&self.world.mw(), session);
        command.args(words.iter().map(AsRef::as_ref));
        self.run(command)
    }

    /// Runs a command and logs how it ended.
    pub(super) fn run(&self, command: std::process::Command) -> Outcome {
        let outcome = client::run(command, self.dog);
        let status = outcome.status.map_or_else(|| "not run".to_owned(), |status| status.to_string());
        let first = outcome.stderr.lines().next().unwrap_or_default();
        self.book.log(&format!("{} → {status} {first}", outcome.shown));
        if outcome.stderr.contains("panicked at") {
            self.book.actions().misbehaviour.push(format!("{}: {}", outcome.shown, outcome.stderr));
        }
        outcome
    }
}

/// Returns a witness for a new key: most are short, some are long or print much.
fn plan(key: String, random: &mut Random) -> Plan {
    let (bursts, lines, pause) = match random.below(10) {
        0 => (1, 1, 10),
        1..=5 => (random.between(1, 6), random.between(1, 20), random.between(20, 200)),
        6..=7 => (random.between(5, 15), random.between(1, 40), random.between(100, 400)),
        8 => (random.between(2, 6), 2000, random.between(5, 100)),
        _ => (30, 3, 500),
    };
    Plan {
        key,
        bursts,
        lines,
        pause: Duration::from_millis(pause),
        exit: if random.chance(50) { 0 } else { random.between(1, 120) as u8 },
        is_suicidal: random.chance(5),
        has_child: random.chance(8),
    }
}
