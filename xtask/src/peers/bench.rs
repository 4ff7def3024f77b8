//! One run: peers taking turns, samples and troubles collected.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::metric::Metric;
use super::options::Options;
use super::outcome::{Outcome, Trouble};
use super::peer::Peer;
use super::quiet::Quiet;
use super::samples::Samples;
use super::systems::Kind;
use super::tools::Tools;

/// Starts that are not counted: they make databases, load programs, begin daemons.
const WARM_UPS: u32 = 3;
/// A slow peer takes part in one round of this many.
const SLOW_EVERY: u32 = 5;
/// A peer that failed so often is left out of the axis: every failure may have cost its full time-out.
const MOST_FAILURES: u32 = 3;
/// Time for what a peer does after its task has ended, so that the next sample is not disturbed by it.
pub(super) const REST: Duration = Duration::from_millis(10);

/// A run.
pub(super) struct Bench {
    pub(super) options: Options,
    pub(super) tools: Tools,
    pub(super) kinds: Vec<Kind>,
    pub(super) samples: Samples,
    pub(super) quiet: Quiet,
    /// What went wrong, for the end of the report.
    pub(super) troubles: Vec<String>,
    /// Where state is kept.
    pub(super) root: PathBuf,
    /// Where large logs are kept.
    pub(super) big: PathBuf,
    marks: u32,
}

impl Bench {
    pub(super) fn new(options: Options, tools: Tools, kinds: Vec<Kind>, root: &Path, big: &Path) -> Self {
        let quiet = Quiet::new(Duration::from_secs(if options.quick { 5 } else { 60 }));
        let (root, big) = (root.to_owned(), big.to_owned());
        let samples = Samples::new(kinds.iter().map(Kind::name).collect());
        Self { options, tools, kinds, samples, quiet, troubles: Vec::new(), root, big, marks: 0 }
    }

    /// Adds a time in milliseconds.
    pub(super) fn add_time(&mut self, metric: Metric, peer: &dyn Peer, took: Duration) {
        self.samples.add(metric, peer.name(), took.as_secs_f64() * 1e3);
    }

    /// Returns a path that nothing has used yet.
    pub(super) fn mark(&mut self) -> PathBuf {
        self.marks += 1;
        self.root.join(format!("m{}", self.marks))
    }

    /// Returns a script whose last act is to write down the time.
    pub(super) fn stamp_script(&self, mark: &Path) -> String {
        format!("exec {} stamp {}", self.tools.bare.display(), mark.display())
    }

    /// Keeps note of a step that gave no figure, once.
    pub(super) fn note(&mut self, axis: &str, peer: &str, outcome: Outcome<()>) {
        if let Err(Trouble::Failed(what)) = outcome {
            let line = format!("{axis}, {peer}: {what}");
            if !self.troubles.contains(&line) {
                self.troubles.push(line);
            }
        }
    }

    /// Sets up one peer and runs a few tasks in it that are not counted.
    pub(super) fn open(&mut self, axis: &str, kind: &Kind, root: &Path) -> Option<Box<dyn Peer>> {
        let opened = kind.open(root, &self.tools).and_then(|mut peer| {
            warm_up(peer.as_mut())?;
            Ok(peer)
        });
        match opened {
            Ok(peer) => Some(peer),
            Err(trouble) => {
                self.note(axis, kind.name(), Err(trouble));
                None
            }
        }
    }

    /// Sets up every peer.
    pub(super) fn open_all(&mut self, axis: &str) -> Vec<Box<dyn Peer>> {
        let root = self.root.clone();
        let kinds = self.kinds.clone();
        kinds.iter().filter_map(|kind| self.open(axis, kind, &root)).collect()
    }

    /// Lets all peers take a sample in turn, again and again, each round in another order.
    pub(super) fn rounds(
        &mut self,
        axis: &str,
        count: u32,
        peers: &mut [Box<dyn Peer>],
        sample: fn(&mut Self, &mut dyn Peer) -> Outcome<()>,
    ) {
        let mut failures = BTreeMap::new();
        for round in 0..count {
            self.quiet.settle();
            shuffle(peers, round);
            for peer in peers.iter_mut().filter(|peer| takes_part(peer.as_ref(), round)) {
                let failed: &mut u32 = failures.entry(peer.name()).or_default();
                if *failed >= MOST_FAILURES {
                    continue;
                }
                let outcome = sample(self, peer.as_mut());
                *failed += u32::from(outcome.is_err());
                self.note(axis, peer.name(), outcome);
                thread::sleep(REST);
            }
        }
    }
}

/// Changes the order, so that nobody always follows the same other; the same for the same round in every run.
pub(super) fn shuffle<T>(items: &mut [T], round: u32) {
    let mut state = u64::from(round);
    for last in (1..items.len()).rev() {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        items.swap(last, ((mixed ^ (mixed >> 31)) % (last as u64 + 1)) as usize);
    }
}

/// Tells whether a peer takes part in a round.
pub(super) fn takes_part(peer: &dyn Peer, round: u32) -> bool {
    !peer.is_slow() || round.is_multiple_of(SLOW_EVERY)
}

/// Runs a few tasks that are not counted.
pub(super) fn warm_up(peer: &mut dyn Peer) -> Outcome<()> {
    for _ in 1..WARM_UPS {
        peer.start("true")?;
    }
    let last = peer.start("true")?;
    peer.wait(&last.id)?;
    thread::sleep(REST);
    Ok(())
}

/// Looks until `look` finds something, for a while.
pub(super) fn until<T>(longest: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + longest;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() > end {
            return None;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Reads a file once it holds a whole line.
pub(super) fn await_line(path: &Path) -> Outcome<String> {
    let whole = || fs::read_to_string(path).ok().filter(|text| text.ends_with('\n'));
    until(Duration::from_secs(20), whole).ok_or_else(|| Trouble::because("the task left no mark in 20 s"))
}

/// Reads the time that a task wrote down.
pub(super) fn await_stamp(path: &Path) -> Outcome<i128> {
    await_line(path)?.trim().parse().map_err(|_| Trouble::because("the task left no time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_keeps_everybody() {
        let mut orders = Vec::new();
        for round in 0..20 {
            let mut items = [0, 1, 2, 3];
            shuffle(&mut items, round);
            orders.push(items);
            items.sort_unstable();
            assert_eq!(items, [0, 1, 2, 3]);
        }
        orders.sort_unstable();
        orders.dedup();
        assert!(orders.len() > 8, "{orders:?}");
    }
}
