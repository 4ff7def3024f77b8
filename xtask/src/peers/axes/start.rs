//! How long a start takes to return, and how long until the task's first instruction.

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

/// The task's shell becomes a program that writes down the time, in every peer alike.
fn sample(bench: &mut Bench, peer: &mut dyn Peer) -> Outcome<()> {
    let mark = bench.mark();
    let started = peer.start(&bench.stamp_script(&mark))?;
    bench.add_time(Metric::StartReturns, peer, started.took);
    let first = await_stamp(&mark)?;
    bench.samples.add(Metric::FirstInstruction, peer.name(), (first - started.at) as f64 / 1e6);
    Ok(())
}
