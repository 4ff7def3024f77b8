//! Each end is delivered once, in every order of an end, an action of the owner and a delivery to a host.

use meanwhile::engine::{
    DeliveryPolicy, KillRequest, Moment, ReadFrom, ReadRequest, SessionHolder, WaitRequest,
};

use crate::world::{Limits, TaskPlan, World, session_name};

/// An event for one task and its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The task exits by itself.
    End,
    /// The owner reads the output to its end.
    Read,
    /// The owner kills the task.
    Kill,
    /// A host takes the waiting notifications and acknowledges them.
    Drain,
    /// A host takes the waiting notifications and dies before it acknowledges them.
    DrainAndDie,
}

/// Runs the steps; returns how often the end was acknowledged, and how often it was handed out in total.
fn run(steps: &[Step]) -> (usize, usize) {
    let mut world = World::new(Limits { per_session: 2, total: 0 });
    world.start(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 0 });
    let session = session_name(0);
    let mut counts = (0, 0);
    for step in steps {
        match step {
            Step::End => end(&world),
            Step::Read => {
                let request = ReadRequest { from: ReadFrom::Offset(0), ..ReadRequest::default() };
                let reply =
                    world.runtime().reader().read(world.id(0).as_str(), &meanwhile::Scope::All, &request);
                if reply.unwrap().eof {
                    world.runtime().notifications().note_known(world.id(0)).unwrap();
                }
            }
            Step::Kill => {
                let request = KillRequest { by: "model".to_owned(), signal: 15, grace_ms: None };
                let kills = world
                    .runtime()
                    .notifications()
                    .kill_as_owner(&[world.id(0).as_str()], &session, &request)
                    .unwrap();
                kills.all_done().unwrap();
            }
            Step::Drain => {
                let taken = drain(&host(&world), true);
                counts = (counts.0 + taken, counts.1 + taken);
            }
            Step::DrainAndDie => counts.1 += drain(&host(&world), false),
        }
    }
    counts
}

fn host(world: &World) -> SessionHolder<'_> {
    world.runtime().notifications().host(&session_name(0), DeliveryPolicy::NextRun).unwrap()
}

fn drain(host: &SessionHolder<'_>, acknowledge: bool) -> usize {
    let delivery = host.drain(Moment::RunStart).unwrap();
    let count = delivery.notices().len();
    if acknowledge {
        delivery.acknowledge().unwrap();
    } else {
        // As in a killed process: the delivery is neither acknowledged nor returned.
        std::mem::forget(delivery);
    }
    count
}

fn end(world: &World) {
    world.finish(0);
    let request = WaitRequest {
        tasks: vec![world.id(0).clone()],
        any: false,
        condition: meanwhile::engine::Condition::Exit,
        timeout: Some(std::time::Duration::from_secs(90)),
        poll_interval: None,
    };
    assert!(!world.runtime().reader().wait(&request).unwrap().timed_out);
}

/// Returns every order of these steps.
fn orders(steps: &[Step]) -> Vec<Vec<Step>> {
    if steps.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for at in 0..steps.len() {
        let mut rest = steps.to_vec();
        let first = rest.remove(at);
        all.extend(orders(&rest).into_iter().map(|order| [vec![first], order].concat()));
    }
    all
}

/// Returns whether the owner knew of the end before it was first handed out.
fn knew_before(steps: &[Step]) -> bool {
    let place = |wanted: Step| steps.iter().position(|step| *step == wanted);
    let ended = [place(Step::End), place(Step::Kill)].into_iter().flatten().min().unwrap_or(usize::MAX);
    let read = place(Step::Read).filter(|at| *at > ended);
    let knew = [read, place(Step::Kill)].into_iter().flatten().min();
    let handed = (0..steps.len())
        .find(|at| *at > ended && matches!(steps[*at], Step::Drain | Step::DrainAndDie))
        .unwrap_or(usize::MAX);
    knew.is_some_and(|knew| knew < handed)
}

fn check(steps: &[Step]) {
    for mut order in orders(steps) {
        // Finally a host asks once more.
        order.push(Step::Drain);
        let (acknowledged, _) = run(&order);
        assert_eq!(acknowledged, usize::from(!knew_before(&order)), "{order:?}");
    }
}

#[test]
fn an_end_is_delivered_once_unless_its_owner_read_it_first() {
    check(&[Step::End, Step::Read, Step::Drain]);
}

