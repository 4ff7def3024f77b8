//! The options of a draft.

use std::process::Command;
use std::time::{Duration, SystemTime};

use meanwhile::model::approval::{Answer, Proposal, Remember};
use meanwhile::model::{Lifetime, ReadyWhen, Status};
use meanwhile::policy::{AskOutcome, Asker, Nobody, Policy};
use meanwhile::settings::AtCapacity;
use meanwhile::{Error, IfRunning, Meanwhile, Program, Shell, Until};

use crate::handle::{LONG, dir, open};

#[test]
fn arguments_reach_a_script_and_a_program_unchanged() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let odd = "a b; echo 'c' $HOME \"";
    let script = Shell::new("printf '%s|%s' \"$1\" \"$2\"").arg(odd).arg("two");
    let program = Program::new("printf").args(["%s|%s", odd, "two"]);
    for draft in [script, program] {
        let task = session.start(draft).unwrap();
        task.wait(Until::Exit, LONG).unwrap();
        assert_eq!(task.tail(1000).unwrap(), format!("{odd}|two"));
    }
}

#[test]
fn a_task_inherits_the_directory_environment_and_umask_of_its_host() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let script = "pwd -P; umask; echo \"$PATH\"";
    let own = Command::new("/bin/sh").args(["-c", script]).output().unwrap();
    let task = session.start(script).unwrap();
    task.wait(Until::Exit, LONG).unwrap();
    assert_eq!(task.tail(10_000).unwrap(), String::from_utf8(own.stdout).unwrap());
}

#[test]
fn a_cleared_environment_has_only_variables_of_the_draft_and_of_meanwhile() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let draft = Program::new("/usr/bin/env").env("GONE", "1").env_clear().env("KEPT", "2");
    let task = session.start(draft).unwrap();
    task.wait(Until::Exit, LONG).unwrap();
    let text = task.tail(10_000).unwrap();
    let mut names: Vec<_> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.sort_unstable();
    assert_eq!(names, ["KEPT", "MEANWHILE_TASK_ID", "MEANWHILE_TASK_SESSION", "TRACEPARENT"], "{text}");
}

#[test]
fn limits_that_a_draft_does_not_set_come_from_the_settings() {
    let dir = dir();
    let mut settings = open(dir.path()).settings().clone();
    (settings.limits.output_cap, settings.limits.run_timeout_ms) = (1000, Some(100));
    settings.limits.resources.pids = Some(500);
    let session = Meanwhile::open(settings).unwrap().host("agent").unwrap();
    let deadline = SystemTime::now() + Duration::from_secs(3600);
    let draft = Shell::new("i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done; exec sleep 600");
    let draft =
        draft.max_memory(1 << 30).cpu_time(Duration::from_secs(50)).deadline(deadline).output_cap(2000);
    let task = session.start(draft).unwrap().wait(Until::Exit, LONG).unwrap().into_task();
    assert_eq!(task.status, Status::TimedOut, "the time limit of the settings");
    assert!(task.deadline.is_some() && task.dropped_bytes > 0, "{task:?}");
    let kept = task.output_bytes - task.dropped_bytes;
    assert!(kept > 1000 && kept <= 2000, "the output cap of the draft: {kept}");
    let limits = session.task(task.id.as_str()).unwrap().snapshot().unwrap().limits.unwrap();
    assert_eq!((limits.memory, limits.cpu_time_ms, limits.pids), (Some(1 << 30), Some(50_000), Some(500)));
}

#[test]
fn a_name_in_use_is_refused_or_returns_the_running_task() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let draft = Shell::new("exec sleep 600").name("server");
    let first = session.start(draft.clone()).unwrap();
    let refused = session.start(draft.clone()).unwrap_err();
    assert!(matches!(refused, Error::NameLive { .. }), "{refused}");
    let same = session.start(draft.if_running(IfRunning::Return)).unwrap();
    assert_eq!(same.id(), first.id());
    first.kill().unwrap();
}

