//! Commands that are killed while they deliver notifications, and concurrent ones.

use std::collections::BTreeSet;
use std::thread;

use mw_testkit::Home;

use crate::home;

const FAIL_AT: &str = "MEANWHILE_FAIL_AT";

fn ended(home: &Home, count: usize) -> BTreeSet<String> {
    let start = |_| {
        let started = home.command(["start", "--json", "exit 1"]).session("s").run().json();
        started["id"].as_str().unwrap().to_owned()
    };
    let ids: BTreeSet<_> = (0..count).map(start).collect();
    ids.iter().for_each(|id| drop(home.mw(["wait", id])));
    ids
}

/// Takes and acknowledges the notifications; returns the tasks of those that were printed.
fn delivered_tasks(home: &Home) -> Vec<String> {
    let value = home.mw(["notices", "--json", "--session", "s"]).json();
    let notices = value["notices"].as_array().unwrap();
    notices.iter().map(|notice| notice["task"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_command_killed_before_delivery_loses_no_notification() {
    let home = home();
    let ids = ended(&home, 3);
    for _ in 0..2 {
        let killed =
            home.command(["notices", "--json", "--session", "s"]).env(FAIL_AT, "notices-handed-over").run();
        assert_eq!(killed.code, None, "{killed}");
        assert_eq!(killed.text(), "");
    }
    assert_eq!(delivered_tasks(&home).into_iter().collect::<BTreeSet<_>>(), ids);
    assert_eq!(delivered_tasks(&home), Vec::<String>::new());
}

#[test]
fn notifications_delivered_before_a_kill_are_not_repeated() {
    let home = home();
    let ids = ended(&home, 2);
    let killed =
        home.command(["notices", "--json", "--session", "s"]).env(FAIL_AT, "notices-acknowledged").run();
    assert_eq!(killed.code, None, "{killed}");
    assert!(ids.iter().all(|id| killed.text().contains(id)), "{killed}");
    assert_eq!(delivered_tasks(&home), Vec::<String>::new());
}

#[test]
fn concurrent_commands_deliver_each_notification_once() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "4");
    let readers = 4;
    let (ids, all) = thread::scope(|scope| {
        let started: Vec<_> = (0..3).map(|_| scope.spawn(|| ended(&home, 10))).collect();
        let reading: Vec<_> = (0..readers)
            .map(|_| scope.spawn(|| (0..10).flat_map(|_| delivered_tasks(&home)).collect::<Vec<_>>()))
            .collect();
        let ids: BTreeSet<_> = started.into_iter().flat_map(|one| one.join().unwrap()).collect();
        let all: Vec<_> = reading.into_iter().flat_map(|one| one.join().unwrap()).collect();
        (ids, all)
    });
    let all: Vec<_> = all.into_iter().chain(delivered_tasks(&home)).collect();
    assert_eq!(all.len(), ids.len(), "no notification is repeated or lost");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), ids);
}
