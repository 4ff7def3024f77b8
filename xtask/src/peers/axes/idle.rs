//! Measures the memory of a peer's own processes while tasks sleep.

use std::thread;
use std::time::Duration;

use crate::peers::bench::{Bench, until};
use crate::peers::metric::Metric;
use crate::peers::outcome::{Outcome, Trouble};
use crate::peers::peer::Peer;
use crate::peers::process;
use crate::peers::systems::Kind;

const AXIS: &str = "memory";
const TASKS: usize = 50;

pub(in crate::peers) fn run(bench: &mut Bench) {
    for _ in 0..bench.options.amount(3, 1) {
        // The bare limit has no processes of its own.
        let kinds: Vec<Kind> = bench.kinds.iter().filter(|kind| **kind != Kind::Bare).cloned().collect();
        for kind in &kinds {
            let root = bench.root.clone();
            let Some(mut peer) = bench.open(AXIS, kind, &root) else { continue };
            let outcome = sample(bench, peer.as_mut());
            bench.note(AXIS, kind.name(), outcome);
        }
    }
}

fn sample(bench: &mut Bench, peer: &mut dyn Peer) -> Outcome<()> {
    if peer.settles_later() {
        until(Duration::from_secs(10), || peer.stand().helpers().is_empty().then_some(()));
    }
    let before = memory(peer);
    for _ in 0..TASKS {
        peer.start("exec sleep 600")?;
    }
    let asleep = |peer: &dyn Peer| {
        let all = peer.stand().processes();
        all.iter().filter(|pid| process::name(**pid) == "sleep").count()
    };
    until(Duration::from_secs(60), || (asleep(peer) >= TASKS).then_some(()))
        .ok_or_else(|| Trouble::because("not all tasks began"))?;
    // Short-lived processes of the start have ended by then.
    thread::sleep(Duration::from_millis(500));
    let after = memory(peer);
    bench.samples.add(Metric::IdleTask, peer.name(), (after - before) / TASKS as f64);
    bench.samples.add(Metric::IdleDaemon, peer.name(), before);
    Ok(())
}

fn memory(peer: &dyn Peer) -> f64 {
    peer.stand().helpers().iter().fold(0.0, |sum, pid| sum + process::pss_kib(*pid))
}
