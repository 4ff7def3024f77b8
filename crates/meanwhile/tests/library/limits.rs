//! Resource limits that a host sets.

use std::time::Duration;

use meanwhile::engine::model::{Cause, CommandSpec, Enforcement, EnvVar, ResourceLimit, Resources};
use meanwhile::engine::{Condition, TaskRequest, WaitRequest};
use meanwhile::error::Invalid;
use meanwhile::{Error, Scope, Task, TaskFilter};

use crate::world::{Limits, World};

fn request(script: &str, resources: Resources) -> TaskRequest {
    let command = CommandSpec::Shell { program: "/bin/sh".into(), script: script.into() };
    let path = EnvVar { name: "PATH".into(), value: "/usr/local/bin:/usr/bin:/bin".into() };
    let mut request = TaskRequest::new("s", command, std::env::temp_dir(), vec![path]);
    request.limits.resources = resources;
    request
}

fn wait_for_end(world: &World, task: &Task) -> Task {
    let request = WaitRequest {
        tasks: vec![task.id.clone()],
        any: false,
        condition: Condition::Exit,
        timeout: Some(Duration::from_secs(90)),
        poll_interval: None,
    };
    assert!(!world.runtime().reader().wait(&request).unwrap().timed_out);
    world.runtime().tasks().task(task.id.as_str(), &Scope::All).unwrap()
}

#[test]
fn the_cause_of_an_end_names_the_limit_that_was_reached() {
    let world = World::new(Limits { per_session: 2, total: 0 });
    let resources = Resources { cpu_time_ms: Some(300), pids: Some(50), ..Resources::default() };
    let task = world.runtime().starts().start(&request("while :; do :; done", resources)).unwrap().task;
    assert_eq!(task.limits.map(|limits| limits.resources), Some(resources));
    let task = wait_for_end(&world, &task);
    let limit = match task.cause_value() {
        Some(Cause::LimitReached { limit, .. }) => *limit,
        other => panic!("{other:?}"),
    };
    assert_eq!(limit, ResourceLimit::CpuTime(300));
    let enforcement = task.limits.and_then(|limits| limits.enforcement);
    assert!(matches!(enforcement, Some(Enforcement::Sampled | Enforcement::ControlGroup)), "{enforcement:?}");
}

#[test]
fn a_limit_out_of_range_is_refused_and_no_task_is_created() {
    let world = World::new(Limits { per_session: 2, total: 0 });
    let refused = world
        .runtime()
        .starts()
        .start(&request("true", Resources { memory: Some(1), ..Resources::default() }));
    match refused {
        Err(Error::Invalid(Invalid::Limit(limit))) => assert_eq!(limit.name, "memory"),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.runtime().tasks().list(&TaskFilter::new(Scope::All)).unwrap().total, 0);
}
