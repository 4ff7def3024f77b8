//! The home directory: its layout, permissions and checks.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use mw_model::wire::{ARRIVALS_FILE, BELLS_DIR, SESSIONS_DIR, TASKS_DIR, WAITING_FILE};
use mw_model::{TaskId, TaskSpec};

use super::arrivals::Arrivals;
use super::file_lock::open_private;
use super::optional_file::{cannot_inspect, look};
use super::session_dir::dir::SessionDir;
use super::session_dir::holder_loss;
use super::task_dir::{StartHold, TaskDir};
use crate::disk::names::{DATABASE_FILE, SLOTS_DIR};
use crate::error::{Error, HomeProblem, Result};
use crate::task::Task;

/// Returns whether a directory is the cover that a confined process sees instead of the home. It has no permissions.
fn is_covered(found: &fs::Metadata) -> bool {
    found.is_dir() && found.mode() & 0o777 == 0
}

/// A checked home directory.
#[derive(Clone, Debug)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// Opens a home, and creates it if it does not exist. Refuses one that belongs to another user.
    ///
    /// # Errors
    /// When the directory cannot be created, read or written, or belongs to another user.
    pub fn open(root: &Path) -> Result<Self> {
        let root = std::path::absolute(root).map_err(|_| Error::Home(HomeProblem::Unset))?;
        // Without a trailing slash, which would follow a link.
        let home = Self { root: root.components().collect() };
        match fs::symlink_metadata(&home.root) {
            Ok(found) if is_covered(&found) => return Err(Error::Home(HomeProblem::Hidden(home.root))),
            Ok(found) => home.check(&found)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => home.make()?,
            Err(error) => return Err(home.unusable(&error.to_string())),
        }
        Ok(home)
    }

    /// Names a home without checking it, for callers that only read.
    pub(crate) fn unchecked(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    fn make(&self) -> Result<()> {
        for directory in [self.root.clone(), self.tasks(), self.listeners(), self.sessions()] {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
            made.map_err(|error| self.unusable(&error.to_string()))?;
        }
        Ok(())
    }

    fn check(&self, found: &fs::Metadata) -> Result<()> {
        check_directory(&self.root, found, || self.unusable("it is not a directory"))?;
        if rustix::fs::access(&self.root, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_err()
        {
            return Err(self.unusable("it is not writable"));
        }
        let mut is_whole = true;
        for part in [self.tasks(), self.listeners(), self.sessions()] {
            match fs::symlink_metadata(&part) {
                Ok(found) => {
                    let no_directory = || Error::Home(HomeProblem::NotADirectory(part.clone()));
                    check_directory(&part, &found, no_directory)?;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => is_whole = false,
                Err(error) => return Err(self.unusable(&error.to_string())),
            }
        }
        if is_whole { Ok(()) } else { self.make() }
    }

    fn unusable(&self, why: &str) -> Error {
        Error::Home(HomeProblem::Unusable { path: self.root.clone(), why: why.to_owned() })
    }

    /// Returns the path of the home.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whether the flag for queued tasks is set. A process that frees a slot and finds it must settle.
    pub(crate) fn is_waiting_noted(&self) -> bool {
        self.root.join(WAITING_FILE).exists()
    }

    /// Sets the flag for queued tasks, inside the transaction that queues one and before slots are tried for it. A process that
    /// frees a slot from then on sees the flag and settles.
    pub(crate) fn note_waiting(&self) -> Result<()> {
        if self.is_waiting_noted() {
            return Ok(());
        }
        let failed = Error::io("cannot write the flag for queued tasks");
        open_private(&self.root.join(WAITING_FILE)).map(drop).map_err(failed)
    }

    /// Removes the flag, inside a transaction that finds the queue empty. If it stays, the only cost is time.
    pub(crate) fn clear_waiting(&self) {
        let _ = fs::remove_file(self.root.join(WAITING_FILE));
    }

    /// Returns the list of tasks that are not in the database yet.
    pub(crate) fn arrivals(&self) -> Arrivals {
        Arrivals::at(self.root.join(ARRIVALS_FILE))
    }

    pub(crate) fn sessions(&self) -> PathBuf {
        self.root.join(SESSIONS_DIR)
    }

    /// Returns the files of a session.
    pub(crate) fn session(&self, session: &str) -> SessionDir {
        SessionDir::of(&self.sessions(), session)
    }

    /// Returns the directory of the slots over all sessions.
    pub(crate) fn common_slots(&self) -> PathBuf {
        self.root.join(SLOTS_DIR)
    }

    /// Returns the path of the database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.root.join(DATABASE_FILE)
    }

    /// Returns the directory of all task directories.
    #[must_use]
    pub fn tasks(&self) -> PathBuf {
        self.root.join(TASKS_DIR)
    }

    pub(crate) fn listeners(&self) -> PathBuf {
        self.root.join(BELLS_DIR)
    }

    /// Returns a task's directory.
    #[must_use]
    pub fn task<'id>(&self, id: &'id TaskId) -> TaskDir<'id> {
        TaskDir::new(&self.tasks(), id)
    }

    /// Returns the ids of all task directories.
    pub(crate) fn task_ids(&self) -> Result<Vec<TaskId>> {
        let path = self.tasks();
        let Some(entries) = look(&path, fs::read_dir(&path))? else { return Ok(Vec::new()) };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.map_err(cannot_inspect(&path))?.file_name();
            ids.extend(name.to_str().and_then(|name| name.parse::<TaskId>().ok()));
        }
        Ok(ids)
    }

    /// Creates and locks the directory of a new task. Returns `None` if the id is taken.
    ///
    /// An unlocked directory without a journal shows that its starter was killed.
    pub(crate) fn make_task(&self, id: &TaskId) -> io::Result<Option<StartHold>> {
        let path = self.task(id);
        self.arrivals().announce(id, || {
            match DirBuilder::new().mode(0o700).create(&*path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
                Err(error) => return Err(error),
            }
            self.task(id).hold_start().map(Some)
        })
    }

    /// Stores the session and the numbers of a task that belongs to another session or is now in the background. Returns
    /// the spec as it was.
    pub(crate) fn store_owner(&self, task: &Task, grace_ms: u64) -> Result<TaskSpec> {
        let before = self.task(&task.id).spec()?;
        let mut spec = before.clone();
        if spec.session != task.session {
            // Its starter and the host of the old session have no part in the new session.
            spec.starter = None;
            let grace_ms = spec.bond.map_or(grace_ms, |bond| bond.grace_ms);
            let session = self.session(&task.session);
            spec.bond = holder_loss::bond(session.path(), &task.session, spec.lifetime, grace_ms);
        }
        spec.session.clone_from(&task.session);
        (spec.number, spec.handle_number) = (task.number, task.handle_number);
        spec.foreground = task.foreground;
        self.task(&task.id).replace_spec(&spec)?;
        Ok(before)
    }
}

