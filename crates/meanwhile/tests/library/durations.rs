//! The duration of a task does not depend on changes of the system's clock.

use std::sync::Arc;
use std::time::Duration;

use meanwhile::Scope;

use crate::retention::Ahead;
use crate::world::{Limits, TaskPlan, World};

#[test]
fn setting_the_clock_does_not_change_the_duration_of_a_task() {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let mut world = World::new(Limits { per_session: 2, total: 0 });
    world.start(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 0 });
    let tomorrow = world.with_clock(Arc::new(Ahead(DAY)));
    let task = tomorrow.tasks().task(world.id(0).as_str(), &Scope::All).unwrap();
    assert!(!task.status.is_terminal(), "{task:?}");
    let duration = Duration::from_millis(task.duration_ms.unwrap());
    assert!(duration < DAY / 2, "the duration is {duration:?}");
    world.finish_all();
    let task = tomorrow.tasks().task(world.id(0).as_str(), &Scope::All).unwrap();
    assert!(task.duration_ms.unwrap() < 3_600_000, "{task:?}");
}
