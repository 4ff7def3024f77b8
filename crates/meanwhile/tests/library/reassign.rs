//! Tasks pass to another session completely or not at all.

use std::fs;

use meanwhile::Scope;

use crate::world::{Limits, TaskPlan, World, session_name};

#[test]
fn a_reassignment_that_fails_leaves_every_spec_as_it_was() {
    let mut world = World::new(Limits { per_session: 2, total: 0 });
    for _ in 0..2 {
        world.start(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 0 });
    }
    let runtime = world.runtime();
    let spec_of = |at| runtime.home().task(world.id(at)).join("spec.json");
    let first = fs::read(spec_of(0)).unwrap();
    let second = fs::read(spec_of(1)).unwrap();
    fs::write(spec_of(1), "damaged").unwrap();
    runtime.sessions().reassign(&session_name(0), &session_name(1), "a test").unwrap_err();
    assert_eq!(fs::read(spec_of(0)).unwrap(), first);
    fs::write(spec_of(1), second).unwrap();
    for at in 0..2 {
        let task = runtime.tasks().task(world.id(at).as_str(), &Scope::All).unwrap();
        assert_eq!(task.session, session_name(0));
    }
    world.finish_all();
}