/// Refuses a home, or a part of it, that is not a directory of this user alone.
fn check_directory(path: &Path, found: &fs::Metadata, no_directory: impl FnOnce() -> Error) -> Result<()> {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    // The target of a link may change between two checks, and may belong to another user.
    if found.is_symlink() {
        let target = fs::canonicalize(path).or_else(|_| fs::read_link(path)).unwrap_or_default();
        return Err(Error::Home(HomeProblem::Link { path: path.to_owned(), target }));
    }
    if !found.is_dir() {
        return Err(no_directory());
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(Error::Home(HomeProblem::OtherUser(path.to_owned())));
    }
    // Others who can write to it could run commands as this user.
    if found.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err(Error::Home(HomeProblem::Shared(path.to_owned())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mw_model::TaskKind;

    #[test]
    fn the_id_of_an_existing_task_is_not_reused() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::open(&dir.path().join("state")).unwrap();
        let id = TaskId::from_random(TaskKind::Shell, 7);
        let hold = home.make_task(&id).unwrap();
        assert!(hold.is_some());
        fs::write(home.task(&id).join("kept"), "").unwrap();
        assert!(home.make_task(&id).unwrap().is_none());
        drop(hold);
        assert!(home.make_task(&id).unwrap().is_none(), "the id stays in use after its starter is gone");
        assert!(home.task(&id).join("kept").exists());
    }
}
