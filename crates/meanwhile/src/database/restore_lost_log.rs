//! Repairs a database that has lost changes with its write-ahead log, because the log was removed or the machine
//! stopped before it reached the disk. The task directories still have these changes.
//!
//! This program never removes the log and never leaves it empty: a process that truncates it writes a mark next (see
//! `Store::tidy`). So the state of the log before it is opened shows whether changes may be missing: it is absent, or
//! empty, or was last written before the machine was booted. A process that sees this compares the database with the
//! directories before it does anything else with it, and writes the mark last. If it is killed before that, the next
//! process sees the same state.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::time::{Duration, SystemTime};

use mw_model::{TaskId, Timestamp};

use super::stores::Database;
use crate::disk::platform;
use crate::disk::store::{Outline, Store, Transaction};
use crate::error::{Error, Result};

/// How likely it is that changes are missing from the database.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogLoss {
    /// There is no sign of it.
    None,
    /// The last changes may be missing: the machine was booted after they were written.
    Tail,
    /// All changes since the last checkpoint are missing, if there were any.
    Log,
}

impl Database {
    /// Inspects the write-ahead log. Call this before the database is opened, because that creates an absent log.
    pub(crate) fn doubt(&self) -> LogLoss {
        match fs::metadata(self.home.database().with_extension("db-wal")) {
            Ok(found) if found.len() == 0 => LogLoss::Log,
            Ok(found) => {
                let up = Duration::from_micros(platform::uptime_us().unsigned_abs());
                let booted = SystemTime::now().checked_sub(up);
                let is_older = booted.zip(found.modified().ok()).is_some_and(|(boot, log)| log < boot);
                if is_older { LogLoss::Tail } else { LogLoss::None }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => LogLoss::Log,
            Err(_) => LogLoss::None,
        }
    }

    /// Brings a database whose log may be lost up to date with the directories. Tasks that it does not have, or has
    /// from an earlier run, are put on the list of arrivals. Ends that were already delivered are not delivered again.
    pub(crate) fn mend(&self, store: &Store, doubt: LogLoss) -> Result<()> {
        let transaction = store.begin()?;
        self.renumber_events(&transaction)?;
        let known: HashMap<TaskId, Outline> = transaction.outlines()?.into_iter().collect();
        let on_disk: HashSet<TaskId> = self.home.task_ids()?.into_iter().collect();
        let mut arriving = Vec::new();
        for id in &on_disk {
            match known.get(id) {
                Some(row) if self.home.task(id).last_archived()? < row.run => {
                    if row.is_open {
                        self.restore_deliveries(&transaction, id)?;
                    }
                }
                found => arriving.push((self.created_at(id), id, found.is_some())),
            }
        }
        arriving.sort();
        let is_behind = arriving.iter().filter(|(_, _, is_known)| *is_known);
        let mut going: Vec<_> = is_behind.map(|(_, id, _)| (*id).clone()).collect();
        if doubt == LogLoss::Log {
            for id in known.keys().filter(|id| !on_disk.contains(id)) {
                if !self.runs_without_directory(&transaction, id)? {
                    going.push(id.clone());
                }
            }
        }
        transaction.delete_all(&going)?;
        for (_, id, _) in arriving {
            self.note_arrival(id)?;
        }
        transaction.mark_log()?;
        Ok(transaction.commit()?)
    }

    /// Returns when a task was created; tasks that cannot be read come last.
    fn created_at(&self, id: &TaskId) -> (Timestamp, u64) {
        let unread = (Timestamp::from_micros(i64::MAX), u64::MAX);
        self.home.task(id).spec().map_or(unread, |spec| (spec.created_at, spec.number))
    }

    /// Records which notifications were delivered, according to the marks in a task's directory.
    fn restore_deliveries(&self, transaction: &Transaction<'_>, id: &TaskId) -> Result<()> {
        let Some(task) = transaction.task(id)? else { return Ok(()) };
        if let Some(run) = self.home.task(id).delivered_run()? {
            transaction.close_ends(id, run)?;
            if run == task.state.run() {
                transaction.mark_known(&task, task.created_at)?;
            }
        }
        for news in self.home.task(id).delivered_news()? {
            transaction.close_notice(id, &news)?;
            transaction.mark_notice_known(&task, &news, task.created_at)?;
        }
        Ok(())
    }

    /// Returns whether a process of a task without a directory is running. Such a task is not removed from the
    /// database.
    fn runs_without_directory(&self, transaction: &Transaction<'_>, id: &TaskId) -> Result<bool> {
        let Some(task) = transaction.task(id)? else { return Ok(false) };
        let Some(process) = task.state.process() else { return Ok(false) };
        platform::runs(process).map_err(Error::io(format!("cannot look at process {}", process.pid)))
    }
}
