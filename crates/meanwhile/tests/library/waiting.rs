//! Waiting for notifications, for several tasks and for output.

use std::thread;
use std::time::{Duration, Instant};

use meanwhile::model::{Event, MessagePart, Status, signal};
use meanwhile::{Shell, Until, Waited};

use crate::handle::{LONG, dir, open};

const MOMENT: Duration = Duration::from_millis(20);

#[test]
fn next_notice_waits_for_the_end_of_a_task() {
    let dir = dir();
    let mut settings = open(dir.path()).settings().clone();
    // Polling would take too long: the end must wake the waiter.
    settings.wait_fallback = Duration::from_millis(600_000);
    let session = meanwhile::Meanwhile::open(settings).unwrap().host("agent").unwrap();
    assert!(session.next_notice(MOMENT).unwrap().is_none());
    let task = session.start(Shell::new("read -r line; exit 7").with_input()).unwrap();
    let notice = thread::scope(|scope| {
        let waiter = scope.spawn(|| session.next_notice(LONG).unwrap().unwrap());
        task.input("go\n").unwrap();
        waiter.join().unwrap()
    });
    assert!(&notice.notice().task == task.id() && notice.summary().contains("exited 7"), "{notice:?}");
    assert!(session.next_notice(Duration::ZERO).unwrap().is_none(), "the notification is held");
    drop(notice);
    session.next_notice(Duration::MAX).unwrap().unwrap().acknowledge().unwrap();
    assert!(session.next_notice(Duration::ZERO).unwrap().is_none());
}

#[test]
fn a_message_contains_the_notifications_and_acknowledges_them() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    assert_eq!(session.message("begin").unwrap().to_text(), "begin");
    let task = session.start("exit 3").unwrap();
    task.wait(Until::Exit, LONG).unwrap();
    let turn = session.message("go on").unwrap();
    let [MessagePart::Notice { notice }, MessagePart::Text { text }] = &turn.parts[..] else {
        panic!("{turn:?}")
    };
    assert!(&notice.task == task.id() && text == "go on", "{turn:?}");
    assert_eq!(session.notices().unwrap().len(), 0);
    let stored = session.messages().unwrap();
    assert!(stored.len() == 2 && stored[1] == turn, "{stored:?}");
}

#[test]
fn an_acknowledged_end_makes_no_notification() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let (known, other) = (session.start("exit 1").unwrap(), session.start("exit 2").unwrap());
    session.wait_all([&known, &other], Until::Exit, LONG).unwrap();
    session.acknowledge_ends([known.id()]).unwrap();
    let delivered: Vec<_> = session.notices().unwrap().map(|notice| notice.notice().task.clone()).collect();
    assert_eq!(delivered, [other.id().clone()]);
}

#[test]
fn a_wait_can_end_with_any_or_all_of_several_tasks() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let start = || session.start(Shell::new("read -r line; echo got it").with_input()).unwrap();
    let (one, two) = (start(), start());
    two.input("go\n").unwrap();
    let any = session.wait_any([&one, &two], Until::Exit, LONG).unwrap();
    assert!(matches!(&any[..], [Waited::NotYet(_), Waited::Met(_)]), "{any:?}");
    let begun = Instant::now();
    let all = session.wait_all([&one, &two], Until::Exit, MOMENT).unwrap();
    assert!(begun.elapsed() >= MOMENT && !all[0].is_met() && all[1].is_met(), "{all:?}");
    one.input("go\n").unwrap();
    let lines = session.wait_all(&[one, two], Until::Line("^got it$".to_owned()), Duration::MAX).unwrap();
    assert!(lines.iter().all(Waited::is_met), "{lines:?}");
    let never = session.start("true").unwrap().wait(Until::Line("x".to_owned()), LONG).unwrap();
    assert!(matches!(never, Waited::Never(_)), "{never:?}");
}

#[test]
fn output_since_continues_where_the_last_call_stopped() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let script = "while read -r line; do echo \"<$line>\"; done; echo over";
    let task = session.start(Shell::new(script).with_input()).unwrap();
    assert_eq!(task.output_since(0, Duration::ZERO).unwrap().next, 0);
    let mut at = 0;
    for word in ["one", "two"] {
        task.input(format!("{word}\n")).unwrap();
        let output = task.output_since(at, LONG).unwrap();
        assert!(output.text() == format!("<{word}>\n") && !output.is_end, "{output:?}");
        at = output.next;
    }
    task.close_input().unwrap();
    let mut rest = String::new();
    loop {
        let output = task.output_since(at, LONG).unwrap();
        rest.push_str(&output.text());
        at = output.next;
        if output.is_end {
            break;
        }
    }
    assert_eq!((rest.as_str(), at), ("over\n", 17));
}

