//! Delays a round while other work keeps the machine busy.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

const SAMPLE_INTERVAL: Duration = Duration::from_millis(50);
/// The share of CPU time that other work may use.
const TOLERATED: f64 = 0.25;
const MAX_WAIT_PER_ROUND: Duration = Duration::from_secs(2);

/// Waits for a quiet machine, within a budget for the whole run.
pub(super) struct Quiet {
    left: Duration,
    /// The number of rounds.
    pub(super) rounds: u32,
    /// The number of rounds that began although the machine was busy.
    pub(super) disturbed: u32,
}

impl Quiet {
    pub(super) fn new(budget: Duration) -> Self {
        Self { left: budget, rounds: 0, disturbed: 0 }
    }

    /// Returns when the machine is quiet, or when the waiting time is used up.
    pub(super) fn settle(&mut self) {
        self.rounds += 1;
        let begun = Instant::now();
        while busy() > TOLERATED {
            if begun.elapsed() > MAX_WAIT_PER_ROUND.min(self.left) {
                self.disturbed += 1;
                break;
            }
        }
        self.left = self.left.saturating_sub(begun.elapsed().saturating_sub(SAMPLE_INTERVAL));
    }
}

/// Returns the share of used CPU time over a short interval.
fn busy() -> f64 {
    let Some(before) = ticks() else { return 0.0 };
    thread::sleep(SAMPLE_INTERVAL);
    let Some(after) = ticks() else { return 0.0 };
    let all = after.0.saturating_sub(before.0);
    let idle = after.1.saturating_sub(before.1);
    if all == 0 { 0.0 } else { 1.0 - idle as f64 / all as f64 }
}

/// Returns the total ticks so far, and the idle ticks among them.
fn ticks() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let fields: Vec<u64> =
        text.lines().next()?.split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
    // user, nice, system, idle, iowait, irq, softirq, steal. Guest time is already included.
    let counted = fields.get(..8)?;
    Some((counted.iter().sum(), counted[3] + counted[4]))
}
