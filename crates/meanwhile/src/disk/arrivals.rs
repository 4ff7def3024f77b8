//! Tasks that have a directory but are not in the database yet, one id per line.
//!
//! A start that is not queued adds a line here instead of opening the database. The next process that opens the
//! database imports the lines. Starters hold a shared lock while they add a line and create the task's directory. A
//! process with the exclusive lock therefore finds a directory for every line, or knows that there will be none.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::Duration;

use mw_model::TaskId;

use super::file_lock::{is_taken, within};
use super::optional_file;
use crate::error::{Error, Result};

/// How long to wait for starters to release the list before the imported lines are left to the next process.
const TIMEOUT: Duration = Duration::from_millis(20);
const PAUSE: Duration = Duration::from_micros(100);

/// The list.
pub(crate) struct Arrivals {
    path: PathBuf,
}

impl Arrivals {
    pub(crate) const fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Adds a task and calls `make` under the same lock, so that no other process sees one without the other.
    pub(crate) fn announce<T>(&self, id: &TaskId, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
        file.lock_shared()?;
        // The leading newline separates the id from a line that a full disk cut short.
        file.write_all(format!("\n{id}\n").as_bytes())?;
        make()
    }

    /// Returns whether there are any lines.
    pub(crate) fn any(&self) -> Result<bool> {
        optional_file::has_text(&self.path)
    }

    /// Returns whether the list exists. It is created once and never removed by us.
    pub(crate) fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Creates an empty list if there is none.
    pub(crate) fn make(&self) -> io::Result<()> {
        OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path).map(drop)
    }

    /// Returns all ids, in order.
    pub(crate) fn ids(&self) -> Result<Vec<TaskId>> {
        let read = File::open(&self.path).and_then(|mut file| read(&mut file));
        read.map_err(Error::io(format!("cannot read {}", self.path.display())))
    }

    /// Passes all ids to `take`, in order, and removes those that it returns. The other ids stay for the next time,
    /// unless `gone` says that nothing is left of them.
    ///
    /// Starters wait only for the removal. If this process is killed before it, or a stopped starter blocks it, the
    /// same ids are passed again. Two processes may import the same ids at once, which changes nothing.
    pub(crate) fn take_in(
        &self,
        take: impl FnOnce(Vec<TaskId>) -> Result<HashSet<TaskId>>,
        gone: impl Fn(&TaskId) -> bool,
    ) -> Result<()> {
        let failed = |error| Error::io(format!("cannot read {}", self.path.display()))(error);
        let opened = OpenOptions::new().read(true).write(true).open(&self.path);
        let Some(mut file) = optional_file::present(opened).map_err(failed)? else { return Ok(()) };
        let done = take(read(&mut file).map_err(failed)?)?;
        if !within(TIMEOUT, PAUSE, || is_taken(file.try_lock())).map_err(failed)? {
            return Ok(());
        }
        let left = read(&mut file).map_err(failed)?.into_iter().filter(|id| !done.contains(id) && !gone(id));
        let left: String = left.map(|id| format!("{id}\n")).collect();
        // The remaining ids first: if this process is killed before the file is cut, the rest is imported already.
        let rewritten = file
            .rewind()
            .and_then(|()| file.write_all(left.as_bytes()))
            .and_then(|()| file.set_len(left.len() as u64));
        rewritten.map_err(failed)
    }
}

/// Reads the ids, each once. An incomplete line does not count.
fn read(file: &mut File) -> io::Result<Vec<TaskId>> {
    let mut text = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut text)?;
    let mut seen = HashSet::new();
    let text = String::from_utf8_lossy(&text);
    let ids = text.lines().filter_map(|line| line.parse::<TaskId>().ok());
    Ok(ids.filter(|id| seen.insert(id.clone())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mw_model::TaskKind;

    fn ids(count: u64) -> Vec<TaskId> {
        (0..count).map(|number| TaskId::from_random(TaskKind::Shell, number)).collect()
    }

    /// Imports all ids except some, and returns the ids that were passed to the import.
    fn import_except(arrivals: &Arrivals, keep: &[TaskId]) -> Vec<TaskId> {
        let mut passed = Vec::new();
        let take = |ids: Vec<TaskId>| {
            passed.clone_from(&ids);
            Ok(ids.into_iter().filter(|id| !keep.contains(id)).collect())
        };
        arrivals.take_in(take, |_| false).unwrap();
        passed
    }

    #[test]
    fn ids_are_passed_in_order_and_only_unimported_ids_are_passed_again() {
        let dir = tempfile::tempdir().unwrap();
        let arrivals = Arrivals::at(dir.path().join("arrivals"));
        assert!(!arrivals.any().unwrap());
        let ids = ids(3);
        for id in &ids {
            arrivals.announce(id, || Ok(())).unwrap();
        }
        assert!(arrivals.any().unwrap());
        assert_eq!(import_except(&arrivals, &ids[1..2]), ids);
        assert_eq!(import_except(&arrivals, &[]), ids[1..2]);
        assert!(!arrivals.any().unwrap());
    }

    #[test]
    fn a_failed_import_removes_no_ids() {
        let dir = tempfile::tempdir().unwrap();
        let arrivals = Arrivals::at(dir.path().join("arrivals"));
        let ids = ids(1);
        arrivals.announce(&ids[0], || Ok(())).unwrap();
        arrivals.take_in(|_| Err(Error::Unanswered), |_| false).unwrap_err();
        assert_eq!(import_except(&arrivals, &[]), ids);
    }

    #[test]
    fn ids_added_during_an_import_stay_and_ids_of_missing_tasks_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let arrivals = Arrivals::at(dir.path().join("arrivals"));
        let ids = ids(3);
        arrivals.announce(&ids[0], || Ok(())).unwrap();
        arrivals.announce(&ids[1], || Ok(())).unwrap();
        let take = |_| {
            arrivals.announce(&ids[2], || Ok(())).unwrap();
            Ok(HashSet::from([ids[0].clone()]))
        };
        arrivals.take_in(take, |id| *id == ids[1]).unwrap();
        assert_eq!(import_except(&arrivals, &[]), ids[2..]);
    }

    #[test]
    fn invalid_and_incomplete_lines_are_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("arrivals");
        let ids = ids(1);
        std::fs::write(&path, format!("\u{0}garbage\n{}\nshe", ids[0])).unwrap();
        let arrivals = Arrivals::at(path);
        assert_eq!(import_except(&arrivals, &[]), ids);
        assert!(!arrivals.any().unwrap());
    }
}
