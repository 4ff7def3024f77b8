//! A host with many threads, each with a separate runtime on one home: the limit holds and no task is lost.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use meanwhile::engine::model::{CommandSpec, EnvVar, RawText, Status};
use meanwhile::engine::{Condition, KillRequest, Runtime, TaskRequest, WaitRequest};
use meanwhile::settings::Executables;
use meanwhile::{Scope, Settings, TaskFilter};

const LIMIT: u32 = 2;
const THREADS: usize = 6;
const EACH: usize = 4;

/// Takes one of as many places as there are slots, and fails if all are taken.
const SCRIPT: &str = "for place in 1 2; do if mkdir place-$place 2>/dev/null; then
    sleep 0.02; rmdir place-$place; exit 0; fi; done; exit 9";

fn runtime(home: &Path) -> Runtime {
    let here = std::env::current_exe().unwrap();
    let executable = |name: &str| -> PathBuf { here.parent().unwrap().parent().unwrap().join(name) };
    // Not the home of the environment.
    let user = format!("HOME={}", home.with_file_name("user").display());
    let (mw, own) = (executable("mw"), home.to_str().unwrap());
    let words = ["/usr/bin/env", "-i", &user, mw.to_str().unwrap(), "settle", "--home", own];
    let settle = words.map(RawText::from).to_vec();
    let programs = Executables { supervisor: executable("mw-supervisor"), settle, starter_exits: false };
    let mut settings = Settings::new(home.to_owned(), programs);
    settings.queue.max_running = LIMIT;
    // Polling would take too long: the end of each task must start the next.
    settings.wait_fallback = Duration::from_millis(60_000);
    Runtime::open(settings).unwrap()
}

fn request(cwd: &Path) -> TaskRequest {
    let command = CommandSpec::Shell { program: "/bin/sh".into(), script: SCRIPT.into() };
    let path = EnvVar { name: "PATH".into(), value: "/usr/local/bin:/usr/bin:/bin".into() };
    TaskRequest::new("s", command, cwd.to_owned(), vec![path])
}

#[test]
fn threads_share_the_slots_of_a_home() {
    let dir = tempfile::Builder::new().prefix("mw-threads-").tempdir().unwrap();
    let (home, work) = (dir.path().join("state"), dir.path().join("work"));
    fs::create_dir(&work).unwrap();
    let started: BTreeSet<_> = thread::scope(|scope| {
        let one = || {
            let runtime = runtime(&home);
            let request = request(&work);
            let tasks: Vec<_> =
                (0..EACH).map(|_| runtime.starts().start(&request).unwrap().task.id).collect();
            let wait = WaitRequest {
                tasks: tasks.clone(),
                any: false,
                condition: Condition::Exit,
                timeout: Some(Duration::from_secs(90)),
                poll_interval: None,
            };
            let reply = runtime.reader().wait(&wait).unwrap();
            assert_eq!(reply.tasks.len(), EACH);
            assert!(reply.tasks.iter().all(|task| task.status == Status::Completed), "{:?}", reply.tasks);
            tasks
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(one)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let filter = TaskFilter::new(Scope::All);
    let page = runtime(&home).tasks().list(&filter).unwrap();
    let listed: BTreeSet<_> = page.tasks.iter().map(|task| task.id.clone()).collect();
    assert_eq!((started.len(), page.tasks.len(), &listed), (THREADS * EACH, THREADS * EACH, &started));
    assert!(!dir.path().join("user").exists(), "the default home was used");
    let numbers: BTreeSet<_> = page.tasks.iter().map(|task| task.number).collect();
    assert_eq!(numbers, (1..=(THREADS * EACH) as u64).collect());
}

/// A list between two steps of a start must not mistake the incomplete task for something else.
#[test]
fn tasks_listed_while_they_are_being_created_are_not_lost() {
    const STARTS: usize = 60;
    let dir = tempfile::Builder::new().prefix("mw-threads-").tempdir().unwrap();
    let (home, work) = (dir.path().join("state"), dir.path().join("work"));
    fs::create_dir(&work).unwrap();
    let done = AtomicBool::new(false);
    let started: BTreeSet<_> = thread::scope(|scope| {
        scope.spawn(|| {
            let lister = runtime(&home);
            while !done.load(Ordering::Relaxed) {
                let _ = lister.tasks().list(&TaskFilter::new(Scope::All)).unwrap();
            }
        });
        let starter = runtime(&home);
        let request = request(&work);
        let start = |_| starter.starts().start(&request).map(|started| started.task.id);
        let started: Result<_, _> = (0..STARTS).map(start).collect();
        done.store(true, Ordering::Relaxed);
        started.unwrap()
    });
    let page =
        runtime(&home).tasks().list(&TaskFilter { limit: u32::MAX, ..TaskFilter::new(Scope::All) }).unwrap();
    let listed: BTreeSet<_> = page.tasks.iter().map(|task| task.id.clone()).collect();
    assert_eq!(listed, started);
    let runtime = runtime(&home);
    for id in &started {
        let _ = runtime.live().kill(id.as_str(), &Scope::All, &KillRequest::term("the test".to_owned()));
    }
}
