//! Measures the time between a task's end and the return of a command that waits for it.

use crate::peers::bench::{Bench, await_stamp};
use crate::peers::metric::Metric;
use crate::peers::outcome::Outcome;
use crate::peers::peer::Peer;
use crate::peers::stand::wall_clock;

const AXIS: &str = "wait";

pub(in crate::peers) fn run(bench: &mut Bench) {
    let mut peers = bench.open_all(AXIS);
    let rounds = bench.options.amount(60, 3);
    bench.rounds(AXIS, rounds, &mut peers, sample);
}

/// Takes one sample. The task sleeps long enough that the waiting command is blocked when the task ends.
fn sample(bench: &mut Bench, peer: &mut dyn Peer) -> Outcome<()> {
    let mark = bench.mark();
    // The duration varies, so it is not synchronous with a polling interval.
    let sleep = 80 + wall_clock() % 60;
    let task = peer.start(&format!("sleep 0.{sleep:03}; {}", bench.stamp_script(&mark)))?;
    peer.wait(&task.id)?;
    let returned = wall_clock();
    let ended = await_stamp(&mark)?;
    bench.samples.add(Metric::WaitReturns, peer.name(), (returned - ended) as f64 / 1e6);
    Ok(())
}
