//! Measures the time until a start returns, and until the task's first instruction.

use crate::peers::bench::{Bench, await_stamp};
use crate::peers::metric::Metric;
use crate::peers::outcome::Outcome;
use crate::peers::peer::Peer;

const AXIS: &str = "start";

pub(in crate::peers) fn run(bench: &mut Bench) {
    let mut peers = bench.open_all(AXIS);
    let rounds = bench.options.amount(150, 5);
    bench.rounds(AXIS, rounds, &mut peers, sample);
}

/// Takes one sample. In every peer, the task's shell executes a program that writes the time.
fn sample(bench: &mut Bench, peer: &mut dyn Peer) -> Outcome<()> {
    let mark = bench.mark();
    let started = peer.start(&bench.stamp_script(&mark))?;
    bench.add_time(Metric::StartReturns, peer, started.took);
    let first = await_stamp(&mark)?;
    bench.samples.add(Metric::FirstInstruction, peer.name(), (first - started.at) as f64 / 1e6);
    Ok(())
}