#[test]
fn a_task_waits_for_its_predecessor_and_for_a_free_slot() {
    let dir = dir();
    let mut settings = open(dir.path()).settings().clone();
    settings.queue.max_running = 1;
    // Polling would take too long: each end must wake the waiter.
    settings.wait_fallback = Duration::from_millis(600_000);
    let session = Meanwhile::open(settings).unwrap().host("agent").unwrap();
    let first = session.start(Shell::new("read -r line").with_input()).unwrap();
    let full = session.start(Shell::new("true").at_capacity(AtCapacity::Reject)).unwrap_err();
    assert!(matches!(full, Error::AtCapacity { limit: 1 }), "{full}");
    let second = session.start(Shell::new("true").after(&first)).unwrap();
    let third = session.start(Shell::new("true").after(&second).priority(9)).unwrap();
    assert_eq!(second.snapshot().unwrap().status, Status::Pending);
    first.input("go\n").unwrap();
    let waited = session.wait_all([&first, &second, &third], Until::Exit, LONG).unwrap();
    assert!(waited.iter().all(|one| one.task().status == Status::Completed), "{waited:?}");
}

#[test]
fn a_terminal_has_the_requested_size_and_can_be_resized() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let script = "stty size; read -r line; stty size";
    let task = session.start(Shell::new(script).terminal(24, 100)).unwrap();
    assert!(task.wait(Until::Line("^24 100".to_owned()), LONG).unwrap().is_met());
    task.resize(30, 120).unwrap();
    task.input("\n").unwrap();
    assert!(task.wait(Until::Line("^30 120".to_owned()), LONG).unwrap().is_met());
}

#[test]
fn a_task_is_ready_when_the_condition_of_its_draft_is_met() {
    let dir = dir();
    let session = open(dir.path()).host("agent").unwrap();
    let draft = Shell::new("echo starting; echo listening; exec sleep 600").detached();
    let task = session.start(draft.ready_when(ReadyWhen::Line("^listening$".to_owned()))).unwrap();
    let waited = task.wait(Until::Ready, LONG).unwrap();
    assert!(waited.is_met() && waited.task().lifetime == Lifetime::Detached, "{waited:?}");
    task.kill().unwrap();
    let never = session.start(Shell::new("true").ready_when(ReadyWhen::AnyPort)).unwrap();
    let waited = never.wait(Until::Ready, LONG).unwrap();
    assert!(matches!(waited, meanwhile::Waited::Never(_)), "{waited:?}");
}

/// A person who gives the same answer to every question.
struct Person(Answer);

impl Asker for Person {
    fn ask(&self, proposal: &Proposal, _: &mut dyn FnMut() -> bool) -> AskOutcome {
        assert!(proposal.exact().contains("rm -rf build"), "{proposal:?}");
        AskOutcome::Answered { answer: self.0.clone(), by: "test" }
    }
}

#[test]
fn a_checked_start_follows_the_policy_and_the_answer() {
    let dir = dir();
    let session = open(&dir.path().join("state")).host("agent").unwrap();
    let mut policy = Policy::default();
    policy.timeouts.wait = Duration::ZERO;
    let risky = || Shell::new("rm -rf build").cwd(dir.path());
    let harmless = session.start_checked("true", &policy, &Nobody).unwrap();
    assert_eq!(harmless.snapshot().unwrap().approved_by, "auto");
    let unanswered = session.start_checked(risky(), &policy, &Nobody).unwrap_err();
    assert!(matches!(unanswered, Error::NeedsApproval { .. }), "{unanswered}");
    let open = session.home().open_approvals(policy.timeouts.keep).unwrap();
    let [request] = &open[..] else { panic!("{open:?}") };
    session.home().answer(&request.id, Answer::Approve(Remember::Once), "test").unwrap();
    assert!(session.home().open_approvals(policy.timeouts.keep).unwrap().is_empty());
    session.start_checked(risky(), &policy, &Nobody).unwrap();
    let yes = Person(Answer::Approve(Remember::Once));
    let task = session.start_checked(risky(), &policy, &yes).unwrap().snapshot().unwrap();
    assert!(task.approved_by == "user" && task.proposal.is_some(), "{task:?}");
    let no = Person(Answer::Deny("not now".to_owned()));
    let denied = session.start_checked(risky(), &policy, &no).unwrap_err();
    assert!(matches!(denied, Error::NoConsent { .. }), "{denied}");
    assert_eq!(session.tasks().unwrap().len(), 3);
    assert_eq!(session.start(risky()).unwrap().snapshot().unwrap().approved_by, "user");
}
