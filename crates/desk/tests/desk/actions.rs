//! Actions: on one task, where a failure is an error, and on several, where it is told beside the rest.

use meanwhile::Error;
use meanwhile::model::Status;
use mw_desk::action::{Again, Force, Outcome, Removal, Reply, TaskAction};
use mw_desk::query::{Query, States};
use mw_desk::{Access, Desk, Verdict};
use mw_testkit::children::{SLEEPER, STUBBORN};

use crate::place::{Place, access, ids};

const NOBODY: &str = "bash-nothere1";

fn named(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[test]
fn of_several_tasks_each_is_killed_or_told() {
    let place = Place::new();
    let (one, two) = (place.home.start(SLEEPER), place.home.start(SLEEPER));
    let over = place.ended("true");
    let killed = place.desk.kill(&named(&[&one, &over, NOBODY, &two]), Force::Term).unwrap();
    let receipts: Vec<_> =
        killed.receipts.iter().map(|receipt| (receipt.id.as_str(), receipt.status)).collect();
    assert_eq!(receipts, [(one.as_str(), Status::Cancelled), (two.as_str(), Status::Cancelled)]);
    assert!(killed.receipts.iter().all(|receipt| receipt.requested_by == "a test"));
    assert_eq!(killed.over.iter().map(ToString::to_string).collect::<Vec<_>>(), [over]);
    let [failure] = &*killed.failures else { panic!("{killed:?}") };
    assert!(failure.id == NOBODY && matches!(failure.error, Error::NotFound(_)), "{failure:?}");
    let lines = killed.lines();
    assert_eq!(lines[0], "4 tasks: 2 cancelled, 1 not done, 1 already ended");
    assert!(lines[1].starts_with("bash-nothere1: "), "{lines:?}");
}

#[test]
fn one_task_is_killed_with_its_whole_receipt_or_an_error() {
    let place = Place::new();
    let task = place.home.start(STUBBORN);
    place.home.until_logged(&task, "ready");
    let done = place.desk.act(&TaskAction::Kill(vec![task.clone()], Force::Kill)).unwrap();
    let lines = done.lines();
    assert!(lines[0].starts_with(&format!("{task} cancelled: SIGKILL to ")), "{lines:?}");
    let Outcome::Killed(killed) = done else { panic!("{done:?}") };
    assert_eq!(killed.receipts.len(), 1);
    let failed = place.desk.kill(&named(&[NOBODY]), Force::Term);
    assert!(matches!(failed, Err(Error::NotFound(_))), "{failed:?}");
}

#[test]
fn tasks_run_again_and_what_cannot_is_told() {
    let place = Place::new();
    let (one, two) = (place.ended("exit 1"), place.ended("exit 2"));
    let restarted = place.desk.restart(&named(&[&one, NOBODY, &two])).unwrap();
    let [(_, first), (_, nobody), (_, last)] = &*restarted.tasks else { panic!("{restarted:?}") };
    for again in [first, last] {
        assert!(matches!(again, Ok(Again::Running { run: 2 })), "{again:?}");
    }
    assert!(matches!(nobody, Err(Error::NotFound(_))), "{nobody:?}");
    let lines = restarted.lines();
    assert_eq!(lines[0], "3 tasks: 2 restarted, 1 not done");
    assert_eq!(lines[1], format!("{one} restarted, run 2"));
    assert!(lines[2].starts_with(NOBODY), "{lines:?}");
    place.home.ended(&one);
    place.home.ended(&two);
    assert!(place.desk.restart(&named(&[NOBODY])).is_err());
}

#[test]
fn what_has_ended_is_removed_and_what_lives_is_kept() {
    let place = Place::new();
    let (one, two) = (place.ended("exit 1"), place.ended("true"));
    let live = place.home.start(SLEEPER);
    let cleared = place.desk.clear(&Removal::These(named(&[&one, &live, NOBODY]))).unwrap();
    assert_eq!(cleared.removed.iter().map(ToString::to_string).collect::<Vec<_>>(), [one]);
    assert_eq!(cleared.kept.iter().map(|kept| kept.id.as_str()).collect::<Vec<_>>(), [&live]);
    assert_eq!(cleared.failures.len(), 1);
    assert_eq!(cleared.lines()[0], "3 tasks: 1 not done, 1 removed, 1 kept");

    let failed = Query { states: States::Only(Status::Failed), ..Query::default() };
    let none = place.desk.clear(&Removal::Ended(failed)).unwrap();
    assert_eq!(none.lines(), ["nothing to do"], "no failed one is left");
    let rest = place.desk.clear(&Removal::Ended(Query::default())).unwrap();
    assert_eq!(rest.lines(), ["1 task removed"]);
    assert_eq!(rest.removed[0].as_str(), two);
    assert_eq!(ids(&place.list(&Query::default(), 0, 10)), [&live]);
}

#[test]
fn a_line_is_typed_into_a_task() {
    let place = Place::new();
    let task = place.home.start_with(&["--stdin"], "read word; echo got $word");
    let done = place.desk.act(&TaskAction::Input(task.clone(), "hello".to_owned())).unwrap();
    assert_eq!(done.lines(), [format!("sent 6 bytes to {task}")]);
    place.home.until_logged(&task, "got hello");
    let refused = place.desk.input(&place.ended("true"), "hello");
    assert!(refused.is_err(), "{refused:?}");
}

#[test]
fn questions_are_answered_by_people_only() {
    let place = Place::new();
    let asked = place.home.command(["start", "--json", "rm -rf build"]);
    let asked = asked.env("MEANWHILE_SESSION", "own").env("MEANWHILE_MODE", "safe");
    // The question stays open when nobody waits for its answer any more.
    let asked = asked.env("MEANWHILE_APPROVAL_WAIT", "0").run();
    let open = place.desk.proposed().unwrap();
    let [proposed] = &*open else { panic!("nothing is asked: {asked}\n{open:?}") };
    assert!(proposed.lines.iter().any(|line| line.contains("rm -rf build")), "{proposed:?}");

    let inside = Desk::new(Access { inside: Some("bash-1".to_owned()), ..access(&place.home) });
    let refused = inside.answer(&proposed.id, Reply::Once);
    assert!(matches!(refused, Err(Error::Denied { .. })), "{refused:?}");
    assert_eq!(place.desk.proposed().unwrap().len(), 1, "it is still open");
    assert_eq!(place.desk.verdict(&proposed.id).unwrap(), Verdict::Open);
    let elsewhere = Desk::new(Access { session: Some("another".to_owned()), ..access(&place.home) });
    assert_eq!(elsewhere.proposed().unwrap(), [], "and seen in its session only");

    let answered = place.desk.answer(&proposed.id, Reply::Deny).unwrap();
    assert_eq!(answered.line(), format!("denied {}", proposed.id));
    assert_eq!(place.desk.proposed().unwrap(), []);
    assert_eq!(place.desk.verdict(&proposed.id).unwrap().words(), "was denied by a test's screen");
}
