//! A home has no database before the first start.

use meanwhile::{Scope, TaskFilter};

use crate::world::{Limits, TaskPlan, World};

#[test]
fn a_home_has_no_database_and_no_tasks_before_the_first_start() {
    let mut world = World::new(Limits { per_session: 2, total: 0 });
    let database = world.runtime().home().database();
    let tasks = || std::fs::read_dir(database.with_file_name("tasks")).map_or(0, Iterator::count);
    assert!(!database.exists(), "opening a runtime created a database");
    assert_eq!(tasks(), 0);
    world.start(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 0 });
    assert_eq!(tasks(), 1);
    assert_eq!(world.runtime().tasks().list(&TaskFilter::new(Scope::All)).unwrap().total, 1);
    assert!(database.exists());
    world.finish_all();
}
