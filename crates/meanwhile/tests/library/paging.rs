//! Queries of front ends that show tasks: pages, orders, usage, runs and delivery states.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use meanwhile::engine::{DeliveryPolicy, DeliveryState, Moment, Runtime};
use meanwhile::model::{Status, Timestamp};
use meanwhile::{ListOrder, Scope, Task, TaskFilter};

use crate::world::{Limits, TaskPlan, World, session_name};

const SOON: Duration = Duration::from_secs(90);

fn plan(session: usize, code: i32) -> TaskPlan {
    TaskPlan { session, priority: 0, after: Vec::new(), code }
}

/// Returns a world with two running tasks, one queued task and eight finished tasks, in two sessions.
fn world() -> World {
    let mut world = World::new(Limits { per_session: 8, total: 0 });
    (0..8).for_each(|at| world.start(plan(at % 2, (at % 3) as i32)));
    world.finish_all();
    let mut world = world;
    (0..2).for_each(|_| world.start(plan(0, 0)));
    world.start(TaskPlan { after: vec![8], ..plan(0, 0) });
    world
}

const fn long_ago() -> Timestamp {
    Timestamp::from_micros(0)
}

/// Returns a time after which no task has failed.
const fn never() -> Timestamp {
    Timestamp::from_micros(i64::MAX)
}

fn ids(tasks: &[Task]) -> Vec<&str> {
    tasks.iter().map(|task| task.id.as_str()).collect()
}

fn all(runtime: &Runtime, filter: &TaskFilter) -> Vec<Task> {
    runtime.tasks().list(&TaskFilter { limit: u32::MAX, ..filter.clone() }).unwrap().tasks
}

#[test]
fn pages_of_any_size_join_to_the_complete_list_in_every_order() {
    let world = world();
    let runtime = world.runtime();
    let base = TaskFilter::new(Scope::All);
    let filters = [
        base.clone(),
        TaskFilter { scope: Scope::Session(session_name(0)), ..base.clone() },
        TaskFilter { statuses: vec![Status::Completed, Status::Failed], ..base.clone() },
        TaskFilter { statuses: vec![Status::Running, Status::Pending, Status::Failed], ..base.clone() },
        TaskFilter { text: Some("exit 2".to_owned()), ..base },
    ];
    for filter in &filters {
        let by_state =
            [ListOrder::ByState { failed_since: long_ago() }, ListOrder::ByState { failed_since: never() }];
        let orders = [
            ListOrder::Newest,
            ListOrder::Oldest,
            ListOrder::Longest,
            ListOrder::Shortest,
            ListOrder::Name,
            ListOrder::NameDown,
        ];
        for order in orders.into_iter().chain(by_state) {
            let filter = TaskFilter { order, ..filter.clone() };
            let whole = all(runtime, &filter);
            let live = whole.iter().filter(|task| !task.status.is_terminal()).count();
            assert!(whole.iter().take(live).all(|task| !task.status.is_terminal()), "live tasks come first");
            for (place, task) in whole.iter().enumerate() {
                let found = runtime.tasks().position(&filter, &task.id).unwrap();
                assert_eq!(found, Some(place as u64), "{order:?} {}", task.id);
            }
            for limit in 1..5 {
                let mut found = Vec::new();
                for offset in (0..whole.len() as u32 + limit).step_by(limit as usize) {
                    let page = runtime.tasks().list(&TaskFilter { offset, limit, ..filter.clone() }).unwrap();
                    assert_eq!((page.total, page.live), (whole.len() as u64, live as u64));
                    found.extend(page.tasks);
                }
                assert_eq!(ids(&found), ids(&whole), "{filter:?} by {limit}");
            }
        }
    }
    world.finish_all();
}

#[test]
fn each_order_sorts_by_its_key_and_its_opposite_reverses_it() {
    let world = world();
    world.finish_all();
    let list = |order| all(world.runtime(), &TaskFilter { order, ..TaskFilter::new(Scope::All) });
    for (order, other) in [
        (ListOrder::Newest, ListOrder::Oldest),
        (ListOrder::Longest, ListOrder::Shortest),
        (ListOrder::Name, ListOrder::NameDown),
    ] {
        let mut reversed = list(other);
        reversed.reverse();
        assert_eq!(ids(&list(order)), ids(&reversed), "{order:?} is the reverse of {other:?}");
    }
    let newest = list(ListOrder::Newest);
    assert_eq!(newest.len(), 11);
    assert!(newest.windows(2).all(|pair| pair[0].created_at >= pair[1].created_at));
    assert!(list(ListOrder::Longest).windows(2).all(|pair| pair[0].duration_ms >= pair[1].duration_ms));
    assert!(list(ListOrder::Name).windows(2).all(|pair| pair[0].command <= pair[1].command));
}

