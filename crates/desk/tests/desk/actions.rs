//! Actions: on one task, where a failure is an error, and on several, where it is reported with the other results.

use meanwhile::Error;
use meanwhile::engine::Runtime;
use meanwhile::model::Status;
use mw_desk::action::{ApprovalReply, Force, Removal, TaskAction};
use mw_desk::query::{Query, States};
use mw_desk::{Access, Desk, OpenRequest, open_requests};
use mw_testkit::children::{SLEEPER, STUBBORN};

use crate::place::{Place, access, ids};

const UNKNOWN: &str = "bash-nothere1";

fn named(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[test]
fn each_of_several_tasks_is_killed_or_its_failure_reported() {
    let place = Place::new();
    let (one, two) = (place.home.start(SLEEPER), place.home.start(SLEEPER));
    let over = place.ended("true");
    let lines = place.desk.kill(&named(&[&one, &over, UNKNOWN, &two]), Force::Term).unwrap();
    let row =
        |id: &str| place.list(&Query::default(), 0, 10).rows.into_iter().find(|row| row.id == id).unwrap();
    assert_eq!([row(&one).status, row(&two).status], [Status::Cancelled; 2]);
    assert!(row(&one).state.contains("a test"), "{}", row(&one).state);
    assert_eq!(row(&over).status, Status::Completed);
    assert_eq!(lines[0], "4 tasks: 2 cancelled, 1 not done, 1 already ended");
    assert!(lines[1].starts_with("bash-nothere1: "), "{lines:?}");
}

#[test]
fn killing_one_task_returns_its_receipt_or_an_error() {
    let place = Place::new();
    let task = place.home.start(STUBBORN);
    place.home.until_logged(&task, "ready");
    let done = place.desk.act(&TaskAction::Kill(vec![task.clone()], Force::Kill)).unwrap();
    assert!(done[0].starts_with(&format!("{task} cancelled: SIGKILL to ")), "{done:?}");
    let failed = place.desk.kill(&named(&[UNKNOWN]), Force::Term);
    assert!(matches!(failed, Err(Error::NotFound(_))), "{failed:?}");
}

#[test]
fn tasks_are_restarted_and_failures_are_reported() {
    let place = Place::new();
    let (one, two) = (place.ended("exit 1"), place.ended("exit 2"));
    let lines = place.desk.restart(&named(&[&one, UNKNOWN, &two])).unwrap();
    assert_eq!(lines[0], "3 tasks: 2 restarted, 1 not done");
    assert_eq!(lines[1], format!("{one} restarted, run 2"));
    assert!(lines[2].starts_with(UNKNOWN), "{lines:?}");
    assert_eq!(lines[3], format!("{two} restarted, run 2"));
    place.home.ended(&one);
    place.home.ended(&two);
    assert!(matches!(place.desk.restart(&named(&[UNKNOWN])), Err(Error::NotFound(_))));
}

#[test]
fn ended_tasks_are_removed_and_live_tasks_are_kept() {
    let place = Place::new();
    let (one, two) = (place.ended("exit 1"), place.ended("true"));
    let live = place.home.start(SLEEPER);
    let cleared = place.desk.clear(&Removal::These(named(&[&one, &live, UNKNOWN]))).unwrap();
    assert_eq!(cleared[0], "3 tasks: 1 not done, 1 removed, 1 kept");
    assert!(
        cleared[1].starts_with(UNKNOWN) && cleared[2].starts_with(&format!("kept {live}: ")),
        "{cleared:?}"
    );
    assert_eq!(ids(&place.list(&Query::default(), 0, 10)), [&live, &two]);

    let failed = Query { states: States::Only(Status::Failed), ..Query::default() };
    let none = place.desk.clear(&Removal::Ended(failed)).unwrap();
    assert_eq!(none, ["nothing to do"], "no failed task is left");
    let rest = place.desk.clear(&Removal::Ended(Query::default())).unwrap();
    assert_eq!(rest, ["1 task removed"]);
    assert_eq!(ids(&place.list(&Query::default(), 0, 10)), [&live]);
}

#[test]
fn a_line_of_input_reaches_the_task() {
    let place = Place::new();
    let task = place.home.start_with(&["--stdin"], "read word; echo got $word");
    let done = place.desk.act(&TaskAction::Input(task.clone(), "hello".to_owned())).unwrap();
    assert_eq!(done, [format!("sent 6 bytes to {task}")]);
    place.home.until_logged(&task, "got hello");
    let refused = place.desk.input(&place.ended("true"), "hello");
    assert!(refused.is_err(), "{refused:?}");
}

fn open(access: &Access) -> Vec<OpenRequest> {
    let runtime = Runtime::open(access.settings.clone()).unwrap();
    open_requests(&runtime, access.session.as_deref(), access.keep).unwrap()
}

#[test]
fn approval_requests_cannot_be_answered_from_inside_a_task() {
    let place = Place::new();
    let asked = place.home.command(["start", "--json", "rm -rf build"]);
    let asked = asked.env("MEANWHILE_SESSION", "own").env("MEANWHILE_MODE", "safe");
    // The request stays open although the command does not wait for an answer.
    let asked = asked.env("MEANWHILE_APPROVAL_WAIT", "0").run();
    let found = open(&access(&place.home));
    let [proposed] = &*found else { panic!("not one request: {asked}\n{found:?}") };
    assert!(proposed.lines.iter().any(|line| line.contains("rm -rf build")), "{proposed:?}");

    let inside = Desk::new(Access { inside: Some("bash-1".to_owned()), ..access(&place.home) });
    let refused = inside.answer(&proposed.id, ApprovalReply::Once);
    assert!(matches!(refused, Err(Error::Denied { .. })), "{refused:?}");
    assert_eq!(open(&access(&place.home)).len(), 1, "the request is still open");
    assert_eq!(place.desk.outcome(&proposed.id).unwrap(), "is still open");
    let elsewhere = Access { session: Some("another".to_owned()), ..access(&place.home) };
    assert_eq!(open(&elsewhere), [], "it is shown in its session only");

    let answered = place.desk.answer(&proposed.id, ApprovalReply::Deny).unwrap();
    assert_eq!(answered, format!("denied {}", proposed.id));
    assert_eq!(open(&access(&place.home)), []);
    assert_eq!(place.desk.outcome(&proposed.id).unwrap(), "was denied by a test's screen");
}
