//! Follow-ups: who may be sent one, and what a failed one leaves.

use std::fs;

use crate::world::World;

#[test]
fn a_failed_follow_up_keeps_the_answer_and_can_be_tried_again() {
    let world = World::new();
    let id = world.answered("say the answer");
    assert_eq!(world.notices().len(), 1);
    world.resume(&id, "error no luck");
    let task = world.completed(&id);
    assert_eq!(task["agent"]["answer"], "the answer");
    assert!(task["agent"]["error"].as_str().unwrap().contains("no luck"), "{task}");
    assert_eq!(task["exit_code"], 1, "the cause stands beside the word");
    let notices = world.notices();
    let told = notices[0]["result"].as_str().unwrap();
    assert!(told.contains("no luck") && told.contains("the answer"), "{told}");
    world.resume(&id, "say better");
    assert_eq!(world.completed(&id)["agent"]["answer"], "better");
    let turns = world.record(&id)["turns"].clone();
    let answers: Vec<_> = turns.as_array().unwrap().iter().map(|turn| turn["answer"].as_str()).collect();
    assert_eq!(answers, [Some("the answer"), None, Some("better")]);
}

#[test]
fn a_cancelled_follow_up_keeps_the_answer() {
    let world = World::new();
    let id = world.answered("say the answer");
    world.resume(&id, "say working\nhang");
    world.home.until_logged(&id, "working");
    assert_eq!(world.status(&id)["status"], "resumed");
    world.mw(&["kill", &id]).ok();
    let task = world.completed(&id);
    assert_eq!(task["agent"]["answer"], "the answer");
    assert!(task["cause"].as_str().unwrap().starts_with("cancelled by"), "{task}");
}

#[test]
fn a_follow_up_that_its_session_did_not_take_is_not_counted() {
    let world = World::new();
    let id = world.answered("say one");
    let state = world.home.user().join("agent-state");
    fs::rename(&state, world.home.user().join("elsewhere")).unwrap();
    fs::create_dir(&state).unwrap();
    world.resume(&id, "say two");
    let task = world.completed(&id);
    assert!(task["agent"]["error"].as_str().unwrap().contains("session expired"), "{task}");
    assert_eq!((&task["resume_count"], &task["runs"]), (&0.into(), &2.into()));
}

#[test]
fn of_many_follow_ups_at_once_one_is_taken() {
    let world = World::new();
    let id = world.answered("say one");
    let all: Vec<_> = (0..6)
        .map(|number| world.command(&["resume", &id, &format!("wait gate\nsay {number}")]).spawn())
        .collect();
    let codes: Vec<_> = all.into_iter().map(|one| one.wait().code).collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    world.home.open("gate");
    world.completed(&id);
    assert_eq!(world.status(&id)["runs"], 2);
}

#[test]
fn what_is_no_agent_cannot_be_resumed() {
    let world = World::new();
    let id = world.home.start("true");
    world.home.ended(&id);
    let outcome = world.home.mw(["resume", "--json", &id, "hi"]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    let id = world.answered("say one");
    assert_eq!(world.mw(&["resume", &id, "  "]).code, Some(2));
}

#[test]
fn a_rebuilt_database_knows_what_was_said() {
    let world = World::new();
    let id = world.answered("say one");
    world.resume(&id, "say two");
    world.completed(&id);
    for name in ["meanwhile.db", "meanwhile.db-wal", "meanwhile.db-shm"] {
        let _ = fs::remove_file(world.home.state().join(name));
    }
    let task = world.completed(&id);
    assert_eq!((&task["resume_count"], &task["agent"]["answer"]), (&1.into(), &"two".into()), "{task}");
    world.resume(&id, "error no");
    assert_eq!(world.completed(&id)["agent"]["answer"], "two");
    for name in ["meanwhile.db", "meanwhile.db-wal", "meanwhile.db-shm"] {
        let _ = fs::remove_file(world.home.state().join(name));
    }
    assert_eq!(world.completed(&id)["resume_count"], 2);
}

#[test]
fn what_was_said_before_is_not_said_again() {
    let world = World::new();
    let id = world.answered("say one");
    world.resume(&id, "say two");
    let task = world.completed(&id);
    assert_eq!(task["agent"]["answer"], "two");
    assert_eq!(task["agent"]["activity"]["updates"], 1, "a loaded session tells its past first");
}
