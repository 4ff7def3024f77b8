//! One run: it lets the peers take turns, and collects samples and failures.

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

/// The number of initial starts that are not counted. They create databases, load programs and start daemons.
const WARM_UPS: u32 = 3;
/// A slow peer takes part in one of this many rounds.
const SLOW_EVERY: u32 = 5;
/// The number of failures after which a peer is left out of the axis. Every failure may take its full timeout.
const MAX_FAILURES: u32 = 3;
/// The pause after a task has ended. The peer's remaining work then does not disturb the next sample.
pub(super) const REST: Duration = Duration::from_millis(10);

/// The state of a run.
pub(super) struct Bench {
    pub(super) options: Options,
    pub(super) tools: Tools,
    pub(super) kinds: Vec<Kind>,
    pub(super) samples: Samples,
    pub(super) quiet: Quiet,
    /// The failures, for the end of the report.
    pub(super) troubles: Vec<String>,
    /// The directory for state.
    pub(super) root: PathBuf,
    /// The directory for large logs.
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

    /// Returns an unused path.
    pub(super) fn mark(&mut self) -> PathBuf {
        self.marks += 1;
        self.root.join(format!("m{}", self.marks))
    }

    /// Returns a script that writes the time at its end.
    pub(super) fn stamp_script(&self, mark: &Path) -> String {
        format!("exec {} stamp {}", self.tools.bare.display(), mark.display())
    }

    /// Records a step that gave no result, once.
    pub(super) fn note(&mut self, axis: &str, peer: &str, outcome: Outcome<()>) {
        if let Err(Trouble::Failed(what)) = outcome {
            let line = format!("{axis}, {peer}: {what}");
            if !self.troubles.contains(&line) {
                self.troubles.push(line);
            }
        }
    }

    /// Sets up a peer and runs a few tasks that are not counted.
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

    /// Lets all peers take samples in turn. Each round has another order.
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
                if *failed >= MAX_FAILURES {
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

/// Changes the order, so that no peer always follows the same one. The order of a round is the same in every run.
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

/// Returns whether a peer takes part in a round.
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

/// Calls `look` until it returns a value or the time has passed.
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

/// Reads a file as soon as it contains a whole line.
pub(super) fn await_line(path: &Path) -> Outcome<String> {
    let whole = || fs::read_to_string(path).ok().filter(|text| text.ends_with('\n'));
    until(Duration::from_secs(20), whole).ok_or_else(|| Trouble::because("the task left no mark in 20 s"))
}

/// Reads the time that a task has written.
pub(super) fn await_stamp(path: &Path) -> Outcome<i128> {
    await_line(path)?.trim().parse().map_err(|_| Trouble::because("the task left no time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffling_keeps_every_item_and_varies_the_order() {
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
