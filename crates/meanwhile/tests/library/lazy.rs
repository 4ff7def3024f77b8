//! A home costs nothing until it is used.

use meanwhile::{Filter, Scope};

use crate::world::{Asked, Limits, World};

#[test]
fn a_home_has_no_database_and_no_tasks_before_the_first_start() {
    let mut world = World::new(Limits { per_session: 2, in_all: 0 });
    let database = world.runtime().home().database();
    let tasks = || std::fs::read_dir(database.with_file_name("tasks")).map_or(0, Iterator::count);
    assert!(!database.exists(), "an open runtime has a database already");
    assert_eq!(tasks(), 0);
    world.start(Asked { session: 0, priority: 0, after: Vec::new(), code: 0 });
    assert_eq!(tasks(), 1);
    assert_eq!(world.runtime().tasks().list(&Filter::new(Scope::All)).unwrap().total, 1);
    assert!(database.exists());
    world.finish_all();
}
