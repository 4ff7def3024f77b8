//! Inspects a home without changing it.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mw_model::wire::{JOURNAL_FILE, RESULT_FILE};
use mw_model::{TaskId, Timestamp};

use super::check_copy::check_copy;
use super::damage::set_aside_in;
use crate::disk::alarm::{self, AlarmState};
use crate::disk::home::Home;
use crate::disk::names::DATABASE_FILE;
use crate::disk::optional_file;
use crate::error::{Error, Result};

/// How often a database that is being written to is copied again before it is reported as damaged.
pub(super) const TRIES: u32 = 3;

/// The state of a home.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// The database's schema; `None` if there is no database.
    pub schema: Option<u32>,
    /// The schema of this build.
    pub known_schema: u32,
    /// Problems of the database.
    pub problems: Vec<String>,
    /// Tasks in the database.
    pub tasks: u64,
    /// Tasks whose end no supervisor recorded.
    pub lost: u64,
    /// Names of the databases in the home that were damaged and set aside.
    pub set_aside: Vec<String>,
    /// Tasks that run, or ran when their supervisors were killed, and have no supervisor now.
    pub untended: Vec<String>,
    /// Number of tasks that have a directory but are not in the database or about to be added.
    pub unindexed: u64,
    /// The earliest time before which a queued task does not start.
    pub due: Option<Timestamp>,
    /// Whether a process sleeps until then.
    pub alarm: AlarmState,
}

/// Inspects a home. The database is copied to `scratch` first, because SQLite writes files next to the database it
/// reads.
///
/// # Errors
/// When the home cannot be read, or `scratch` cannot be written.
pub fn inspect(home: &Path, scratch: &Path) -> Result<Inspection> {
    let home = Home::unchecked(home);
    let (untended, set_aside) = (untended(&home)?, set_aside_in(home.root()));
    let copy = scratch.join(DATABASE_FILE);
    let mut report = None;
    for _ in 0..TRIES {
        if !copy_database(&home.database(), &copy).map_err(Error::io("cannot copy the database"))? {
            return Ok(Inspection { untended, set_aside, ..Inspection::default() });
        }
        let looked = check_copy(&copy);
        let sound = looked.as_ref().is_ok_and(|looked| looked.problems.is_empty());
        report = Some(looked);
        if sound {
            break;
        }
    }
    let found = match report {
        Some(Ok(found)) => {
            let unindexed = directories(&home)?.saturating_sub(found.tasks);
            Inspection { unindexed, ..found }
        }
        Some(Err(error)) => {
            Inspection { schema: Some(0), problems: vec![error.to_string()], ..Inspection::default() }
        }
        None => Inspection::default(),
    };
    // After the copy: a process that commits a time sets the alarm then.
    Ok(Inspection { untended, set_aside, alarm: alarm::state(&home), ..found })
}

/// Counts the tasks that the database should contain.
fn directories(home: &Home) -> Result<u64> {
    let arriving: HashSet<_> = home.arrivals().ids()?.into_iter().collect();
    let mut count = 0;
    for id in home.task_ids()? {
        if !arriving.contains(&id) && home.task(&id).has_spec()? {
            count += 1;
        }
    }
    Ok(count)
}

/// Copies the database and its log. Returns false if there is no database.
pub(super) fn copy_database(from: &Path, to: &Path) -> io::Result<bool> {
    let beside = |path: &Path, end: &str| PathBuf::from(format!("{}{end}", path.display()));
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(beside(to, end));
    }
    let copy = |end: &str| optional_file::present(fs::copy(beside(from, end), beside(to, end)));
    let is_there = copy("")?.is_some();
    if is_there {
        copy("-wal")?;
    }
    Ok(is_there)
}

fn untended(home: &Home) -> Result<Vec<String>> {
    let is_untended = |id: &TaskId| {
        let has = |name: &str| optional_file::has_text(&home.task(id).join(name));
        // In this order: a supervisor that exits in between has written its record.
        Ok::<_, Error>(
            has(JOURNAL_FILE)?
                && !home.task(id).is_supervised()?
                && !home.task(id).is_being_started()?
                && !has(RESULT_FILE)?,
        )
    };
    let mut found = Vec::new();
    for id in home.task_ids()? {
        if is_untended(&id)? {
            found.push(id.to_string());
        }
    }
    found.sort();
    Ok(found)
}
