//! Properties of the queue for any sequence of requests: no limit is exceeded, no runnable task stays queued while a
//! slot is free, tasks start by priority and then by age, and every task ends.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::world::{Limits, TaskPlan, World};

/// An action of a user.
#[derive(Clone, Debug)]
enum Step {
    /// Starts a task that may depend on earlier tasks.
    Start { session: usize, priority: i32, after: Vec<Index>, code: i32 },
    /// Lets a task exit by itself.
    Finish(Index),
    /// Kills a task.
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
    let total = prop_oneof![Just(0), 1..4_u32];
    (1..4_u32, total).prop_map(|(per_session, total)| Limits { per_session, total })
}

fn apply(world: &mut World, step: &Step) {
    let index_of = |index: &Index, world: &World| (world.len() > 0).then(|| index.index(world.len()));
    match step {
        Step::Start { session, priority, after, code } => {
            let mut after: Vec<_> = after.iter().filter_map(|index| index_of(index, world)).collect();
            after.sort_unstable();
            after.dedup();
            world.start(TaskPlan { session: *session, priority: *priority, after, code: *code });
        }
        Step::Finish(index) => {
            if let Some(at) = index_of(index, world) {
                world.finish(at);
            }
        }
        Step::Kill(index) => {
            if let Some(at) = index_of(index, world) {
                world.kill(at);
            }
        }
    }
}

proptest! {
    // Each case runs dozens of processes, so there are few cases and few shrink steps.
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
            apply(&mut world, step);
            world.check_queue();
        }
        world.finish_all();
        world.check_queue();
        world.check_endings();
        world.check_history();
    }
}
