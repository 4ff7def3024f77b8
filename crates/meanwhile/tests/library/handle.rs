//! The public face: what an embedding program writes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use meanwhile::model::{Place, RawText, Status};
use meanwhile::{Meanwhile, Program, Programs, Settings, Shell, Until};

const LONG: Duration = Duration::from_secs(90);

fn built(name: &str) -> PathBuf {
    let here = std::env::current_exe().unwrap();
    here.parent().unwrap().parent().unwrap().join(name)
}

fn open(home: &Path) -> Meanwhile {
    let (mw, own) = (built("mw"), home.to_str().unwrap());
    let user = format!("HOME={}", home.with_file_name("user").display());
    let words = ["/usr/bin/env", "-i", &user, mw.to_str().unwrap(), "settle", "--home", own];
    let programs = Programs {
        supervisor: built("mw-supervisor"),
        settle: words.map(RawText::from).to_vec(),
        starter_exits: false,
    };
    Meanwhile::open(Settings::new(home.to_owned(), programs)).unwrap()
}

fn dir() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("mw-handle-").tempdir().unwrap()
}

#[test]
fn a_home_is_shared_by_threads() {
    fn is_shareable<T: Clone + Send + Sync>() {}
    is_shareable::<Meanwhile>();
    is_shareable::<meanwhile::Session>();
    let dir = dir();
    let session = open(&dir.path().join("state")).host("agent").unwrap();
    let ids: Vec<_> = thread::scope(|scope| {
        let start = || {
            let task = session.start(Shell::new("exit 3")).unwrap();
            let (task, is_over) = task.wait(Until::Exit, LONG).unwrap();
            assert!(is_over && task.exit_code == Some(3), "{task:?}");
            task.id
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
fn a_notice_is_told_until_it_is_acknowledged_and_never_after() {
    let dir = dir();
    let session = open(&dir.path().join("state")).host("agent").unwrap();
    let first = session.start(Shell::new("echo one").name("first")).unwrap();
    first.wait(Until::Exit, LONG).unwrap();
    let second = session.start(Program::new("sh").arg("-c").arg("exit 1").draft()).unwrap();
    second.wait(Until::Exit, LONG).unwrap();
    // Looked at and not acknowledged; the second one not even looked at.
    let seen = session.notices().unwrap().next().unwrap().notice().task.clone();
    assert_eq!(&seen, first.id());
    let told: Vec<_> = session
        .notices()
        .unwrap()
        .map(|notice| {
            let summary = notice.summary();
            notice.acknowledge().unwrap();
            summary
        })
        .collect();
    assert!(told.len() == 2 && told[0].contains("exited 0") && told[1].contains("exited 1"), "{told:?}");
    assert_eq!(session.notices().unwrap().count(), 0);
}

#[test]
fn a_task_is_found_read_typed_into_and_ended() {
    let dir = dir();
    let session = open(&dir.path().join("state")).host("agent").unwrap();
    let draft = Shell::new("echo \"$WORD in $(pwd)\"; read -r line; echo \"got $line\"; sleep 300");
    let work = dir.path().canonicalize().unwrap();
    let task = session.start(draft.name("talker").env("WORD", "hello").cwd(&work).with_input()).unwrap();
    task.input("there\n").unwrap();
    let (_, has_come) = task.wait(Until::Line("^got there$".to_owned()), LONG).unwrap();
    assert!(has_come);
    assert_eq!(task.tail(1000).unwrap(), format!("hello in {}\ngot there\n", work.display()));
    let again = session.task("talker").unwrap();
    assert_eq!(again.id(), task.id());
    again.kill().unwrap();
    assert_eq!(task.look().unwrap().status, Status::Cancelled);
    assert_eq!(session.notices().unwrap().count(), 0, "whoever ends it knows");
}

#[test]
fn a_mock_task_lets_a_host_be_tested_without_a_command() {
    let dir = dir();
    let session = open(&dir.path().join("state")).host("agent").unwrap();
    let task = session.start(Shell::new("deploy to production").on(Place::Mock)).unwrap();
    task.input("deployed\nexit 4\n").unwrap();
    let (task, _) = task.wait(Until::Exit, LONG).unwrap();
    assert_eq!((task.exit_code, task.status), (Some(4), Status::Failed));
}

#[test]
fn the_example_runs_on_defaults() {
    let dir = dir();
    let waiter = built("examples/waiter");
    assert!(waiter.exists(), "build the whole workspace with its examples");
    let path = format!("{}:/usr/bin:/bin", built("mw").parent().unwrap().display());
    let run = Command::new(waiter)
        .args(["agent", "echo done; exit 5"])
        .env_clear()
        .envs([("PATH", path.as_str()), ("HOME", dir.path().to_str().unwrap())])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("exited 5"), "{run:?}");
    assert!(dir.path().join(".local/state/meanwhile/meanwhile.db").exists());
}
