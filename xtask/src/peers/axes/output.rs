//! Measures how fast a gigabyte of lines is written to a task's log, and its cost for the peer's own processes.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::peers::bench::{Bench, shuffle, until};
use crate::peers::metric::Metric;
use crate::peers::outcome::{Outcome, Trouble};
use crate::peers::peer::Peer;
use crate::peers::process;

const AXIS: &str = "output";
const GIB: u64 = 1 << 30;

pub(in crate::peers) fn run(bench: &mut Bench) {
    let big = bench.big.clone();
    for round in 0..bench.options.amount(7, 1) {
        let mut kinds = bench.kinds.clone();
        shuffle(&mut kinds, round);
        for kind in &kinds {
            bench.quiet.settle();
            let Some(mut peer) = bench.open(AXIS, kind, &big) else { continue };
            let outcome = sample(bench, peer.as_mut());
            bench.note(AXIS, kind.name(), outcome);
            let used = peer.stand().dir.clone();
            drop(peer);
            // The logs of all peers together would not fit into memory.
            let _ = fs::remove_dir_all(used);
        }
    }
}

/// Takes one sample. The task sleeps after it has printed everything, so the processes around it can still be
/// inspected.
fn sample(bench: &mut Bench, peer: &mut dyn Peer) -> Outcome<()> {
    let before: f64 = peer.stand().helpers().iter().map(|pid| process::cpu_seconds(*pid)).sum();
    let begun = Instant::now();
    let task = peer.start(&format!("{} gen {GIB}; exec sleep 600", bench.tools.bare.display()))?;
    let log = peer.log(&task.id)?;
    await_size(&log)?;
    let took = begun.elapsed().as_secs_f64();

    let helpers = peer.stand().helpers();
    let cpu: f64 = helpers.iter().map(|pid| process::cpu_seconds(*pid)).sum();
    let peak = helpers.iter().map(|pid| process::peak_kib(*pid)).fold(0.0, f64::max);
    bench.samples.add(Metric::OutputRate, peer.name(), GIB as f64 / 1e6 / took);
    bench.samples.add(Metric::OutputCpu, peer.name(), (cpu - before).max(0.0));
    bench.samples.add(Metric::OutputPeak, peer.name(), peak / 1024.0);
    Ok(())
}

fn await_size(log: &PathBuf) -> Outcome<()> {
    let size = || fs::metadata(log).map_or(0, |found| found.len());
    until(Duration::from_secs(60), || (size() >= GIB).then_some(()))
        .ok_or_else(|| Trouble::because(format!("{} of {GIB} bytes arrived", size())))
}
