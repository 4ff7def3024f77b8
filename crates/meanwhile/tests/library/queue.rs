//! The queue as a property: whatever is asked for, in whatever order, nothing runs beyond its limit, nothing
//! waits beside a free slot, the order is by priority and then by age, and everything ends in the end.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::world::{Asked, Limits, World};

/// What somebody does.
#[derive(Clone, Debug)]
enum Step {
    /// Asks for a task that follows some of those before it.
    Start { session: usize, priority: i32, after: Vec<Index>, code: i32 },
    /// Lets a task end by itself.
    Finish(Index),
    /// Ends a task.
    Kill(Index),
}

fn step() -> impl Strategy<Value = Step> {
    let after = prop_oneof![4 => vec(any::<Index>(), 0..1), 1 => vec(any::<Index>(), 1..3)];
    let code = prop_oneof![4 => Just(0), 1 => Just(3)];
    let start = (0..2_usize, -1..3_i32, after, code)
        .prop_map(|(session, priority, after, code)| Step::Start { session, priority, after, code });
    prop_oneof![
        5 => start,
        3 => any::<Index>().prop_map(Step::Finish),
        1 => any::<Index>().prop_map(Step::Kill),
    ]
}

fn limits() -> impl Strategy<Value = Limits> {
    let in_all = prop_oneof![Just(0), 1..4_u32];
    (1..4_u32, in_all).prop_map(|(per_session, in_all)| Limits { per_session, in_all })
}

fn take(world: &mut World, step: &Step) {
    let place = |index: &Index, world: &World| (world.len() > 0).then(|| index.index(world.len()));
    match step {
        Step::Start { session, priority, after, code } => {
            let mut after: Vec<_> = after.iter().filter_map(|index| place(index, world)).collect();
            after.sort_unstable();
            after.dedup();
            world.start(Asked { session: *session, priority: *priority, after, code: *code });
        }
        Step::Finish(index) => {
            if let Some(at) = place(index, world) {
                world.finish(at);
            }
        }
        Step::Kill(index) => {
            if let Some(at) = place(index, world) {
                world.kill(at);
            }
        }
    }
}

proptest! {
    // A case runs dozens of processes, so there are few, and a counterexample is made smaller only a little.
    #![proptest_config(ProptestConfig {
        cases: 16,
        max_shrink_iters: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_queue_respects_limits_order_and_dependencies(limits in limits(), steps in vec(step(), 4..16)) {
        let mut world = World::new(limits);
        for step in &steps {
            take(&mut world, step);
            world.look();
        }
        world.finish_all();
        world.look();
        world.check_endings();
        world.check_history();
    }
}
