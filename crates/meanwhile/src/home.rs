//! The directory that holds everything: its layout, its permissions, its checks.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use mw_model::wire::{ExitRecord, JOURNAL_FILE, JournalLine, LOG_FILE, RESULT_FILE, RUNS_DIR, SPEC_FILE};
use mw_model::{SPEC_VERSION, TaskId, TaskSpec};

use crate::error::{Error, Result};

const CROWDED: &str = "crowded";

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
        let home = Self { root };
        match fs::metadata(&home.root) {
            Ok(found) => home.check(&found)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => home.make()?,
            Err(error) => return Err(home.unusable(&error.to_string())),
        }
        Ok(home)
    }

    fn make(&self) -> Result<()> {
        for directory in [self.root.clone(), self.tasks(), self.bells(), self.starting()] {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
            made.map_err(|error| self.unusable(&error.to_string()))?;
        }
        Ok(())
    }

    fn check(&self, found: &fs::Metadata) -> Result<()> {
        if !found.is_dir() {
            return Err(self.unusable("it is not a directory"));
        }
        if found.uid() != rustix::process::geteuid().as_raw() {
            return Err(self.unusable("it belongs to another user"));
        }
        if rustix::fs::access(&self.root, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_err()
        {
            return Err(self.unusable("it is not writable"));
        }
        if [self.tasks(), self.bells(), self.starting()].iter().any(|part| fs::metadata(part).is_err()) {
            self.make()?;
        }
        Ok(())
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

    /// Tells whether tasks were waiting for slots when somebody last looked. A hint, nothing more.
    pub(crate) fn is_crowded(&self) -> bool {
        self.root.join(CROWDED).exists()
    }

    /// Sets that hint.
    pub(crate) fn set_crowded(&self, crowded: bool) {
        if crowded == self.is_crowded() {
            return;
        }
        let path = self.root.join(CROWDED);
        // Best effort: a wrong hint costs a moment.
        let _ = if crowded { private_file(&path).map(drop) } else { fs::remove_file(&path) };
    }

    /// Returns the database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.root.join("meanwhile.db")
    }

    /// Returns the directory that holds a directory for each task.
    #[must_use]
    pub fn tasks(&self) -> PathBuf {
        self.root.join("tasks")
    }

    pub(crate) fn bells(&self) -> PathBuf {
        self.root.join("bells")
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

    fn starting(&self) -> PathBuf {
        self.root.join("starting")
    }

    /// Makes the directory of a new task in the staging area and holds it; nothing when the id is taken.
    ///
    /// Whoever finds a staged directory that nobody holds knows that its starter was killed.
    pub(crate) fn stage_task(&self, id: &TaskId) -> io::Result<Option<StartHold>> {
        let path = self.starting().join(id.as_str());
        if fs::symlink_metadata(self.task(id)).is_ok() {
            return Ok(None);
        }
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            Err(error) => return Err(error),
        }
        // A sweeper may take it for abandoned until it is locked.
        let directory = match File::open(&path) {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        directory.lock()?;
        let same = fs::metadata(&path)
            .is_ok_and(|found| directory.metadata().is_ok_and(|own| own.ino() == found.ino()));
        Ok(same.then_some(StartHold { _directory: directory, path }))
    }

    /// Removes a task's directory, wherever it is.
    pub(crate) fn remove_task(&self, id: &TaskId) {
        for path in [self.starting().join(id.as_str()), self.task(id)] {
            let _ = fs::remove_dir_all(path);
        }
    }

    /// Waits until a task that somebody is writing down is in its place, or its writer is gone.
    pub(crate) fn wait_for_staging(&self, id: &TaskId) {
        if let Ok(directory) = File::open(self.starting().join(id.as_str())) {
            let _ = directory.lock_shared();
        }
    }

    /// Tells whether a staged task was written down completely.
    pub(crate) fn is_staged_whole(&self, id: &TaskId) -> bool {
        self.starting().join(id.as_str()).join(SPEC_FILE).exists()
    }

    /// Puts a staged directory in its place, where it stays held.
    pub(crate) fn unstage_task(&self, id: &TaskId) -> io::Result<()> {
        fs::rename(self.starting().join(id.as_str()), self.task(id))
    }

    /// Holds a task that waits while it is being started.
    pub(crate) fn hold_start(&self, id: &TaskId) -> io::Result<StartHold> {
        let path = self.task(id);
        let directory = File::open(&path)?;
        directory.lock()?;
        Ok(StartHold { _directory: directory, path })
    }

    /// Tells whether somebody is just starting this task. The staging area comes first: directories
    /// move from there to their place, never back.
    pub(crate) fn is_being_started(&self, id: &TaskId) -> bool {
        let directories = [self.starting().join(id.as_str()), self.task(id)];
        directories.iter().any(|path| File::open(path).is_ok_and(|directory| is_locked(&directory)))
    }

    /// Returns the staged tasks whose starters were killed, held.
    pub(crate) fn abandoned_starts(&self) -> Vec<(TaskId, StartHold)> {
        let Ok(entries) = fs::read_dir(self.starting()) else { return Vec::new() };
        let abandoned = |path: PathBuf| {
            let id: TaskId = path.file_name()?.to_str()?.parse().ok()?;
            let directory = File::open(&path).ok()?;
            directory.try_lock().ok()?;
            path.exists().then_some((id, StartHold { _directory: directory, path }))
        };
        entries.flatten().filter_map(|entry| abandoned(entry.path())).collect()
    }

    pub(crate) fn write_spec(&self, spec: &TaskSpec, directory: &Path) -> Result<()> {
        let path = directory.join(SPEC_FILE);
        let text = serde_json::to_vec(spec).map_err(|error| Error::io("spec.json")(error.into()))?;
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(&text));
        written.map_err(Error::io(format!("cannot write {}", path.display())))
    }

    /// Reads what a task was asked to be.
    ///
    /// # Errors
    /// When `spec.json` is missing, unreadable, or of a newer version.
    pub fn spec(&self, id: &TaskId) -> Result<TaskSpec> {
        let damaged = |message: String| Error::Damaged { id: id.to_string(), message };
        let text = fs::read(self.task(id).join(SPEC_FILE))
            .map_err(|error| damaged(format!("spec.json cannot be read: {error}")))?;
        let version = serde_json::from_slice::<serde_json::Value>(&text)
            .ok()
            .and_then(|value| value.get("version")?.as_u64());
        if version.is_some_and(|version| version > u64::from(SPEC_VERSION)) {
            return Err(damaged(format!(
                "spec.json has version {}, this build reads up to {SPEC_VERSION}",
                version.unwrap_or(0)
            )));
        }
        let spec: TaskSpec = serde_json::from_slice(&text)
            .map_err(|error| damaged(format!("spec.json is corrupt: {error}")))?;
        if spec.id == *id { Ok(spec) } else { Err(damaged(format!("spec.json belongs to {}", spec.id))) }
    }

    /// Reads the exit record of a run, if there is one.
    pub(crate) fn result(&self, id: &TaskId, run: u32) -> Option<ExitRecord> {
        let record: ExitRecord =
            serde_json::from_slice(&fs::read(self.task(id).join(RESULT_FILE)).ok()?).ok()?;
        (record.run == run).then_some(record)
    }

    /// Reads the journal from a line on.
    pub(crate) fn journal(&self, id: &TaskId) -> Vec<JournalLine> {
        let text = fs::read_to_string(self.task(id).join(JOURNAL_FILE)).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Replaces a file in a task's directory whole.
    pub(crate) fn replace(&self, id: &TaskId, name: &str, text: &[u8]) -> io::Result<()> {
        let beside = self.task(id).join(format!(".{name}.{}", std::process::id()));
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&beside)?
            .write_all(text)?;
        fs::rename(beside, self.task(id).join(name))
    }

    /// Tells whether a supervisor of this task lives: it holds a lock.
    pub(crate) fn is_supervised(&self, id: &TaskId) -> bool {
        File::open(self.task(id).join(JOURNAL_FILE)).is_ok_and(|file| is_locked(&file))
    }
}

/// A task directory held by the one who starts the task.
pub(crate) struct StartHold {
    _directory: File,
    /// Where the directory was when it was taken.
    pub(crate) path: PathBuf,
}

fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn is_locked(file: &File) -> bool {
    match file.try_lock_shared() {
        Ok(()) => {
            let _ = file.unlock();
            false
        }
        Err(_) => true,
    }
}
