//! A teller that is killed between taking notices and closing them, and many at once.

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

/// Takes and closes what there is to tell; returns the tasks, as far as they were told.
fn told(home: &Home) -> Vec<String> {
    let value = home.mw(["notices", "--json", "--session", "s"]).json();
    let notices = value["notices"].as_array().unwrap();
    notices.iter().map(|notice| notice["task"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_teller_killed_before_it_could_tell_costs_nothing() {
    let home = home();
    let ids = ended(&home, 3);
    for _ in 0..2 {
        let killed =
            home.command(["notices", "--json", "--session", "s"]).env(FAIL_AT, "notices-handed-over").run();
        assert_eq!(killed.code, None, "{killed}");
        assert_eq!(killed.text(), "");
    }
    assert_eq!(told(&home).into_iter().collect::<BTreeSet<_>>(), ids);
    assert_eq!(told(&home), Vec::<String>::new());
}

#[test]
fn a_teller_killed_after_it_has_told_does_not_tell_again() {
    let home = home();
    let ids = ended(&home, 2);
    let killed =
        home.command(["notices", "--json", "--session", "s"]).env(FAIL_AT, "notices-acknowledged").run();
    assert_eq!(killed.code, None, "{killed}");
    assert!(ids.iter().all(|id| killed.text().contains(id)), "{killed}");
    assert_eq!(told(&home), Vec::<String>::new());
}

#[test]
fn tellers_at_once_tell_each_ending_once_between_them() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "4");
    let tellers = 4;
    let (ids, all) = thread::scope(|scope| {
        let started: Vec<_> = (0..3).map(|_| scope.spawn(|| ended(&home, 10))).collect();
        let telling: Vec<_> = (0..tellers)
            .map(|_| scope.spawn(|| (0..10).flat_map(|_| told(&home)).collect::<Vec<_>>()))
            .collect();
        let ids: BTreeSet<_> = started.into_iter().flat_map(|one| one.join().unwrap()).collect();
        let all: Vec<_> = telling.into_iter().flat_map(|one| one.join().unwrap()).collect();
        (ids, all)
    });
    let all: Vec<_> = all.into_iter().chain(told(&home)).collect();
    assert_eq!(all.len(), ids.len(), "none doubled, none lost");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), ids);
}
