//! The directory that holds everything: its layout, its permissions, its checks.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use mw_model::wire::{
    ARRIVALS_FILE, BELLS_DIR, LOG_FILE, RUNS_DIR, SESSIONS_DIR, SPEC_FILE, TASKS_DIR, TOLD_FILE,
    TOLD_NEWS_FILE, WAITING_FILE,
};
use mw_model::{SessionBond, TaskId, TaskSpec, Timestamp};
use rustix::fs::OFlags;

use crate::error::{Error, Result};
use crate::queue::arrivals::Arrivals;
use crate::queue::slots::WaitingFlag;
use crate::session::dir::SessionDir;
use crate::session::vacancy;
use crate::task::Task;

/// The spec of a task that is being cleared.
pub(crate) const CLEARED_FILE: &str = "spec.cleared";

/// A checked home directory.
#[derive(Clone, Debug)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// Opens a home, making it when it is absent. Refuses one that belongs to somebody else.
    ///
    /// # Errors
    /// When the directory cannot be made, read or written, or is another user's.
    pub fn open(root: &Path) -> Result<Self> {
        let root = std::path::absolute(root).map_err(|_| Error::Home {
            message: "there is no home directory".to_owned(),
            hint: "set MEANWHILE_HOME or HOME".to_owned(),
        })?;
        // Without a slash at the end, which would have a link followed.
        let home = Self { root: root.components().collect() };
        match fs::symlink_metadata(&home.root) {
            Ok(found) => home.check(&found)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => home.make()?,
            Err(error) => return Err(home.unusable(&error.to_string())),
        }
        Ok(home)
    }

    /// Names a home without looking at it, for those who only read.
    pub(crate) fn unchecked(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    fn make(&self) -> Result<()> {
        for directory in [self.root.clone(), self.tasks(), self.bells(), self.sessions()] {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
            made.map_err(|error| self.unusable(&error.to_string()))?;
        }
        Ok(())
    }

    fn check(&self, found: &fs::Metadata) -> Result<()> {
        refuse_link(&self.root, found)?;
        if !found.is_dir() {
            return Err(self.unusable("it is not a directory"));
        }
        refuse_shared(&self.root, found)?;
        if rustix::fs::access(&self.root, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_err()
        {
            return Err(self.unusable("it is not writable"));
        }
        let mut is_whole = true;
        for part in [self.tasks(), self.bells(), self.sessions()] {
            match fs::symlink_metadata(&part) {
                Ok(found) => check_part(&part, &found)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => is_whole = false,
                Err(error) => return Err(self.unusable(&error.to_string())),
            }
        }
        if is_whole { Ok(()) } else { self.make() }
    }

    fn unusable(&self, why: &str) -> Error {
        Error::Home {
            message: format!("the home directory {} cannot be used: {why}", self.root.display()),
            hint: "set MEANWHILE_HOME to a directory of your own".to_owned(),
        }
    }

    /// Returns the directory itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Tells whether tasks wait for slots.
    pub(crate) fn waiting_flag(&self) -> WaitingFlag {
        WaitingFlag::at(self.root.join(WAITING_FILE))
    }

    /// Notes that a task waits, inside the transaction that makes it wait and before slots are tried for it:
    /// who frees one from then on sees that and settles.
    pub(crate) fn note_waiting(&self) -> Result<()> {
        self.waiting_flag().set().map_err(Error::io("cannot note that tasks wait"))
    }

    /// Returns the list of tasks that are not in the database yet.
    pub(crate) fn arrivals(&self) -> Arrivals {
        Arrivals::at(self.root.join(ARRIVALS_FILE))
    }

    pub(crate) fn sessions(&self) -> PathBuf {
        self.root.join(SESSIONS_DIR)
    }

    /// Returns the directory of a session.
    pub(crate) fn session(&self, session: &str) -> SessionDir {
        SessionDir::of(&self.sessions(), session)
    }

    /// Returns the directory of the slots over all sessions.
    pub(crate) fn common_slots(&self) -> PathBuf {
        self.root.join("slots")
    }

    /// Returns the database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.root.join("meanwhile.db")
    }

    /// Returns the directory that holds a directory for each task.
    #[must_use]
    pub fn tasks(&self) -> PathBuf {
        self.root.join(TASKS_DIR)
    }

    pub(crate) fn bells(&self) -> PathBuf {
        self.root.join(BELLS_DIR)
    }

    /// Returns a task's directory.
    #[must_use]
    pub fn task(&self, id: &TaskId) -> PathBuf {
        self.tasks().join(id.as_str())
    }

    /// Returns the log of a task's present or last run.
    #[must_use]
    pub fn log(&self, id: &TaskId) -> PathBuf {
        self.task(id).join(LOG_FILE)
    }

    /// Returns the directory with the files of an earlier run.
    #[must_use]
    pub fn earlier_run(&self, id: &TaskId, run: u32) -> PathBuf {
        self.task(id).join(RUNS_DIR).join(run.to_string())
    }

    /// Makes the directory of a new task and holds it; nothing when the id is taken.
    ///
    /// Whoever finds a directory with no journal that nobody holds knows that its starter was killed.
    pub(crate) fn make_task(&self, id: &TaskId) -> io::Result<Option<StartHold>> {
        let path = self.task(id);
        self.arrivals().announce(id, || {
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
                Err(error) => return Err(error),
            }
            self.hold_start(id).map(Some)
        })
    }

    /// Opens a task's directory.
    pub(crate) fn open_task(&self, id: &TaskId) -> Result<File> {
        self.task_dir(id).map(File::from).map_err(Error::io("cannot open the task directory"))
    }

    /// Holds a task that is new.
    fn hold_start(&self, id: &TaskId) -> io::Result<StartHold> {
        let directory = File::from(self.task_dir(id)?);
        directory.lock()?;
        Ok(StartHold { directory })
    }

    pub(crate) fn write_spec(&self, spec: &TaskSpec) -> Result<()> {
        let path = self.task(&spec.id).join(SPEC_FILE);
        let text = serde_json::to_vec(spec).map_err(|error| Error::io("spec.json")(error.into()))?;
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(&text));
        written.map_err(Error::io(format!("cannot write {}", path.display())))
    }

    /// Writes down that a task belongs to another session, or is in the background now.
    pub(crate) fn rename_task(&self, task: &Task, grace_ms: u64, now: Timestamp) -> Result<()> {
        let mut spec = self.spec(&task.id)?;
        if spec.session != task.session {
            // Whoever started it has no part in the session it belongs to now, and whoever held the old one neither.
            spec.starter = None;
            let grace_ms = spec.bond.map_or(grace_ms, |bond| bond.grace_ms);
            spec.bond = vacancy::bond(self, &task.session, spec.lifetime, grace_ms, now);
        }
        spec.session.clone_from(&task.session);
        (spec.number, spec.handle_number) = (task.number, task.handle_number);
        spec.foreground = task.foreground;
        self.replace_spec(&task.id, &spec)
    }

    /// Writes down which tasks a task still has to follow.
    pub(crate) fn change_after(&self, id: &TaskId, after: &[TaskId]) -> Result<()> {
        self.replace_spec(id, &TaskSpec { after: after.to_vec(), ..self.spec(id)? })
    }

    /// Writes down how a task hangs on its session now.
    pub(crate) fn change_bond(&self, id: &TaskId, bond: Option<SessionBond>) -> Result<()> {
        self.replace_spec(id, &TaskSpec { bond, ..self.spec(id)? })
    }

    fn replace_spec(&self, id: &TaskId, spec: &TaskSpec) -> Result<()> {
        let text = serde_json::to_vec(spec).map_err(|error| Error::io("spec.json")(error.into()))?;
        self.replace(id, SPEC_FILE, &text).map_err(Error::io("cannot write spec.json"))
    }

    /// Notes that the owner was told of a run's end, for a database that is rebuilt. Best effort.
    pub(crate) fn mark_told(&self, id: &TaskId, run: u32) {
        let _ = self.replace(id, TOLD_FILE, run.to_string().as_bytes());
    }

    /// Notes that the owner was told of something else than an end. Best effort, too.
    pub(crate) fn mark_news_told(&self, id: &TaskId, told: &ToldNews) {
        let line = format!("{} {} {}\n", told.kind, told.run, told.ordinal);
        let _ = self
            .open_in_task(id, TOLD_NEWS_FILE, OFlags::APPEND)
            .and_then(|mut file| file.write_all(line.as_bytes()));
    }
}

