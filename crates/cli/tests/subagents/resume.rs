//! Follow-ups: which tasks accept one, and the state after a failed one.

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
    assert_eq!(task["exit_code"], 1, "the exit code is that of the follow-up");
    let notices = world.notices();
    let delivered = notices[0]["result"].as_str().unwrap();
    assert!(delivered.contains("no luck") && delivered.contains("the answer"), "{delivered}");
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
fn a_follow_up_to_an_expired_session_is_not_counted() {
    let world = World::new();
    let id = world.answered("say one");
    let state = world.home.user().join("agent-state");
    fs::rename(&state, world.home.user().join("elsewhere")).unwrap();
    fs::create_dir(&state).unwrap();
    world.resume(&id, "say two");
    let task = world.completed(&id);
    assert!(
        task["agent"]["error"].as_str().unwrap().starts_with("the agent's session has expired"),
        "{task}"
    );
    assert_eq!((&task["resume_count"], &task["runs"]), (&0.into(), &2.into()));
}

#[test]
fn one_of_many_concurrent_follow_ups_is_accepted() {
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
fn a_task_that_is_no_agent_cannot_be_resumed() {
    let world = World::new();
    let id = world.home.start("true");
    world.home.ended(&id);
    let outcome = world.home.mw(["resume", "--json", &id, "hi"]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    let id = world.answered("say one");
    assert_eq!(world.mw(&["resume", &id, "  "]).code, Some(2));
}

#[test]
fn a_rebuilt_database_has_the_answers() {
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
fn the_history_replayed_by_a_loaded_session_is_not_counted() {
    let world = World::new();
    let id = world.answered("say one");
    world.resume(&id, "say two");
    let task = world.completed(&id);
    assert_eq!(task["agent"]["answer"], "two");
    assert_eq!(task["agent"]["activity"]["updates"], 1, "a loaded session replays its history first");
}
