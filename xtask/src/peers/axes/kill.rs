//! Measures the time until a kill has returned and every process of a small tree is dead.

use std::thread;
use std::time::{Duration, Instant};

use crate::peers::bench::{Bench, await_line};
use crate::peers::metric::Metric;
use crate::peers::outcome::{Outcome, Trouble};
use crate::peers::peer::Peer;
use crate::peers::process;

const AXIS: &str = "kill";

pub(in crate::peers) fn run(bench: &mut Bench) {
    let mut peers = bench.open_all(AXIS);
    let rounds = bench.options.amount(60, 3);
    bench.rounds(AXIS, rounds, &mut peers, sample);
}

fn sample(bench: &mut Bench, peer: &mut dyn Peer) -> Outcome<()> {
    let mark = bench.mark();
    let told = mark.display();
    let task = peer.start(&format!("sleep 600 & one=$!; sleep 600 & echo $$ $one $! >{told}; wait"))?;
    let tree: Vec<u32> = await_line(&mark)?.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    // Both children get time to execute their programs.
    thread::sleep(Duration::from_millis(20));

    let begun = Instant::now();
    let returned = peer.kill(&task.id)?;
    let is_dead = || !tree.iter().any(|pid| process::is_alive(*pid));
    let dead_on_return = is_dead();
    while !is_dead() {
        if begun.elapsed() > Duration::from_secs(10) {
            return Err(Trouble::because("the tree outlived the kill by 10 s"));
        }
    }
    let dead = if dead_on_return { returned } else { begun.elapsed() };
    bench.add_time(Metric::KillReturns, peer, returned);
    bench.add_time(Metric::KillDead, peer, dead);
    bench.samples.add(Metric::DeadOnReturn, peer.name(), if dead_on_return { 100.0 } else { 0.0 });
    Ok(())
}