/// Refuses a part of a home that is no directory, or that others can change.
fn check_part(part: &Path, found: &fs::Metadata) -> Result<()> {
    refuse_link(part, found)?;
    if !found.is_dir() {
        return Err(Error::Home {
            message: format!("the home cannot be used: {} is not a directory", part.display()),
            hint: format!("move {} away", part.display()),
        });
    }
    refuse_shared(part, found)
}

/// Refuses a link: where it leads may change between two looks, and nothing says whose that is.
fn refuse_link(path: &Path, found: &fs::Metadata) -> Result<()> {
    if !found.is_symlink() {
        return Ok(());
    }
    let target = fs::canonicalize(path).or_else(|_| fs::read_link(path)).unwrap_or_default();
    Err(Error::Home {
        message: format!(
            "the home cannot be used: {} is a symbolic link to {}",
            path.display(),
            target.display()
        ),
        hint: "set MEANWHILE_HOME to the directory itself; a part of it on another disk can be a bind mount"
            .to_owned(),
    })
}

/// Refuses a directory that is not the user's alone: whoever can write to it can have commands run as the user.
fn refuse_shared(directory: &Path, found: &fs::Metadata) -> Result<()> {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let path = directory.display();
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(Error::Home {
            message: format!("the home directory {path} cannot be used: it belongs to another user"),
            hint: "set MEANWHILE_HOME to a directory of your own".to_owned(),
        });
    }
    if found.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err(Error::Home {
            message: format!("the home directory {path} cannot be used: other users can write to it"),
            hint: format!(
                "chmod go-w {path}, after a look at what is in it; or set MEANWHILE_HOME to another directory"
            ),
        });
    }
    Ok(())
}

/// Something an owner was told of, as the ledger tells it from others of the same task.
pub(crate) struct ToldNews {
    pub(crate) kind: String,
    pub(crate) run: u32,
    pub(crate) ordinal: u64,
}

/// A task directory held by the one who starts the task.
pub(crate) struct StartHold {
    pub(crate) directory: File,
}

impl StartHold {
    pub(crate) const fn directory(&self) -> &File {
        &self.directory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mw_model::TaskKind;

    #[test]
    fn an_id_that_is_taken_is_not_given_again() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::open(&dir.path().join("state")).unwrap();
        let id = TaskId::from_random(TaskKind::Shell, 7);
        let hold = home.make_task(&id).unwrap();
        assert!(hold.is_some());
        fs::write(home.task(&id).join("kept"), "").unwrap();
        assert!(home.make_task(&id).unwrap().is_none());
        drop(hold);
        assert!(home.make_task(&id).unwrap().is_none(), "also when its starter is gone");
        assert!(home.task(&id).join("kept").exists());
    }
}
