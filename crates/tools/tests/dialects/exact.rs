//! Models must give complete ids: a prefix matches no task, in any dialect.

use meanwhile::engine::ReadRequest;
use mw_model::{Status, TaskId};
use mw_tools::Dialect;
use serde_json::{Value, json};

use crate::world::{SLEEPER, World};

/// Returns the arguments of a call that stops a task.
type Naming = fn(&str) -> Value;

#[test]
fn a_prefix_of_an_id_stops_no_task() {
    let by: [(Dialect, &str, Naming); 6] = [
        (Dialect::Canonical, "task_stop", |id| json!({"task_ids": [id]})),
        (Dialect::Zidane, "shell_kill", |id| json!({"task_id": id})),
        (Dialect::Mycode, "KillShell", |id| json!({"shell_id": id})),
        (Dialect::BackgroundTask, "background_cancel", |id| json!({"task_id": id})),
        (Dialect::Opta, "bg_kill", |id| json!({"id": id})),
        (Dialect::CoCli, "cancel_background_task", |id| json!({"task_id": id})),
    ];
    for (dialect, tool, arguments) in by {
        let world = World::new(dialect);
        let task = world.start(SLEEPER);
        let id = task.id.as_str();
        for beginning in [&id[5..6], "b", "bash-", &id[..9], &id[5..9], &id[..id.len() - 1]] {
            let _ = world.refused(tool, arguments(beginning));
        }
        let scope = meanwhile::Scope::All;
        assert_eq!(world.runtime.tasks().task(id, &scope).unwrap().status, Status::Running, "{tool}");
        // The eight characters without prefix are a complete id.
        let _ = world.done(tool, arguments(&id[5..]));
        assert!(world.runtime.tasks().task(id, &scope).unwrap().status.is_terminal(), "{tool}");
    }
}

fn until_printed(world: &World, id: &TaskId, text: &str) {
    mw_testkit::wait_until(mw_testkit::SOON, "the text is printed", || {
        let read = world
            .runtime
            .reader()
            .read(id.as_str(), &meanwhile::Scope::All, &ReadRequest::default())
            .unwrap();
        read.text().contains(text).then_some(())
    });
}

#[test]
fn a_handled_signal_stops_no_task_and_is_reported_as_sent() {
    let world = World::new(Dialect::Canonical);
    let task = world.start("trap 'echo again' HUP; echo ready; while :; do sleep 0.02; done");
    until_printed(&world, &task.id, "ready");
    let reply = world.done("task_stop", json!({"task_ids": [task.id], "signal": "HUP"}));
    assert!(reply.text.contains("SIGHUP sent") && reply.reported.is_empty(), "{}", reply.text);
    assert_eq!(reply.data["tasks"][0]["signals"][0]["signal"], "SIGHUP", "{}", reply.data);
    until_printed(&world, &task.id, "again");
    assert_eq!(
        world.runtime.tasks().task(task.id.as_str(), &meanwhile::Scope::All).unwrap().status,
        Status::Running
    );
}
