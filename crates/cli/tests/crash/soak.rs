//! Ten thousand tasks. Kept out of the normal run: `cargo test -p mw-cli --test crash -- --ignored`.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use mw_testkit::{Home, processes, wait_until};

use crate::home;

const TASKS: usize = 10_000;
const HOSTS: usize = 4;

#[test]
#[ignore = "a soak of minutes, run by hand"]
fn ten_thousand_tasks_end_and_leave_no_process() {
    let begun = Instant::now();
    let home = home();
    thread::scope(|scope| {
        for _ in 0..HOSTS {
            scope.spawn(|| {
                for _ in 0..TASKS / HOSTS {
                    let _ = home.start("exit 0");
                }
            });
        }
    });
    wait_until(Duration::from_secs(600), "all tasks have completed", || {
        let answer = home.mw(["list", "--json", "--status", "completed", "--limit", "1"]).json();
        (answer["total"] == TASKS).then_some(())
    });
    home.wait_until_empty(Duration::from_secs(60));
    let answer = home.mw(["list", "--json"]).exits(0).json();
    assert_eq!(answer["total"], TASKS);
    assert_eq!(
        fs::read_to_string(home.state().join("arrivals")).unwrap(),
        "",
        "all tasks are in the database"
    );
    assert_eq!(held_slots(&home), Vec::<PathBuf>::new());
    assert_eq!(open_files(&home), Vec::<(u32, PathBuf)>::new());
    println!("{} tasks in {:.0} s", TASKS, begun.elapsed().as_secs_f64());
}

/// Returns slots that were not freed.
fn held_slots(home: &Home) -> Vec<PathBuf> {
    let sessions =
        fs::read_dir(home.state().join("sessions")).unwrap().map(|session| session.unwrap().path());
    let files = sessions.flat_map(|session| fs::read_dir(session).unwrap()).map(|file| file.unwrap().path());
    let slots: Vec<_> = files.filter(|file| file.to_string_lossy().contains("slot-")).collect();
    assert!(!slots.is_empty(), "no slot was ever used");
    slots.into_iter().filter(|slot| fs::read(slot).unwrap() != b"-").collect()
}

/// Returns processes whose directory is in the home or that hold a file of it open.
fn open_files(home: &Home) -> Vec<(u32, PathBuf)> {
    let mut found = Vec::new();
    for pid in processes::all() {
        let held = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let paths = held.filter_map(|fd| fs::read_link(fd.path()).ok()).chain(processes::cwd(pid));
        found.extend(paths.filter(|path| path.starts_with(home.state())).map(|path| (pid, path)));
    }
    found
}