#[test]
fn an_end_is_delivered_once_unless_its_owner_killed_the_task() {
    check(&[Step::Kill, Step::Drain]);
    // After a kill between the end and the delivery, the end is not delivered.
    for order in [[Step::End, Step::Kill, Step::Drain], [Step::End, Step::Drain, Step::Kill]] {
        let (acknowledged, _) = run(&[&order[..], &[Step::Drain]].concat());
        assert_eq!(acknowledged, usize::from(order[1] == Step::Drain), "{order:?}");
    }
}

#[test]
fn notifications_held_by_a_dead_host_are_delivered_to_the_next_host() {
    let (acknowledged, handed_out) =
        run(&[Step::End, Step::DrainAndDie, Step::DrainAndDie, Step::Drain, Step::Drain]);
    assert_eq!((acknowledged, handed_out), (1, 3));
}

#[test]
fn notifications_held_by_a_live_host_are_not_delivered_to_another() {
    let mut world = World::new(Limits { per_session: 2, total: 0 });
    world.start(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 3 });
    end(&world);
    let (one, two) = (host(&world), host(&world));
    let delivery = one.drain(Moment::RunStart).unwrap();
    assert_eq!(delivery.notices().len(), 1);
    assert_eq!(drain(&two, true), 0);
    drop(delivery);
    assert_eq!(drain(&two, true), 1, "a dropped delivery is available to the next host");
}

#[test]
fn a_message_is_stored_together_with_its_notifications() {
    let mut world = World::new(Limits { per_session: 2, total: 0 });
    world.start(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 3 });
    end(&world);
    let host = host(&world);
    let turn = host.drain(Moment::RunStart).unwrap().store("go on").unwrap();
    assert!(turn.to_text().ends_with("\n\ngo on"), "{}", turn.to_text());
    assert_eq!(host.turns().unwrap(), [turn]);
    assert_eq!(drain(&host, true), 0);
}

#[test]
fn the_delivery_policy_decides_when_notifications_are_delivered() {
    use DeliveryPolicy::{BetweenBatches, Immediate, NextRun};
    for (policy, moment, expected) in [
        (NextRun, Moment::Idle, 0),
        (NextRun, Moment::BetweenBatches, 0),
        (NextRun, Moment::RunStart, 1),
        (BetweenBatches, Moment::Idle, 0),
        (BetweenBatches, Moment::BetweenBatches, 1),
        (Immediate, Moment::Idle, 1),
    ] {
        let mut world = World::new(Limits { per_session: 2, total: 0 });
        world.start(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 0 });
        end(&world);
        let host = world.runtime().notifications().host(&session_name(0), policy).unwrap();
        assert_eq!(host.drain(moment).unwrap().notices().len(), expected, "{policy:?} {moment:?}");
    }
}

#[test]
fn a_dropped_host_leaks_no_descriptor_and_loses_no_notification() {
    let open_files = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let mut world = World::new(Limits { per_session: 2, total: 0 });
    world.start(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 0 });
    end(&world);
    let before = open_files();
    for _ in 0..3 {
        let host = world.runtime().notifications().host(&session_name(0), DeliveryPolicy::NextRun).unwrap();
        // Notifications that were taken and not acknowledged are not lost.
        drop(host.drain(Moment::RunStart).unwrap());
        drop(host);
    }
    assert_eq!(open_files(), before);
    let host = world.runtime().notifications().host(&session_name(0), DeliveryPolicy::NextRun).unwrap();
    assert_eq!(host.drain(Moment::RunStart).unwrap().notices().len(), 1);
}

/// There are more notifications than fit in one delivery, so the oldest ones are all held.
#[test]
fn notifications_held_by_a_hung_host_do_not_hide_the_others() {
    const MANY: usize = 120;
    let mut world = World::new(Limits { per_session: 8, total: 0 });
    let start =
        |world: &mut World| world.start(TaskPlan { session: 0, priority: 0, after: Vec::new(), code: 0 });
    (0..MANY).for_each(|_| start(&mut world));
    world.finish_all();
    let (hung, other) = (host(&world), host(&world));
    let held = hung.drain(Moment::RunStart).unwrap();
    assert_eq!(held.notices().len(), 100, "the maximum of one delivery");
    let rest = other.drain(Moment::RunStart).unwrap();
    assert_eq!(rest.notices().len(), MANY - 100);
    rest.acknowledge().unwrap();
    assert_eq!(drain(&other, true), 0, "the others are held by a live host");
    held.acknowledge().unwrap();
}
