//! Finished tasks are removed automatically after some time.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use meanwhile::Scope;
use meanwhile::engine::model::{CommandSpec, EnvVar, Timestamp};
use meanwhile::engine::{Clock, Condition, Runtime, SpanOutcome, SystemClock, TaskRequest, WaitRequest};

use mw_testkit::{SOON, wait_until};

use crate::world::{Limits, TaskPlan, World};

/// A clock that is ahead of the system's clock.
pub struct Ahead(pub Duration);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(SystemClock.now().as_micros() + self.0.as_micros() as i64)
    }
}

/// A clock that is behind the system's clock.
struct Behind(Duration);

impl Clock for Behind {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(SystemClock.now().as_micros() - self.0.as_micros() as i64)
    }
}

#[test]
fn a_finished_task_is_removed_after_a_week_if_automatic_removal_is_on() {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let mut world = World::new(Limits { per_session: 2, total: 0 });
    world.start(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 0 });
    world.finish_all();
    let host = world.runtime().notifications().relay(&crate::world::session_name(0)).unwrap();
    host.drain(meanwhile::engine::Moment::RunStart).unwrap().acknowledge().unwrap();
    let directory = world.runtime().home().task(world.id(0));
    let without_removal = world.without_automatic_removal(Arc::new(Ahead(DAY * 8)));
    without_removal.settler().settle(None).unwrap();
    assert!(directory.exists(), "automatic removal is off");
    world.with_clock(Arc::new(Ahead(DAY * 6))).settler().settle(None).unwrap();
    assert!(directory.exists(), "after six days");
    // The helper of the task's own supervisor may still have the turn. It does not know that a week has passed.
    wait_until(SOON, "the task is gone after eight days", || {
        world.with_clock(Arc::new(Ahead(DAY * 8))).settler().settle(None).unwrap();
        (!directory.exists()).then_some(())
    });
}

#[test]
fn spans_of_a_session_are_removed_after_a_week() {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let world = World::new(Limits { per_session: 2, total: 0 });
    let span = world.runtime().traces().begin_span("chat_turn", None).unwrap();
    let trace = span.as_parent().trace_id.to_string();
    world.runtime().traces().end_span(span, "s", &[], SpanOutcome::default()).unwrap();
    for (days, kept) in [(6, true), (8, false)] {
        world.with_clock(Arc::new(Ahead(DAY * days))).settler().settle(None).unwrap();
        assert_eq!(world.runtime().traces().trace(&trace, &Scope::All).is_ok(), kept, "after {days} days");
    }
}

#[test]
fn spans_of_a_session_hide_the_values_of_secret_variables() {
    const VALUE: &str = "tr0mb0ne-and-drum";
    let world = World::new(Limits { per_session: 2, total: 0 });
    let span = world.runtime().traces().begin_span("tool_shell", None).unwrap();
    let trace = span.as_parent().trace_id.to_string();
    // The text is cut inside the second occurrence.
    let error = format!("not allowed: curl {VALUE} {:>160} {VALUE}", "");
    let attributes = [("tool.text".to_owned(), VALUE.into())].into();
    let env = [EnvVar { name: "DB_TOKEN".into(), value: VALUE.into() }];
    world
        .runtime()
        .traces()
        .end_span(span, "s", &env, SpanOutcome { error: Some(error), attributes })
        .unwrap();
    let shown = format!("{:?}", world.runtime().traces().trace(&trace, &Scope::All).unwrap());
    assert!(!shown.contains("tr0m") && shown.contains("not allowed: curl [redacted:environment]"), "{shown}");
}

#[test]
fn the_settle_program_may_have_a_path_that_is_not_utf8() {
    let world = World::new(Limits { per_session: 2, total: 0 });
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join(OsStr::from_bytes(b"b\xff\"; $x"));
    fs::create_dir(&place).unwrap();
    let (program, settled) = (place.join("settle"), place.join("settled"));
    fs::write(&program, "#!/bin/sh\necho \"$1\" > \"${0%/*}/settled\"\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let mut settings = world.runtime().settings().clone();
    settings.executables.settle = vec![program.as_os_str().as_bytes().into(), "x y".into()];
    settings.traces.export = true;
    Runtime::open(settings).unwrap().traces().send_spans_on();
    wait_until(SOON, "the settle program has run", || {
        fs::read(&settled).ok().filter(|text| text == b"x y\n").map(drop)
    });
}

#[test]
fn the_age_of_a_task_counts_from_its_end_and_not_from_its_request() {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let world = World::new(Limits { per_session: 2, total: 0 });
    let early = world.with_clock(Arc::new(Behind(DAY * 8)));
    let command = CommandSpec::Argv(vec!["true".into()]);
    let path = EnvVar { name: "PATH".into(), value: "/usr/bin:/bin".into() };
    let request = TaskRequest::new("s", command, "/".into(), vec![path]);
    let task = early.starts().start(&request).unwrap().task;
    let wait = WaitRequest {
        tasks: vec![task.id.clone()],
        any: false,
        condition: Condition::Exit,
        timeout: Some(Duration::from_secs(90)),
        poll_interval: None,
    };
    assert!(!world.runtime().reader().wait(&wait).unwrap().timed_out);
    let host = world.runtime().notifications().relay("s").unwrap();
    host.drain(meanwhile::engine::Moment::RunStart).unwrap().acknowledge().unwrap();
    let directory = world.runtime().home().task(&task.id);
    let purged = |days| {
        let later = world.with_clock(Arc::new(Ahead(DAY * days)));
        later.retention().purge().unwrap().cleared
    };
    assert!(purged(1).is_empty(), "it was requested nine days ago and ended one day ago");
    assert_eq!(purged(8), std::slice::from_ref(&task.id));
    assert!(!directory.exists());
}

#[test]
fn two_purges_at_once_remove_no_more_than_one_would() {
    const KEPT: usize = 2;
    let mut world = World::new(Limits { per_session: 8, total: 0 });
    for _ in 0..8 {
        world.start(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 0 });
    }
    world.finish_all();
    let host = world.runtime().notifications().relay(&crate::world::session_name(0)).unwrap();
    host.drain(meanwhile::engine::Moment::RunStart).unwrap().acknowledge().unwrap();
    let mut settings = world.runtime().settings().clone();
    settings.retention.max_tasks = KEPT as u64;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let settings = settings.clone();
            scope.spawn(|| Runtime::open(settings).unwrap().retention().purge().unwrap());
        }
    });
    let filter = meanwhile::TaskFilter::new(Scope::All);
    assert_eq!(world.runtime().tasks().list(&filter).unwrap().tasks.len(), KEPT);
}