#[test]
fn order_by_state_lists_running_then_queued_then_recently_failed_tasks() {
    let world = world();
    let listed = |failed_since| {
        let order = ListOrder::ByState { failed_since };
        let tasks = all(world.runtime(), &TaskFilter { order, ..TaskFilter::new(Scope::All) });
        tasks.iter().map(|task| task.status.word()).collect::<Vec<_>>()
    };
    let lately = listed(long_ago());
    assert_eq!(lately[..3], ["running", "running", "pending"]);
    assert_eq!(lately[3..], [vec!["failed"; 5], vec!["completed"; 3]].concat());
    let not_lately = listed(never());
    assert_eq!(not_lately[3..6], ["failed", "completed", "failed"], "sorted by age only");
    world.finish_all();
}

#[test]
fn a_text_filter_ignores_case_and_has_no_wildcards() {
    let world = world();
    let found = |text: &str| {
        let filter = TaskFilter { text: Some(text.to_owned()), ..TaskFilter::new(Scope::All) };
        all(world.runtime(), &filter).len()
    };
    assert_eq!(found("PID-3;"), 1);
    assert_eq!(found(world.id(4).as_str()), 1);
    assert_eq!(found(&session_name(1)), 4);
    assert_eq!([found("%"), found("pid_3"), found("\\"), found("' OR 1")], [0; 4]);
    world.finish_all();
}

#[test]
fn the_usage_of_a_task_is_known_while_it_runs() {
    let mut world = World::new(Limits { per_session: 8, total: 0 });
    world.start(plan(0, 0));
    let task = || world.runtime().tasks().task(world.id(0).as_str(), &Scope::All).unwrap();
    let begun = Instant::now();
    let usage = loop {
        if let Some(usage) = world.runtime().live().usage(&task()).filter(|usage| usage.memory > 0) {
            break usage;
        }
        assert!(begun.elapsed() < SOON, "the usage of {:?} is unknown", task());
    };
    assert!(usage.processes >= 1);
    world.finish_all();
    assert_eq!(world.runtime().live().usage(&task()), None);
}

#[test]
fn every_run_of_a_task_is_listed_with_its_times() {
    let mut world = World::new(Limits { per_session: 8, total: 0 });
    world.start(plan(0, 3));
    world.finish_all();
    let id = world.id(0).as_str();
    for _ in 0..2 {
        world.runtime().starts().restart(id, &Scope::All).unwrap();
        world.finish_all();
    }
    let task = world.runtime().tasks().task(id, &Scope::All).unwrap();
    let runs = world.runtime().reader().runs(&task, 10);
    assert_eq!(runs.iter().map(|run| run.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(runs.iter().all(|run| run.status == Status::Failed && run.ended_at >= Some(run.started_at)));
    let starts: BTreeSet<_> = runs.iter().map(|run| run.started_at).collect();
    assert_eq!(starts.len(), 3);
    assert_eq!(world.runtime().reader().runs(&task, 2)[..], runs[1..]);
}

#[test]
fn the_delivery_state_of_a_notification_is_reported() {
    let mut world = World::new(Limits { per_session: 8, total: 0 });
    world.start(plan(0, 0));
    world.finish_all();
    let states = || {
        let notices = world.runtime().notifications().notices_of(world.id(0).as_str(), &Scope::All).unwrap();
        notices.iter().map(|notice| (notice.run, notice.kind.clone(), notice.state)).collect::<Vec<_>>()
    };
    assert_eq!(states(), [(1, "ended".to_owned(), DeliveryState::Waiting)]);
    let host = world.runtime().notifications().host(&session_name(0), DeliveryPolicy::NextRun).unwrap();
    let delivery = host.drain(Moment::RunStart).unwrap();
    assert_eq!(states()[0].2, DeliveryState::HandedOver);
    delivery.acknowledge().unwrap();
    assert_eq!(states()[0].2, DeliveryState::Known);
}
