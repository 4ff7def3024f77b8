//! Batches: actions on all tasks of a batch, and one notification for its end.

use std::collections::BTreeSet;

use crate::world::World;

#[test]
fn a_batch_can_be_listed_waited_for_killed_and_cleared() {
    let world = World::new();
    let ids: Vec<_> =
        (0..3).map(|_| world.ask_with(&["--agent", "good", "--batch", "b1"], "say ok")).collect();
    let other = world.answered("say other");
    assert_eq!(world.mw(&["wait", "--batch", "b1"]).code, Some(0));
    let listed = world.mw(&["list", "--json", "--batch", "b1"]).json();
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 3);
    let outputs = world.mw(&["output", "--json", "--batch", "b1"]).json();
    let outputs = outputs["outputs"].as_array().unwrap();
    assert!(outputs.len() == 3 && outputs.iter().all(|one| one["text"].as_str().unwrap().contains("ok")));
    assert_eq!(world.mw(&["output", "--batch", "b1"]).ok().matches("==> agent-").count(), 3);
    assert_eq!(world.mw(&["output", "--batch", "none"]).code, Some(5));
    let hanging = world.ask_with(&["--agent", "good", "--batch", "b1"], "hang");
    world.mw(&["kill", "--batch", "b1"]).ok();
    assert_eq!(world.status(&hanging)["status"], "cancelled");
    world.mw(&["clear", "--batch", "b1"]).ok();
    let left = world.home.list();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0]["id"], other.as_str());
    assert!(ids.iter().all(|id| !world.home.task_dir(id).exists()));
}

#[test]
fn the_end_of_a_batch_is_notified_once_in_addition_to_its_tasks() {
    let world = World::new();
    let ask = |prompt: &str| world.ask_with(&["--agent", "good", "--batch", "b2"], prompt);
    let ids = [ask("say one"), ask("error no"), ask("wait gate")];
    world.home.ended(&ids[0]);
    world.home.ended(&ids[1]);
    let early = world.notices();
    let tasks: BTreeSet<_> = early.iter().map(|notice| notice["task"].as_str().unwrap()).collect();
    assert_eq!(tasks, BTreeSet::from([ids[0].as_str(), ids[1].as_str()]), "{early:?}");
    assert!(early.iter().all(|notice| notice["news"] == "ended"), "{early:?}");
    world.home.open("gate");
    world.completed(&ids[2]);
    let late = world.notices();
    assert_eq!(early.len() + late.len(), 4, "{early:?} {late:?}");
    let batch = late.iter().find(|notice| notice["news"] == "batch").unwrap();
    assert_eq!((&batch["completed"], &batch["others"]), (&2.into(), &1.into()), "{batch}");
    assert_eq!(world.notices().len(), 0);
}
