//! Lists: windows, sort orders, and a task that must stay visible.

use meanwhile::model::Status;
use mw_desk::query::{Query, Sort, States};
use mw_desk::{Access, Desk};
use mw_testkit::children::SLEEPER;

use crate::place::{Place, access, ids};

#[test]
fn a_window_is_a_part_of_the_whole_list() {
    let place = Place::new();
    let ended: Vec<_> = (0..4).map(|number| place.ended(&format!("exit {number}"))).collect();
    let live = place.home.start(SLEEPER);
    let query = Query { sort: Sort::Newest, ..Query::default() };

    let whole = place.list(&query, 0, 100);
    let newest_first: Vec<_> = std::iter::once(&live).chain(ended.iter().rev()).collect();
    assert_eq!(ids(&whole), newest_first, "running tasks come first");
    assert_eq!((whole.start, whole.total, whole.live), (0, 5, 1));

    let part = place.list(&query, 1, 2);
    assert_eq!((part.start, part.total, part.live), (1, 5, 1));
    assert_eq!(ids(&part), newest_first[1..3]);
    assert_eq!(ids(&place.list(&query, 9, 2)), [""; 0], "there are no rows after the end");

    let oldest = Query { is_reversed: true, ..query };
    let oldest_first: Vec<_> = std::iter::once(&live).chain(&ended).collect();
    assert_eq!(ids(&place.list(&oldest, 0, 100)), oldest_first);
}

#[test]
fn a_window_follows_the_task_that_must_stay_visible() {
    let place = Place::new();
    let failed = place.ended("exit 3");
    let others: Vec<_> = (0..5).map(|_| place.ended("true")).collect();
    let query = Query { sort: Sort::Newest, ..Query::default() };

    let around = place.list_with(&query, 2, &failed);
    assert!(ids(&around).contains(&failed.as_str()), "{around:?}");
    assert_eq!((around.start, around.unlisted), (4, None), "the window moves to the task");

    let completed = Query { states: States::Only(Status::Completed), ..query };
    let without = place.list_with(&completed, 2, &failed);
    assert_eq!((without.start, without.total), (0, others.len()));
    let unlisted = without.unlisted.unwrap();
    assert_eq!(
        (unlisted.id, unlisted.exit_code),
        (failed, Some(3)),
        "a task that does not match is returned separately"
    );

    let gone = place.list_with(&completed, 2, "bash-nothere1");
    assert_eq!((gone.rows.len(), gone.unlisted), (2, None));
}

#[test]
fn a_session_sees_only_its_own_tasks() {
    let place = Place::new();
    let own = place.home.command(["start", "--json", "true"]).env("MEANWHILE_SESSION", "own").run();
    let own = own.json()["id"].as_str().unwrap().to_owned();
    let other = place.ended("true");
    place.home.ended(&own);

    let desk = Desk::new(Access { session: Some("own".to_owned()), ..access(&place.home) });
    let bound = Place { desk, home: place.home };
    assert_eq!(ids(&bound.list(&Query::default(), 0, 10)), [&own]);
    let asked = Query { session: Some("default".to_owned()), ..Query::default() };
    assert_eq!(ids(&bound.list(&asked, 0, 10)), [&own], "another session cannot be requested");
    assert!(bound.desk.facts(&other).is_err());
    let sessions = bound.desk.sessions().unwrap();
    assert_eq!(sessions.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["own"]);
}

#[test]
fn runs_and_facts_belong_to_the_named_task() {
    let place = Place::new();
    let task = place.home.start_with(&["--stdin"], "exit 4");
    place.home.ended(&task);
    assert_eq!(place.home.mw(["restart", &task]).code, Some(0));
    place.home.ended(&task);

    let lanes = place.desk.lanes(&[task.clone(), "bash-nothere1".to_owned()]).unwrap();
    let [lane] = &*lanes else { panic!("not one lane: {lanes:?}") };
    assert_eq!((lane.id.as_str(), lane.status, lane.runs.len()), (task.as_str(), Status::Failed, 2));
    let facts = place.desk.facts(&task).unwrap();
    let value = |name: &str| facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str());
    assert_eq!((value("task"), value("exit code"), value("runs")), (Some(&*task), Some("4"), Some("2")));
    assert!(place.desk.takes_input(&task).unwrap());
    assert!(!place.desk.takes_input(&place.ended("true")).unwrap());
}

#[test]
fn a_desk_can_be_used_from_any_thread() {
    fn serves<T: Clone + Send + Sync>(_: &T) {}
    let place = Place::new();
    serves(&place.desk);
    let task = place.ended("true");
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(ids(&place.list(&Query::default(), 0, 10)), [&task]));
        }
    });
}
