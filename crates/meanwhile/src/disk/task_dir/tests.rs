//! A file that cannot be inspected does not count as absent.

use std::fs;
use std::os::unix::fs::symlink;

use mw_model::wire::{JOURNAL_FILE, SPEC_FILE};
use mw_model::{TaskId, TaskKind};

use super::TaskDir;
use crate::error::Error;

/// Calls `check` for a task in which one file exists but cannot be opened: it is a link to itself, which even root
/// cannot follow.
fn with_unreadable(name: &str, check: impl FnOnce(&TaskDir<'_>)) {
    let (dir, id) = (tempfile::tempdir().unwrap(), TaskId::from_random(TaskKind::Shell, 7));
    let task = TaskDir::new(dir.path(), &id);
    fs::create_dir(&*task).unwrap();
    symlink(name, task.join(name)).unwrap();
    check(&task);
}

#[test]
fn missing_files_count_as_absent_and_a_missing_spec_as_damage() {
    let (dir, id) = (tempfile::tempdir().unwrap(), TaskId::from_random(TaskKind::Shell, 7));
    let task = TaskDir::new(dir.path(), &id);
    assert!(!task.is_supervised().unwrap() && !task.is_being_started().unwrap());
    assert!(!task.has_spec().unwrap() && !task.was_begun().unwrap());
    assert!(task.result(1).unwrap().is_none() && task.journal().unwrap().is_empty());
    assert!(task.delivered_run().unwrap().is_none() && task.delivered_news().unwrap().is_empty());
    assert!(task.try_hold_start().unwrap().is_none() && task.hold_adoption().unwrap().is_none());
    assert!(matches!(task.spec(), Err(Error::Damaged { .. })));
}

#[test]
fn files_that_cannot_be_inspected_are_errors() {
    with_unreadable(JOURNAL_FILE, |task| {
        assert!(task.is_supervised().is_err() && task.was_begun().is_err());
    });
    with_unreadable(SPEC_FILE, |task| {
        assert!(task.has_spec().is_err() && task.hold_adoption().is_err());
    });
}
