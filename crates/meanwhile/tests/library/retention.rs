//! Finished tasks go by themselves, in time.

use std::sync::Arc;
use std::time::Duration;

use meanwhile::model::Timestamp;
use meanwhile::{Clock, SystemClock};

use crate::world::{Asked, Limits, World};

/// Runs ahead of the system's clock.
struct Ahead(Duration);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(SystemClock.now().as_micros() + self.0.as_micros() as i64)
    }
}

#[test]
fn whoever_settles_a_week_later_removes_what_ended_now() {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let mut world = World::new(Limits { per_session: 2, in_all: 0 });
    world.start(Asked { session: 0, priority: 0, after: Vec::new(), code: 0 });
    world.finish_all();
    let host = world.runtime().teller(&crate::world::session_name(0)).unwrap();
    host.drain(meanwhile::Moment::RunStart).unwrap().acknowledge().unwrap();
    let directory = world.runtime().home().task(world.id(0));
    let by_hand = world.by_hand(Arc::new(Ahead(DAY * 8)));
    by_hand.settle(None).unwrap();
    assert!(directory.exists(), "nothing goes by itself where that is turned off");
    for (days, kept) in [(6, true), (8, false)] {
        world.at_another_time(Arc::new(Ahead(DAY * days))).settle(None).unwrap();
        assert_eq!(directory.exists(), kept, "after {days} days");
    }
}
