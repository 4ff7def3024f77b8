//! Settings of subagents take effect, set by a variable or in the configuration file.

use std::time::Instant;

use mw_testkit::{SOON, wait_until};

use crate::world::World;

#[test]
fn subagent_max_running_takes_effect() {
    for world in World::both_ways("subagent.max_running", "1") {
        let first = world.ask("hang");
        assert_eq!(world.status(&world.ask("hang"))["status"], "pending", "the default is 4");
        assert_eq!(world.status(&first)["status"], "running");
    }
}

#[test]
fn subagent_max_depth_takes_effect() {
    for world in World::both_ways("subagent.max_depth", "0") {
        let refused = world.mw(&["agent", "--agent", "good", "--json", "say x"]);
        assert!(refused.json()["error"]["message"].as_str().unwrap().contains("max_depth"), "{refused}");
    }
}

#[test]
fn subagent_cancel_ms_takes_effect() {
    for world in World::both_ways("subagent.cancel_ms", "8000") {
        let id = world.ask_with(&["--agent", "deaf"], "say working\nhang");
        world.home.until_logged(&id, "working");
        let begun = Instant::now();
        world.mw(&["kill", &id]).ok();
        assert!(begun.elapsed().as_secs() >= 8, "the default is 2 s: {:?}", begun.elapsed());
    }
}

#[test]
fn subagent_silence_takes_effect() {
    for world in World::both_ways("subagent.silence", "300ms") {
        let id = world.ask("say working\nhang");
        world.home.until_logged(&id, "no message from the agent");
    }
}

#[test]
fn subagent_linger_takes_effect() {
    for world in World::both_ways("subagent.linger", "100ms") {
        let id = world.ask_with(&["--agent", "forgetful"], "say one");
        world.completed(&id);
        world.home.wait_until_empty(SOON);
    }
}

#[test]
fn subagent_default_takes_effect() {
    for world in World::both_ways("subagent.default", "rude") {
        let id = world.ask_with(&[], "say hi");
        assert_eq!(world.completed(&id)["agent"]["name"], "rude", "the default is the first by name");
    }
}

#[test]
fn notices_batch_takes_effect() {
    for world in World::both_ways("notices.batch", "false") {
        let ids = [0, 1].map(|_| world.ask_with(&["--agent", "good", "--batch", "b"], "say ok"));
        ids.iter().for_each(|id| drop(world.completed(id)));
        let mut notices = Vec::new();
        wait_until(SOON, "both are notified", || {
            notices.extend(world.notices());
            (notices.len() >= ids.len()).then_some(())
        });
        // A notification of the batch would be written together with that of its last end.
        notices.extend(world.notices());
        let kinds: Vec<_> = notices.iter().map(|notice| notice["news"].clone()).collect();
        assert_eq!(kinds, ["ended", "ended"], "{notices:?}");
    }
}
