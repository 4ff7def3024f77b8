//! How long a task has run is no matter of what somebody sets the clock to.

use std::sync::Arc;
use std::time::Duration;

use meanwhile::Scope;

use crate::retention::Ahead;
use crate::world::{Asked, Limits, World};

#[test]
fn setting_the_clock_does_not_change_the_duration_of_a_task() {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let mut world = World::new(Limits { per_session: 2, in_all: 0 });
    world.start(Asked { session: 0, priority: 0, after: Vec::new(), code: 0 });
    let tomorrow = world.at_another_time(Arc::new(Ahead(DAY)));
    let task = tomorrow.tasks().task(world.id(0).as_str(), &Scope::All).unwrap();
    assert!(!task.status.is_terminal(), "{task:?}");
    let run = Duration::from_millis(task.duration_ms.unwrap());
    assert!(run < DAY / 2, "it runs for {run:?}");
    world.finish_all();
    let task = tomorrow.tasks().task(world.id(0).as_str(), &Scope::All).unwrap();
    assert!(task.duration_ms.unwrap() < 3_600_000, "{task:?}");
}
