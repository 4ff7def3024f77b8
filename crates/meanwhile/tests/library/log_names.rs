//! The second names of logs follow one pattern, and no two tasks share one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use meanwhile::engine::Runtime;
use meanwhile::engine::model::{TASK_LOG_NAME_PATTERN, Timestamp, context_stamp};
use meanwhile::{Scope, Task};
use regex::Regex;

use crate::world::{Limits, TaskPlan, World, session_name};

fn task(runtime: &Runtime, world: &World, at: usize) -> Task {
    runtime.tasks().task(world.id(at).as_str(), &Scope::All).unwrap()
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn log_names_match_the_pattern_and_are_unique() {
    let mut world = World::new(Limits { per_session: 2, total: 0 });
    let stamp = context_stamp(Timestamp::from_micros(1_779_504_107_123_000));
    let start = |world: &mut World, context: &str| {
        world.start_in(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 0 }, Some(context));
        world.runtime().reader().log_of(&task(world.runtime(), world, world.len() - 1))
    };
    let first = start(&mut world, &stamp);
    assert_eq!(name(&first), "bash_1.20260523-024147-123.log");
    // Another file has the name that the second task would get.
    let taken = first.with_file_name("bash_2.20260523-024147-123.log");
    symlink("/nowhere/else/output.log", &taken).unwrap();
    let second = start(&mut world, &stamp);
    assert_eq!(name(&second), "bash_2.20260523-024147-123-1.log");
    let third = start(&mut world, "20260523-024147-124");
    assert_eq!(name(&third), "bash_1.20260523-024147-124.log", "each context counts from 1");
    world.start(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 0 });
    let plain = task(world.runtime(), &world, 3);
    assert_eq!(
        world.runtime().reader().log_of(&plain),
        Path::new(&plain.output_path),
        "a task without a context has no second name"
    );
    assert_eq!(fs::read_link(&taken).unwrap(), Path::new("/nowhere/else/output.log"));
    let pattern = Regex::new(TASK_LOG_NAME_PATTERN).unwrap();
    for (path, handle) in [(&first, "bash_1"), (&second, "bash_2")] {
        let parts = pattern.captures(name(path)).unwrap();
        assert_eq!((&parts[1], &parts[2]), (handle, stamp.as_str()));
    }
    for other in ["bash_1.log", "bash_1.2026-05-23.log", "x/bash_1.20260523-024147-123.log", "output.log"] {
        assert!(!pattern.is_match(other), "{other}");
    }
    world.finish_all();
}

/// The name of a queued task is kept.
#[test]
fn the_log_name_of_a_reassigned_task_is_removed_with_the_task() {
    let mut world = World::new(Limits { per_session: 1, total: 0 });
    for _ in 0..2 {
        let plan = TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 0 };
        world.start_in(plan, Some("20260523-024147-123"));
    }
    let runtime = world.runtime();
    let link = |at| runtime.reader().log_of(&task(runtime, &world, at));
    let links = [link(0), link(1)];
    assert_eq!(
        links.each_ref().map(|link| name(link)),
        ["bash_1.20260523-024147-123.log", "bash_2.20260523-024147-123.log"]
    );
    runtime.sessions().reassign(&session_name(0), &session_name(1), "a test").unwrap();
    assert_eq!([link(0), link(1)], links, "a reassigned task keeps its log name");
    world.finish(0);
    let has_ended = |at: usize| task(runtime, &world, at).status.is_terminal();
    while !has_ended(0) {
        runtime.listen().unwrap().wait(std::time::Duration::from_millis(20));
    }
    runtime.retention().clear(std::slice::from_ref(world.id(0)), None).unwrap();
    assert!(fs::symlink_metadata(&links[0]).is_err());
    assert!(fs::symlink_metadata(&links[1]).is_ok(), "its task still exists");
    world.finish(1);
}
