//! A subscription returns all events in order, without polling.

use std::sync::Arc;
use std::time::Duration;

use meanwhile::Scope;
use meanwhile::engine::SystemClock;
use meanwhile::model::Event;

use crate::world::{Limits, TaskPlan, World, session_name};

const SOON: Duration = Duration::from_secs(90);

fn plan(session: usize) -> TaskPlan {
    TaskPlan { session, priority: 0, after: Vec::new(), code: 0 }
}

#[test]
fn a_subscription_to_a_session_returns_only_its_events_in_order() {
    let mut world = World::new(Limits { per_session: 2, total: 0 });
    world.start(plan(0));
    world.start(plan(1));
    (0..2).for_each(|at| world.finish(at));
    let mut subscription =
        world.runtime().notifications().subscribe_after(0, Scope::Session(session_name(0))).unwrap();
    let mut words = Vec::new();
    while !words.contains(&"ended") {
        let events = subscription.next(SOON).unwrap();
        assert!(!events.is_empty(), "no event after {words:?}");
        assert!(events.iter().all(|event| event.task == *world.id(0)), "{events:?}");
        words.extend(events.iter().map(|event| event.event.word()));
    }
    assert_eq!(words, ["reserved", "started", "ended"]);
    assert!(subscription.next(Duration::ZERO).unwrap().is_empty());
}

#[test]
fn a_subscription_resumes_from_a_place_and_waits_for_new_events() {
    let mut world = World::new(Limits { per_session: 2, total: 0 });
    let position = world.runtime().notifications().subscribe(Scope::All).unwrap().position();
    world.start(plan(0));
    let mut subscription = world.runtime().notifications().subscribe_after(position, Scope::All).unwrap();
    let started = subscription.next(SOON).unwrap();
    assert!(matches!(started[0].event, Event::Reserved { .. }), "{started:?}");
    world.finish(0);
    let mut last = Vec::new();
    while !last.contains(&"ended") {
        last = subscription.next(SOON).unwrap().iter().map(|event| event.event.word()).collect();
        assert!(!last.is_empty(), "no end event");
    }
}

#[test]
fn a_subscription_moves_past_the_events_of_other_sessions() {
    let mut world = World::new(Limits { per_session: 4, total: 0 });
    let other_runtime = world.with_clock(Arc::new(SystemClock));
    let mut quiet = other_runtime.notifications().subscribe(Scope::Session(session_name(1))).unwrap();
    (0..3).for_each(|_| world.start(plan(0)));
    world.finish_all();
    world.runtime().reconciler().reconcile().unwrap();
    assert!(quiet.next(Duration::ZERO).unwrap().is_empty());
    assert_eq!(quiet.position(), world.runtime().tasks().last_event().unwrap());
    world.start(plan(1));
    let own = quiet.next(SOON).unwrap();
    assert!(!own.is_empty() && own.iter().all(|event| event.task == *world.id(3)), "{own:?}");
}
