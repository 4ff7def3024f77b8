//! How many trivial tasks a second get through a queue, eight at once.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::peers::bench::{Bench, shuffle, until};
use crate::peers::metric::Metric;
use crate::peers::outcome::{Outcome, Trouble};
use crate::peers::peer::Peer;
use crate::peers::systems::Kind;

const AXIS: &str = "many";
const LONGEST: Duration = Duration::from_secs(120);

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

/// A new store each time: what a peer keeps of earlier rounds is another axis.
fn one(bench: &mut Bench, kind: &Kind, count: u32, round: u32) {
    bench.quiet.settle();
    let root = bench.root.clone();
    let Some(mut peer) = bench.open(AXIS, kind, &root) else { return };
    // Minutes for figures that others reach in a second: once is enough.
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
        until(LONGEST, || peer.stand().helpers().is_empty().then_some(()))
            .ok_or_else(|| Trouble::because("its processes do not end"))?;
        bench.samples.add(Metric::Settled(count), peer.name(), rate(begun));
    }
    Ok(())
}

/// The limit once more, with a command for each task as the others have it, and nothing to hold any of them back.
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

/// Every task adds a byte.
fn await_size(mark: &Path, count: u32) -> Outcome<()> {
    let size = || fs::metadata(mark).map_or(0, |found| found.len());
    until(LONGEST, || (size() >= u64::from(count)).then_some(()))
        .ok_or_else(|| Trouble::because(format!("{} of {count} tasks ran", size())))
}
