//! Batches: everything at once, and told together.

use crate::world::World;

#[test]
fn a_batch_is_listed_waited_for_killed_and_cleared() {
    let world = World::new();
    let ids: Vec<_> =
        (0..3).map(|_| world.ask_with(&["--agent", "good", "--batch", "b1"], "say ok")).collect();
    let other = world.answered("say other");
    assert_eq!(world.mw(&["wait", "--batch", "b1"]).code, Some(0));
    let listed = world.mw(&["list", "--json", "--batch", "b1"]).json();
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 3);
    let hanging = world.ask_with(&["--agent", "good", "--batch", "b1"], "hang");
    world.mw(&["kill", "--batch", "b1"]).ok();
    assert_eq!(world.status(&hanging)["status"], "cancelled");
    world.mw(&["clear", "--batch", "b1"]).ok();
    let left = world.home.list();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0]["id"], other.as_str());
    assert!(ids.iter().all(|id| !world.home.task_dir(id).exists()));
}
