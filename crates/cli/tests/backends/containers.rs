//! What only the container back-ends can be asked.

use std::fs;
use std::path::Path;

use mw_testkit::{SOON, wait_until};
use serde_json::json;

use crate::engine_api::ask;
use crate::engines::ContainerEngine;
use crate::matrix::start_container;
use crate::world::{Kind, World};

const COUNT: &str = "i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo line $i; sleep 0.05; done; exit 5";

fn counted() -> String {
    (1..=60).map(|line| format!("line {line}\n")).collect()
}

/// Returns the containers of tasks, running or not.
fn containers(socket: &Path) -> String {
    ask(socket, "GET", "/containers/json?all=true", "text/plain", b"").1
}

fn survives_a_restart_of(engine: &ContainerEngine) {
    let world = World::new("box", Kind::Remote, &engine.backend("box"));
    let id = world.start(COUNT, &[]);
    world.home.until_logged(&id, "line 5\n");
    engine.server.restart();
    engine.until_ready();
    let task = world.ended(&id);
    assert_eq!(task["exit_code"], 5, "{task}");
    assert_eq!(String::from_utf8(world.home.log(&id)).unwrap(), counted());
}

#[test]
fn a_killed_docker_daemon_loses_nothing() {
    survives_a_restart_of(&ContainerEngine::docker());
}

#[test]
fn a_killed_podman_service_loses_nothing() {
    survives_a_restart_of(&ContainerEngine::podman());
}

#[test]
fn a_removed_container_is_lost_and_not_called_ended() {
    let engine = ContainerEngine::docker();
    let world = World::new("box", Kind::Remote, &engine.backend("box"));
    let id = world.start("echo up; sleep 600", &[]);
    world.home.until_logged(&id, "up");
    let path = format!("/containers/mw-{id}-1?force=true");
    assert_eq!(ask(&engine.socket, "DELETE", &path, "text/plain", b"").0, 204);
    let task = world.ended(&id);
    assert_eq!(task["status"], "lost", "{task}");
    assert!(task["cause"].as_str().unwrap().contains("removed"), "{task}");
}

#[test]
fn a_missing_image_and_a_missing_engine_are_failed_starts_with_the_reason() {
    let engine = ContainerEngine::docker();
    let missing = engine.backend("box").replace("busybox:latest", "nothing:here");
    let gone = "[backends.gone]\nkind = \"container\"\nsocket = \"/nonexistent/socket\"\nimage = \"x\"\n";
    let world = World::new("box", Kind::Remote, &format!("{missing}{gone}"));
    let cause = |on: &str| {
        let id = world.home.start_with(&["--on", on], "true");
        let task = world.ended(&id);
        assert_eq!(task["status"], "failed", "{task}");
        task["cause"].as_str().unwrap().to_owned()
    };
    assert!(cause("box").contains("pull = \"missing\""));
    assert!(cause("gone").contains("/nonexistent/socket"));
    let listed = world.home.mw(["backends", "--json"]).json();
    let of = |name: &str| {
        listed["backends"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap().clone()
    };
    assert!(of("box")["problem"].as_str().unwrap().contains("nothing:here"));
    assert!(of("gone")["problem"].as_str().unwrap().contains("/nonexistent/socket"));
    assert_eq!(of("process")["available"], true);
}

#[test]
fn the_project_is_mounted_and_containers_are_removed_after_the_end() {
    let engine = ContainerEngine::docker();
    let world = World::new("box", Kind::Remote, &engine.backend("box"));
    fs::create_dir(world.home.work().join(".git")).unwrap();
    fs::create_dir(world.home.work().join("inner")).unwrap();
    fs::write(world.home.work().join("file"), "from here\n").unwrap();
    let inner = world.home.work().join("inner");
    let options = ["--cwd", inner.to_str().unwrap()];
    let id = world.start_with(&options, "cat ../file; echo back > made; pwd", &[]);
    world.ended(&id);
    let said = String::from_utf8(world.output(&id, "stdout")).unwrap();
    assert_eq!(said, format!("from here\n{}\n", inner.display()));
    assert_eq!(fs::read_to_string(inner.join("made")).unwrap(), "back\n");
    wait_until(SOON, "the container is removed", || {
        (!containers(&engine.socket).contains(&id)).then_some(())
    });
}

#[test]
fn a_container_that_a_killed_driver_left_behind_is_removed_by_the_next_task() {
    let engine = ContainerEngine::docker();
    let world = World::new("box", Kind::Remote, &engine.backend("box"));
    let id = world.start("exit 3", &[]);
    world.ended(&id);
    wait_until(SOON, "the container is removed", || {
        (!containers(&engine.socket).contains(&id)).then_some(())
    });
    // A container of the same run, as if its driver had been killed before it could remove it.
    let tasks = fs::canonicalize(world.home.state().join("tasks")).unwrap();
    let labels = json!({
        "meanwhile.task": id, "meanwhile.run": "1", "meanwhile.home": tasks.to_str().unwrap(),
    });
    let container = json!({"Image": crate::engines::IMAGE, "Cmd": ["/bin/true"], "Labels": labels});
    crate::engine_api::post(&engine.socket, "/containers/create?name=left-over", &container);
    let next = world.start("true", &[]);
    world.ended(&next);
    wait_until(SOON, "the container is removed", || {
        (!containers(&engine.socket).contains("left-over")).then_some(())
    });
}

#[test]
fn a_task_in_an_existing_container_is_lost_when_that_is_removed() {
    let engine = ContainerEngine::docker();
    start_container(&engine, "workshop");
    let settings = format!("{}directory = \"/tmp\"\n", engine.backend_in("shop", "workshop"));
    let world = World::new("shop", Kind::Remote, &settings);
    let id = world.start("echo up; sleep 600", &[]);
    world.home.until_logged(&id, "up");
    assert_eq!(ask(&engine.socket, "DELETE", "/containers/workshop?force=true", "text/plain", b"").0, 204);
    let task = world.ended(&id);
    assert_eq!(task["status"], "lost", "{task}");
    assert!(task["cause"].as_str().unwrap().contains("workshop"), "{task}");
}