#[test]
fn secrets_are_hidden_in_output() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let secret = "hunter2hunter2";
    let draft = Shell::new("echo \"token $MY_API_TOKEN\"").env("MY_API_TOKEN", secret);
    let task = session.start(draft).unwrap();
    task.wait(Until::Exit, LONG).unwrap();
    for text in [task.tail(1000).unwrap(), task.output_since(0, LONG).unwrap().text()] {
        assert!(text.starts_with("token ") && !text.contains(secret), "{text}");
    }
}

#[test]
fn a_task_can_be_signalled_and_restarted_and_has_an_end_event_per_run() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let script = "trap 'echo reloaded' HUP; echo up; while :; do read -r line; done";
    let task = session.start(Shell::new(script).with_input()).unwrap();
    let has_printed = |line: &str| task.wait(Until::Line(line.to_owned()), LONG).unwrap().is_met();
    assert!(has_printed("^up$"));
    task.signal(signal::SIGHUP).unwrap();
    assert!(has_printed("^reloaded$"));
    assert_eq!(task.restart().unwrap().runs, 2);
    assert!(has_printed("^up$"));
    task.signal(signal::SIGKILL).unwrap();
    let status = task.snapshot().unwrap();
    assert!(status.status == Status::Cancelled && status.runs == 2, "{status:?}");
    let events = task.events().unwrap();
    let ends = events.iter().filter(|event| matches!(event.event, Event::Ended { .. }));
    assert!(ends.count() == 2 && events.is_sorted_by_key(|event| event.seq), "{events:?}");
    let last = events.last().unwrap().seq;
    assert_eq!(session.events_since(0, LONG).unwrap().last().unwrap().seq, last);
    assert!(session.events_since(last, MOMENT).unwrap().is_empty());
    let other = session.start("true").unwrap();
    assert_eq!(&session.events_since(last, Duration::MAX).unwrap()[0].task, other.id());
}

#[test]
fn ending_a_session_kills_its_tasks_but_not_detached_ones() {
    let dir = dir();
    let mw = open(dir.path());
    let session = mw.host("agent").unwrap();
    let task = session.start("exec sleep 600").unwrap();
    let detached = session.start(Shell::new("exec sleep 600").detached()).unwrap();
    let kills = session.clone().end().unwrap();
    assert!(kills.failures.is_empty() && kills.receipts.len() == 1, "{kills:?}");
    assert_eq!(task.snapshot().unwrap().status, Status::Cancelled);
    let summary = session.notices().unwrap().next().unwrap().summary();
    assert!(summary.contains("the end of its session"), "{summary}");
    assert_eq!(detached.snapshot().unwrap().status, Status::Running);
    detached.kill().unwrap();
}

#[test]
fn output_can_be_searched() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let task = session.start("echo one; echo error: two; echo three; echo error: four").unwrap();
    task.wait(Until::Exit, LONG).unwrap();
    let found = task.search("^error", 1).unwrap();
    assert!(found.len() == 1 && found[0].line == 2 && found[0].text == "error: two", "{found:?}");
    assert_eq!(task.search("^error", 10).unwrap().len(), 2);
    assert!(task.search("(", 1).is_err());
}

#[test]
fn a_finished_task_can_be_removed_and_a_running_one_cannot() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let task = session.start(Shell::new("read -r line").with_input()).unwrap();
    let refused = task.clone().remove().unwrap_err();
    assert!(matches!(refused, meanwhile::Error::Kept(_)), "{refused}");
    task.close_input().unwrap();
    let path = task.wait(Until::Exit, LONG).unwrap().into_task().output_path;
    task.clone().remove().unwrap();
    assert!(!std::path::Path::new(&path).exists());
    assert!(task.snapshot().is_err() && session.tasks().unwrap().is_empty());
}

#[test]
fn a_listener_is_readable_after_a_change() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let task = session.start(Shell::new("read -r line").with_input()).unwrap();
    let listener = session.home().listen().unwrap();
    let is_readable = |longest: &rustix::event::Timespec| {
        let mut polled = [rustix::event::PollFd::new(&listener, rustix::event::PollFlags::IN)];
        rustix::event::poll(&mut polled, Some(longest)).unwrap() > 0
    };
    listener.clear();
    assert!(!is_readable(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 }));
    task.close_input().unwrap();
    assert!(is_readable(&rustix::event::Timespec { tv_sec: 90, tv_nsec: 0 }));
    assert!(session.next_notice(LONG).unwrap().is_some());
}

#[test]
fn a_wait_can_end_when_a_task_is_silent() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let task = session.start("echo begun; exec sleep 600").unwrap();
    let waited = task.wait(Until::Silent(Duration::from_millis(50)), LONG).unwrap();
    assert!(waited.is_met() && waited.task().status == Status::Running, "{waited:?}");
    task.kill().unwrap();
}
