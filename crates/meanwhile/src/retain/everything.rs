//! Removes all tasks and then the home itself, before meanwhile is uninstalled.

use std::fs;
use std::io;
use std::path::PathBuf;

use mw_model::Status;
use mw_model::wire::{
    ARRIVALS_FILE, BACKENDS_DIR, BELLS_DIR, SESSIONS_DIR, SETTLING_FILE, TASKS_DIR, UNSETTLED_FILE,
    WAITING_FILE,
};

use super::clear::ClearReport;
use crate::disk::names::{
    AGENT_SESSIONS_DIR, ALARM_BELL_FILE, ALARM_FILE, CHATS_DIR, CHECK_DIR, CONFINEMENT_FILE, DATABASE_FILE,
    EXPORT_LOCK_FILE, HOOKS_LOCK_FILE, HOOKS_LOG_FILE, OLD_HOOKS_LOG_FILE, SERVE_KEY_FILE, SLOTS_DIR,
};
use crate::disk::session_dir::call_socket;
use crate::disk::store::TaskFilter;
use crate::error::{Error, Result};
use crate::live::kill::KillRequest;
use crate::read::Tasks;
use crate::retain::Retention;
use crate::task::Scope;

/// Files of a home. The names of all files of the database begin with [`DATABASE_FILE`].
const FILES: [&str; 12] = [
    ALARM_FILE,
    ALARM_BELL_FILE,
    ARRIVALS_FILE,
    WAITING_FILE,
    SETTLING_FILE,
    UNSETTLED_FILE,
    EXPORT_LOCK_FILE,
    HOOKS_LOCK_FILE,
    HOOKS_LOG_FILE,
    OLD_HOOKS_LOG_FILE,
    CONFINEMENT_FILE,
    SERVE_KEY_FILE,
];

/// Directories of a home, with everything in them. That of the tasks is not among them: it is empty afterwards, unless it
/// has something that is not a task.
const DIRECTORIES: [&str; 7] =
    [BACKENDS_DIR, SESSIONS_DIR, BELLS_DIR, CHECK_DIR, SLOTS_DIR, CHATS_DIR, AGENT_SESSIONS_DIR];

/// What was removed with a home, and what was not.
#[derive(Debug)]
pub struct EverythingReport {
    /// The tasks. If one was kept, nothing else was removed.
    pub tasks: ClearReport,
    /// What is left in the home; empty if the home is gone.
    pub left: Vec<PathBuf>,
}

impl Retention<'_> {
    /// Ends and removes all tasks of all sessions, and then every file that meanwhile has made in the home. Other files
    /// are left.
    ///
    /// # Errors
    /// When the database fails, or a task cannot be ended.
    pub fn clear_everything(&self, kill: &KillRequest) -> Result<EverythingReport> {
        let mut tasks = ClearReport::default();
        let all = TaskFilter { internal: true, limit: u32::MAX, ..TaskFilter::new(Scope::All) };
        loop {
            let found = Tasks::on(self.base).list(&all)?.tasks;
            // Queued tasks first: the end of a running one would start them.
            let any_queued = found.iter().any(|task| task.status == Status::Pending);
            let due = found.into_iter().filter(|task| !any_queued || task.status == Status::Pending);
            let ids: Vec<_> = due.map(|task| task.id).collect();
            if ids.is_empty() {
                break;
            }
            let cleared = self.clear(&ids, Some(kill))?;
            tasks.cleared.extend(cleared.cleared);
            if !cleared.kept.is_empty() {
                tasks.kept = cleared.kept;
                return Ok(EverythingReport { tasks, left: vec![self.base.home.root().to_owned()] });
            }
        }
        let left = self.remove_files().map_err(Error::io("cannot remove the files of the home"))?;
        Ok(EverythingReport { tasks, left })
    }

    /// Removes the files that meanwhile has made. Returns what is left.
    fn remove_files(&self) -> io::Result<Vec<PathBuf>> {
        let root = self.base.home.root();
        for entry in fs::read_dir(root)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_one_of = |names: &[&str]| names.iter().any(|known| name == *known);
            if is_one_of(&DIRECTORIES) && entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else if is_one_of(&FILES) || name.to_string_lossy().starts_with(DATABASE_FILE) {
                fs::remove_file(entry.path())?;
            }
        }
        let _ = fs::remove_dir_all(call_socket::directory(root));
        let tasks = root.join(TASKS_DIR);
        let _ = fs::remove_dir(&tasks);
        if fs::remove_dir(root).is_ok() {
            return Ok(Vec::new());
        }
        let mut left = Vec::new();
        for entry in fs::read_dir(root)?.chain(fs::read_dir(&tasks).into_iter().flatten()) {
            left.push(entry?.path());
        }
        Ok(left)
    }
}
