//! The public API as an embedding program uses it.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use meanwhile::engine::{Condition, Runtime, WaitRequest};
use meanwhile::model::{Place, RawText, Status};
use meanwhile::{Error, Meanwhile, Program, Scope, Settings, Shell, TaskFilter, Until};

use crate::killed_host::built;

pub const LONG: Duration = Duration::from_secs(90);

/// Opens a home. `mw settle` does not see the settings of the user who runs the test.
pub fn open(home: &Path) -> Meanwhile {
    let mut settings = Settings::at(home).unwrap();
    let user = format!("HOME={}", home.with_file_name("user").display());
    settings.executables.settle.splice(0..0, ["/usr/bin/env", "-i", &user].map(RawText::from));
    Meanwhile::open(settings).unwrap()
}

pub fn dir() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("mw-handle-").tempdir().unwrap()
}

#[test]
fn threads_can_share_a_session() {
    fn is_shareable<T: Clone + Send + Sync>() {}
    is_shareable::<Meanwhile>();
    is_shareable::<meanwhile::Session>();
    let dir = dir();
    let session = open(&dir.path().join("state")).host("agent").unwrap();
    let ids: Vec<_> = thread::scope(|scope| {
        let start = || {
            let task = session.start(Shell::new("exit 3")).unwrap();
            let waited = task.wait(Until::Exit, LONG).unwrap();
            assert!(waited.is_met() && waited.task().exit_code == Some(3), "{waited:?}");
            waited.into_task().id
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(start)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut listed: Vec<_> = session.tasks().unwrap().into_iter().map(|task| task.id).collect();
    let mut ids = ids;
    ids.sort_by_key(ToString::to_string);
    listed.sort_by_key(ToString::to_string);
    assert_eq!(ids, listed);
}

#[test]
fn an_intact_database_is_not_set_aside() {
    let dir = dir();
    let home = dir.path().join("state");
    let session = open(&home).host("agent").unwrap();
    let task = session.start(Shell::new("true")).unwrap();
    task.wait(Until::Exit, LONG).unwrap();
    let names = || {
        let entries = std::fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> =
            entries.filter(|name| name.to_string_lossy().contains("meanwhile.db")).collect();
        names.sort();
        names
    };
    let before = names();
    let is_replaced = open(&home).with(|runtime| {
        runtime.tasks().last_event()?;
        Ok(runtime.set_aside_if_damaged())
    });
    assert!(!is_replaced.unwrap());
    assert_eq!(names(), before);
    assert_eq!(session.tasks().unwrap().len(), 1);
}

#[test]
fn a_home_that_was_removed_is_created_again_by_the_next_call() {
    let dir = dir();
    let home = dir.path().join("state");
    let mw = open(&home);
    let last_event = || mw.with(|runtime| runtime.tasks().last_event());
    last_event().unwrap();
    std::fs::remove_dir_all(&home).unwrap();
    last_event().unwrap();
}

#[test]
fn a_connection_that_has_failed_is_not_used_again() {
    let dir = dir();
    let mw = open(&dir.path().join("state"));
    let identity = |runtime: &Runtime| std::ptr::from_ref(runtime.settings()) as usize;
    // Two connections are idle afterwards. The outer one is used next.
    let [outer, inner] =
        mw.with(|outer| Ok([identity(outer), mw.with(|inner| Ok(identity(inner)))?])).unwrap();
    let failure = Error::Io { what: "test".to_owned(), source: std::io::Error::other("failed") };
    let used = mw.with(|runtime| {
        runtime.note_failure(&failure);
        Ok(identity(runtime))
    });
    assert_eq!(used.unwrap(), outer);
    assert_eq!(mw.with(|runtime| Ok(identity(runtime))).unwrap(), inner);
}

#[test]
fn a_draft_cannot_set_reserved_variables() {
    let dir = dir();
    let session = open(&dir.path().join("state")).host("agent").unwrap();
    for name in ["MEANWHILE_TASK_ID", "MEANWHILE_TASK_SESSION", "MEANWHILE_PROGRESS_FD"] {
        let refused = session.start(Shell::new("true").env(name, "x")).map(|task| task.id().to_string());
        let is_invalid =
            matches!(&refused, Err(Error::Invalid(invalid)) if invalid.to_string().contains(name));
        assert!(is_invalid, "{refused:?}");
    }
    assert!(session.tasks().unwrap().is_empty());
}

/// The process keeps running after it drops the handles.
#[test]
fn tasks_of_a_session_end_when_its_last_handle_is_dropped() {
    let dir = dir();
    let mut settings = open(dir.path()).settings().clone();
    settings.session_grace = Duration::from_millis(100);
    let mw = Meanwhile::open(settings).unwrap();
    let session = mw.host("guarded").unwrap();
    let task = session.start(Shell::new("exec sleep 600")).unwrap();
    let request = WaitRequest {
        tasks: vec![task.id().clone()],
        any: false,
        condition: Condition::Exit,
        timeout: Some(LONG),
        poll_interval: None,
    };
    // A task's handle keeps its session open, too.
    drop((task, session));
    let reply = mw.with(|runtime| runtime.reader().wait(&request)).unwrap();
    assert_eq!(reply.tasks[0].status, Status::Cancelled, "{:?}", reply.tasks);
}

#[test]
fn a_session_with_an_invalid_name_is_refused() {
    let dir = dir();
    let mw = open(dir.path());
    for name in ["", "a\nb", "default", "x".repeat(201).as_str()] {
        let refused = mw.host(name).err().unwrap();
        assert_eq!(refused.code(), meanwhile::error::ErrorCode::Invalid, "{refused}");
    }
    assert_eq!(
        std::fs::read_dir(dir.path().join("sessions")).unwrap().count(),
        0,
        "a refused session leaves no directory"
    );
}

/// The list of a session has no page limit.
#[test]
fn all_tasks_of_a_session_are_listed() {
    const MANY: usize = 60;
    let dir = dir();
    let mw = open(dir.path());
    let session = mw.host("many").unwrap();
    for _ in 0..MANY {
        session.start(Shell::new("true")).unwrap();
    }
    assert_eq!(session.tasks().unwrap().len(), MANY);
    let page =
        mw.tasks(&TaskFilter { limit: 7, ..TaskFilter::new(Scope::Session("many".to_owned())) }).unwrap();
    assert_eq!((page.tasks.len(), page.total), (7, MANY as u64));
}

#[test]
fn a_notification_is_delivered_until_it_is_acknowledged() {
    let dir = dir();
    let session = open(&dir.path().join("state")).host("agent").unwrap();
    let first = session.start(Shell::new("echo one").name("first")).unwrap();
    first.wait(Until::Exit, LONG).unwrap();
    let second = session.start(Program::new("sh").arg("-c").arg("exit 1")).unwrap();
    second.wait(Until::Exit, LONG).unwrap();
    // The first notification is seen and not acknowledged. The second is not seen.
    let mut notices = session.notices().unwrap();
    assert_eq!(notices.len(), 2);
    assert_eq!(&notices.next().unwrap().notice().task, first.id());
    assert_eq!(session.notices().unwrap().len(), 1, "the other one is held");
    drop(notices);
    let summaries: Vec<_> = session
        .notices()
        .unwrap()
        .map(|notice| {
            let summary = notice.summary();
            notice.acknowledge().unwrap();
            summary
        })
        .collect();
    assert!(
        summaries.len() == 2 && summaries[0].contains("exited 0") && summaries[1].contains("exited 1"),
        "{summaries:?}"
    );
    assert_eq!(session.notices().unwrap().count(), 0);
}

#[test]
fn a_task_can_be_found_by_name_read_written_to_and_killed() {
    let dir = dir();
    let session = open(&dir.path().join("state")).host("agent").unwrap();
    let draft = Shell::new("echo \"$WORD in $(pwd)\"; read -r line; echo \"got $line\"; sleep 300");
    let work = dir.path().canonicalize().unwrap();
    let task = session.start(draft.name("talker").env("WORD", "hello").cwd(&work).with_input()).unwrap();
    task.input("there\n").unwrap();
    assert!(task.wait(Until::Line("^got there$".to_owned()), LONG).unwrap().is_met());
    assert_eq!(task.tail(1000).unwrap(), format!("hello in {}\ngot there\n", work.display()));
    let again = session.task("talker").unwrap();
    assert_eq!(again.id(), task.id());
    again.kill().unwrap();
    assert_eq!(task.snapshot().unwrap().status, Status::Cancelled);
    assert_eq!(session.notices().unwrap().count(), 0, "the owner killed the task and knows of its end");
}

#[test]
fn a_mock_task_ends_as_its_input_says_without_running_a_command() {
    let dir = dir();
    let session = open(&dir.path().join("state")).host("agent").unwrap();
    let draft = || Shell::new("deploy to production");
    // The order of the options does not matter: a mock never has a terminal.
    for draft in [draft().on(Place::Mock).terminal(24, 80), draft().terminal(24, 80).on(Place::Mock)] {
        let task = session.start(draft).unwrap();
        task.input("deployed\nexit 4\n").unwrap();
        let task = task.wait(Until::Exit, LONG).unwrap().into_task();
        assert_eq!((task.exit_code, task.status), (Some(4), Status::Failed));
    }
}

#[test]
fn the_waiter_example_runs_with_default_settings() {
    let dir = dir();
    let waiter = |words: &[&str]| {
        Command::new(built("examples/waiter"))
            .args(words)
            .env_clear()
            .envs([("PATH", "/usr/bin:/bin"), ("HOME", dir.path().to_str().unwrap())])
            .output()
            .unwrap()
    };
    let refused = waiter(&[]);
    assert!(!refused.status.success() && dir.path().read_dir().unwrap().next().is_none(), "{refused:?}");
    let run = waiter(&["agent", "echo done; exit 5"]);
    let printed = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && printed.contains("exited 5"), "{run:?}");
    assert!(dir.path().join(".local/state/meanwhile/meanwhile.db").exists());
}
