//! The faults of a round: each class has a file, and the injector chooses among them.

mod clock;
mod database;
mod disk;
mod kill;
mod limits;
mod stop;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::actions::Book;
use super::processes::{self, Role};
use super::random::Random;
use super::world::World;

/// A fault that the injector can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Kill(Role),
    KillBoth,
    Stop(Role),
    FullDisk,
    Database,
    Lock,
    Descriptors,
    Pids,
    Clock,
}

/// What is mixed in a round. Some faults allow the checker to expect less, so they are not in every round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    Processes,
    Shortage,
    Disk,
    Database,
    Clocks,
    Races,
    Everything,
}

impl Profile {
    pub(super) const ALL: [Self; 7] = [
        Self::Processes,
        Self::Shortage,
        Self::Disk,
        Self::Database,
        Self::Clocks,
        Self::Races,
        Self::Everything,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Processes => "processes",
            Self::Shortage => "descriptors and pids",
            Self::Disk => "full disk",
            Self::Database => "database",
            Self::Clocks => "clocks",
            Self::Races => "racing commands",
            Self::Everything => "everything",
        }
    }

    /// Whether tasks are restarted and cleared, and sessions ended.
    pub(super) fn has_races(self) -> bool {
        matches!(self, Self::Races | Self::Everything)
    }

    pub(super) fn has_shortage(self) -> bool {
        matches!(self, Self::Shortage | Self::Everything)
    }

    pub(super) fn has_disk(self) -> bool {
        matches!(self, Self::Disk | Self::Everything)
    }

    /// Returns the faults that do not hit a single process by a signal.
    fn surroundings(self) -> Vec<(Fault, u64)> {
        match self {
            Self::Processes | Self::Races => Vec::new(),
            Self::Shortage => vec![(Fault::Descriptors, 2), (Fault::Pids, 3)],
            Self::Disk => vec![(Fault::FullDisk, 1)],
            Self::Database => vec![(Fault::Database, 1)],
            Self::Clocks => vec![(Fault::Clock, 1)],
            Self::Everything => vec![
                (Fault::Descriptors, 2),
                (Fault::Pids, 2),
                (Fault::FullDisk, 2),
                (Fault::Lock, 2),
                (Fault::Clock, 3),
            ],
        }
    }
}

/// The signals of every mix.
const SIGNALS: [(Fault, u64); 19] = [
    (Fault::Kill(Role::Client), 14),
    (Fault::Kill(Role::Supervisor), 14),
    (Fault::Kill(Role::Guardian), 10),
    (Fault::KillBoth, 4),
    (Fault::Kill(Role::Settle), 8),
    (Fault::Kill(Role::ForkServer), 3),
    (Fault::Kill(Role::Host), 3),
    (Fault::Kill(Role::Mcp), 3),
    (Fault::Kill(Role::Web), 2),
    (Fault::Kill(Role::Driver), 4),
    (Fault::Stop(Role::Client), 6),
    (Fault::Stop(Role::Supervisor), 6),
    (Fault::Stop(Role::Guardian), 3),
    (Fault::Stop(Role::Settle), 4),
    (Fault::Stop(Role::ForkServer), 1),
    (Fault::Stop(Role::Host), 1),
    (Fault::Stop(Role::Mcp), 2),
    (Fault::Stop(Role::Web), 1),
    (Fault::Stop(Role::Driver), 2),
];

/// How many processes are hit after one look at all of them.
const SALVO: u64 = 6;

/// Sends signals to processes until the round is over, and continues the stopped ones.
pub(super) fn signal(world: &World, book: &Book, stop: &AtomicBool, mut random: Random) {
    let mut stopped = stop::Stopped::default();
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(random.below(50)));
        stopped.continue_due();
        let found = processes::all(world);
        let is_there = |fault: Fault| match fault {
            Fault::Kill(role) | Fault::Stop(role) => found.iter().any(|process| process.role == role),
            _ => found.iter().any(|process| process.role == Role::Supervisor),
        };
        let faults: Vec<_> = SIGNALS.into_iter().filter(|(fault, _)| is_there(*fault)).collect();
        for _ in 0..random.between(1, SALVO) {
            match random.weighted(&faults) {
                Some(Fault::Kill(role)) => kill::one(&found, book, role, &mut random),
                Some(Fault::KillBoth) => kill::both(&found, book, &mut random),
                Some(Fault::Stop(role)) => stopped.stop(&found, book, role, &mut random),
                _ => {}
            }
        }
    }
    stopped.continue_all();
}

/// Injects the other faults of a mix until the round is over, one after the other. Most of them last for a while.
pub(super) fn inject(world: &World, book: &Book, stop: &AtomicBool, profile: Profile, mut random: Random) {
    let faults = profile.surroundings();
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(random.below(200)));
        let Some(fault) = random.weighted(&faults) else { break };
        match fault {
            Fault::Kill(_) | Fault::KillBoth | Fault::Stop(_) => {}
            Fault::FullDisk => disk::fill(world, book, &mut random),
            Fault::Database => database::harm(world, book, &mut random),
            Fault::Lock => database::hold(world, book, &mut random),
            Fault::Descriptors => limits::descriptors(world, book, &mut random),
            Fault::Pids => limits::pids(world, book, &mut random),
            Fault::Clock => clock::jump(world, book, &mut random),
        }
    }
}

/// Returns the classes that this machine or this build cannot inject, each with its reason.
pub(super) fn skipped(programs: &std::path::Path) -> Vec<(&'static str, &'static str)> {
    [disk::reason(), database::reason(), limits::reason(), clock::reason(programs)]
        .into_iter()
        .flatten()
        .collect()
}
