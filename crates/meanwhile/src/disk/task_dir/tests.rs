//! A file that cannot be inspected does not count as absent.

use std::os::unix::fs::symlink;

use mw_model::TaskKind;

use mw_model::TaskId;
use mw_model::wire::{JOURNAL_FILE, SPEC_FILE};

use crate::disk::home::Home;
use crate::error::Error;

/// Returns a home with a task in which one file exists but cannot be opened: it is a link to itself, which even root
/// cannot follow.
fn task_with(unreadable: &str) -> (tempfile::TempDir, Home, TaskId) {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::open(&dir.path().join("state")).unwrap();
    let id = TaskId::from_random(TaskKind::Shell, 7);
    drop(home.make_task(&id).unwrap());
    symlink(unreadable, home.task(&id).join(unreadable)).unwrap();
    (dir, home, id)
}

#[test]
fn missing_files_count_as_absent_and_a_missing_spec_as_damage() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::open(&dir.path().join("state")).unwrap();
    let id = TaskId::from_random(TaskKind::Shell, 7);
    assert!(!home.task(&id).is_supervised().unwrap() && !home.task(&id).is_being_started().unwrap());
    assert!(!home.task(&id).has_spec().unwrap() && !home.task(&id).was_begun().unwrap());
    assert!(home.task(&id).result(1).unwrap().is_none() && home.task(&id).journal().unwrap().is_empty());
    assert!(
        home.task(&id).delivered_run().unwrap().is_none()
            && home.task(&id).delivered_news().unwrap().is_empty()
    );
    assert!(
        home.task(&id).try_hold_start().unwrap().is_none()
            && home.task(&id).hold_adoption().unwrap().is_none()
    );
    assert!(matches!(home.task(&id).spec(), Err(Error::Damaged { .. })));
}

#[test]
fn files_that_cannot_be_inspected_are_errors() {
    let (_dir, home, id) = task_with(JOURNAL_FILE);
    assert!(home.task(&id).is_supervised().is_err() && home.task(&id).was_begun().is_err());
    let (_dir, home, id) = task_with(SPEC_FILE);
    assert!(home.task(&id).has_spec().is_err() && home.task(&id).hold_adoption().is_err());
}
