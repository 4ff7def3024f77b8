//! Resource usage of tasks, and lists sorted by it.

use mw_desk::Sample;
use mw_desk::query::{Listing, Query, RowRange, Sort};
use mw_testkit::children::{SLEEPER, burn, hold_memory};
use mw_testkit::{SOON, wait_until};

use crate::place::{Place, ids};

fn listed(place: &Place, sort: Sort, is_reversed: bool) -> Listing {
    let query = Query { sort, is_reversed, ..Query::default() };
    let range = RowRange { start: 0, count: 10, keep: None, measure: Some(0..10) };
    place.desk.list(query, &range).unwrap()
}

#[test]
fn tasks_are_sorted_by_their_usage() {
    let place = Place::new();
    let over = place.ended("true");
    let busy = place.home.start(&burn(1));
    let large = place.home.start(&hold_memory(64, "gate"));
    place.home.file("gate.held");
    let idle = place.home.start(SLEEPER);

    let first = listed(&place, Sort::Cpu, false);
    let rows = &first.window.rows;
    assert!(
        rows.len() >= 3 && rows.iter().all(|row| row.sample == Sample::default()),
        "no sample was taken yet"
    );
    assert!(place.desk.sample(&first.round.unwrap()).unwrap());
    wait_until(SOON, "the busy task is first", || {
        let listing = listed(&place, Sort::Cpu, false);
        let busiest = listing.window.rows.first()?;
        if busiest.id == busy && busiest.sample.cpu? > 1.0 {
            return Some(());
        }
        assert!(!place.desk.sample(&listing.round?).unwrap());
        None
    });
    // No sample was taken since.
    let least = listed(&place, Sort::Cpu, true).window;
    assert_eq!(ids(&least)[2..], [&busy, &over], "ascending, with ended tasks last");

    let by_memory = listed(&place, Sort::Memory, false).window;
    assert_eq!(ids(&by_memory)[0], large);
    assert!(by_memory.rows[0].sample.memory.unwrap() >= 64 << 20, "{:?}", by_memory.rows[0].sample);
    assert_eq!(ids(&by_memory)[3], over);
    assert_eq!(by_memory.rows[3].sample, Sample::default());
    assert!(ids(&by_memory).contains(&idle.as_str()));
}

#[test]
fn only_tasks_on_screen_are_measured() {
    let place = Place::new();
    let (below, on_screen) = (place.home.start(SLEEPER), place.home.start(SLEEPER));
    let query = Query { sort: Sort::Newest, ..Query::default() };
    let range = RowRange { start: 0, count: 10, keep: None, measure: Some(0..1) };
    let listing = place.desk.list(query.clone(), &range).unwrap();
    assert_eq!(ids(&listing.window), [&on_screen, &below]);
    assert!(place.desk.sample(&listing.round.unwrap()).unwrap());
    let window = place.list(&query, 0, 10);
    assert!(window.rows[0].sample.memory.is_some());
    assert_eq!(window.rows[1].sample, Sample::default());
}
