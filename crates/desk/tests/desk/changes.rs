//! Changes that a screen is notified of.

use std::ops::ControlFlow;
use std::sync::mpsc;

use mw_desk::DeskChange;
use mw_desk::action::Removal;
use mw_testkit::SOON;

use crate::place::Place;

#[test]
fn starts_ends_and_removals_are_reported_until_the_watch_is_stopped() {
    let place = Place::new();
    let (sender, changes) = mpsc::channel();
    let desk = place.desk.clone();
    let watch = std::thread::spawn(move || {
        desk.watch(|change| match sender.send(change) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        })
    });
    let next = || changes.recv_timeout(SOON).unwrap();
    assert_eq!(next(), DeskChange::Watching, "reported first, so that a screen loads its list again");
    let task = place.ended("true");
    assert_eq!(next(), DeskChange::Tasks);
    while changes.try_recv().is_ok() {}
    let cleared = place.desk.clear(&Removal::These(vec![task])).unwrap();
    assert_eq!(cleared, ["1 task removed"]);
    assert_eq!(next(), DeskChange::Tasks, "a removal is reported too");

    drop(changes);
    let _started = place.home.start("true");
    watch.join().unwrap().unwrap();
}
