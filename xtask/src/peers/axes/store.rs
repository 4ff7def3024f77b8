//! Measures list and start with many finished tasks in the store.

use std::thread;
use std::time::Instant;

use crate::peers::bench::{Bench, REST, shuffle, takes_part, warm_up};
use crate::peers::metric::Metric;
use crate::peers::outcome::Outcome;
use crate::peers::peer::Peer;
use crate::peers::systems::Kind;

const AXIS: &str = "store";

/// A peer and the number of its finished tasks.
struct Filled {
    count: u32,
    peer: Box<dyn Peer>,
}

pub(in crate::peers) fn run(bench: &mut Bench) {
    let mut sizes = vec![0, 1000];
    if !bench.options.quick {
        sizes.push(10_000);
    }
    if bench.options.huge {
        sizes.push(100_000);
    }
    let mut stores = Vec::new();
    for kind in bench.kinds.clone() {
        for count in sizes.iter().copied().filter(|count| *count == 0 || kind != Kind::Bare) {
            stores.extend(filled(bench, &kind, count));
        }
    }
    for round in 0..bench.options.amount(60, 3) {
        bench.quiet.settle();
        shuffle(&mut stores, round);
        for store in stores.iter_mut().filter(|store| takes_part(store.peer.as_ref(), round)) {
            let outcome = sample(bench, store);
            bench.note(AXIS, store.peer.name(), outcome);
            thread::sleep(REST);
        }
    }
}

fn filled(bench: &mut Bench, kind: &Kind, count: u32) -> Option<Filled> {
    let root = bench.root.clone();
    let begun = Instant::now();
    let made = kind.open(&root, &bench.tools).and_then(|mut peer| {
        if count > 0 {
            peer.seed(count)?;
        }
        warm_up(peer.as_mut())?;
        Ok(Filled { count, peer })
    });
    if count > 0 && made.is_ok() {
        eprintln!("   {} filled with {count} tasks in {:.1}s", kind.name(), begun.elapsed().as_secs_f64());
    }
    match made {
        Ok(filled) => Some(filled),
        Err(trouble) => {
            bench.note(AXIS, kind.name(), Err(trouble));
            None
        }
    }
}

fn sample(bench: &mut Bench, store: &mut Filled) -> Outcome<()> {
    let peer = store.peer.as_mut();
    let started = peer.start("true")?;
    bench.add_time(Metric::StartAmong(store.count), peer, started.took);
    // A list just before a start would warm its caches, and an empty store has nothing to list.
    if store.count > 0 {
        peer.wait(&started.id)?;
        thread::sleep(REST);
        let took = peer.list()?;
        bench.add_time(Metric::List(store.count), peer, took);
    }
    Ok(())
}
