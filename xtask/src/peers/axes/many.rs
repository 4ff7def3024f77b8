//! Measures how many trivial tasks per second pass through a queue, with eight at once.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::peers::bench::{Bench, shuffle, until};
use crate::peers::metric::Metric;
use crate::peers::outcome::{Outcome, Trouble};
use crate::peers::peer::Peer;
use crate::peers::systems::Kind;

const AXIS: &str = "many";
const MAX_WAIT: Duration = Duration::from_secs(120);

pub(in crate::peers) fn run(bench: &mut Bench) {
    for (count, rounds) in [(200, bench.options.amount(5, 1)), (1000, bench.options.amount(5, 0))] {
        for round in 0..rounds {
            let mut kinds = bench.kinds.clone();
            shuffle(&mut kinds, round);
            for kind in &kinds {
                one(bench, kind, count, round);
            }
        }
    }
}

/// Takes one sample with a new store, because the effect of a filled store is a separate axis.
fn one(bench: &mut Bench, kind: &Kind, count: u32, round: u32) {
    bench.quiet.settle();
    let root = bench.root.clone();
    let Some(mut peer) = bench.open(AXIS, kind, &root) else { return };
    // Further rounds of a slow peer would take minutes.
    if peer.is_slow() && round > 0 {
        return;
    }
    let outcome = sample(bench, peer.as_mut(), count);
    bench.note(AXIS, kind.name(), outcome);
    if *kind == Kind::Bare {
        let outcome = sample_by_commands(bench, peer.as_mut(), count);
        bench.note(AXIS, kind.name(), outcome);
    }
}

fn sample(bench: &mut Bench, peer: &mut dyn Peer, count: u32) -> Outcome<()> {
    let mark = bench.mark();
    fs::write(&mark, "")?;
    let begun = Instant::now();
    peer.start_many(count, &format!("echo >>{}", mark.display()))?;
    await_size(&mark, count)?;
    let rate = |since: Instant| f64::from(count) / since.elapsed().as_secs_f64();
    bench.samples.add(Metric::Many(count), peer.name(), rate(begun));
    if peer.settles_later() {
        until(MAX_WAIT, || peer.stand().helpers().is_empty().then_some(()))
            .ok_or_else(|| Trouble::because("its processes do not end"))?;
        bench.samples.add(Metric::Settled(count), peer.name(), rate(begun));
    }
    Ok(())
}

/// Measures the bare limit again, with one command per task as in the other systems and without a limit on parallel
/// tasks.
fn sample_by_commands(bench: &mut Bench, bare: &mut dyn Peer, count: u32) -> Outcome<()> {
    let mark = bench.mark();
    fs::write(&mark, "")?;
    let begun = Instant::now();
    for _ in 0..count {
        bare.start(&format!("echo >>{}", mark.display()))?;
    }
    await_size(&mark, count)?;
    let rate = f64::from(count) / begun.elapsed().as_secs_f64();
    bench.samples.add(Metric::Many(count), "bare, a command each", rate);
    Ok(())
}

/// Waits until every task has added a byte.
fn await_size(mark: &Path, count: u32) -> Outcome<()> {
    let size = || fs::metadata(mark).map_or(0, |found| found.len());
    until(MAX_WAIT, || (size() >= u64::from(count)).then_some(()))
        .ok_or_else(|| Trouble::because(format!("{} of {count} tasks ran", size())))
}
