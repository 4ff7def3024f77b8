//! The isolated environment of one test.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::disk::Disk;
use crate::invocation::Invocation;
use crate::needs::{Need, has_program, is_root, need_program, skip};
use crate::outcome::Outcome;
use crate::processes::{self, kill_if};
use crate::wait::wait_until;

/// The variable that marks every process of a home.
pub(crate) const TAG: &str = "MW_TEST_TAG";
/// The variable that keeps the directories of tests, for debugging.
const KEEP: &str = "MW_TEST_KEEP";
/// The variable that names a folder with other executables to test.
const PROGRAMS: &str = "MW_TEST_PROGRAMS";
/// How long a dropped home waits until its killed processes are gone.
const DEATH_LIMIT: Duration = Duration::from_secs(60);

/// A separate home of `mw` for one test, and the processes in it.
///
/// Commands get `PATH`, a separate `HOME`, `LANG`, `NO_COLOR`, `MEANWHILE_HOME`, a mode without approval (see
/// [`Home::gated`]) and a tag, and run in [`Home::work`]. When the home is dropped, all processes with its tag are killed
/// and the directory is removed.
pub struct Home {
    mw: PathBuf,
    tag: String,
    state: PathBuf,
    env: Vec<(OsString, OsString)>,
    is_gated: bool,
    is_bound: bool,
    // Fields are dropped in this order: the disk must be unmounted before its mount point is removed.
    _disk: Option<Disk>,
    dir: TempDir,
}

impl Home {
    /// Creates a home for an executable.
    ///
    /// # Panics
    /// When no temporary directory can be made.
    #[must_use]
    pub fn new(mw: impl Into<PathBuf>) -> Self {
        Self::with_state_in(mw, "state")
    }

    /// Creates a home whose `MEANWHILE_HOME` has a path of more than `length` bytes.
    ///
    /// # Panics
    /// When no temporary directory can be made.
    #[must_use]
    pub fn with_long_path(mw: impl Into<PathBuf>, length: usize) -> Self {
        let folder = "a-rather-long-name-of-a-folder/".repeat(length / 30 + 1);
        Self::with_state_in(mw, &folder)
    }

    /// Creates a home whose `MEANWHILE_HOME` is a file system of `bytes` bytes. If none can be mounted, the test is skipped.
    ///
    /// # Panics
    /// When no temporary directory can be made.
    #[must_use]
    pub fn on_small_disk(mw: impl Into<PathBuf>, bytes: u64) -> Self {
        let mut home = Self::new(mw);
        make_private(&home.state);
        match Disk::mount(&home.state, bytes) {
            Ok(disk) => home._disk = Some(disk),
            Err(reason) => {
                drop(home);
                skip(Need::SmallDisk, &reason)
            }
        }
        home
    }

    /// Creates a home in which `mw` has no capability to ignore file modes, even if root runs the tests. Without
    /// `setpriv` the test is skipped.
    ///
    /// # Panics
    /// When no temporary directory can be made.
    #[must_use]
    pub fn bound_by_modes(mw: impl Into<PathBuf>) -> Self {
        if !is_root() {
            return Self::new(mw);
        }
        need_program("setpriv");
        let mut home = Self::new(mw);
        home.is_bound = true;
        home
    }

    fn with_state_in(mw: impl Into<PathBuf>, folder: &str) -> Self {
        let keep = std::env::var_os(KEEP).is_some();
        let dir = tempfile::Builder::new()
            .prefix("mw-test-")
            .disable_cleanup(keep)
            .tempdir()
            .expect("a temporary directory can be made");
        let root = dir.path().canonicalize().expect("a new directory has a path");
        for name in ["work", "user"] {
            make_private(&root.join(name));
        }
        let state = root.join(folder.trim_end_matches('/'));
        make_private(state.parent().expect("the state directory is in the root"));
        let mw = mw.into();
        let in_use = std::env::var_os(PROGRAMS).map(|folder| Path::new(&folder).join("mw"));
        Self {
            mw: in_use.unwrap_or(mw),
            tag: root.to_string_lossy().into_owned(),
            state,
            env: Vec::new(),
            is_gated: false,
            is_bound: false,
            _disk: None,
            dir,
        }
    }

    /// Uses the default mode, in which commands of a session may need approval.
    #[must_use]
    pub fn gated(mut self) -> Self {
        self.is_gated = true;
        self
    }

    /// Continues if a program exists; otherwise the home is removed and the test is skipped.
    #[must_use]
    pub fn needing(self, program: &'static str) -> Self {
        if has_program(program) {
            return self;
        }
        drop(self);
        skip(Need::Program(program), "no such program is on PATH")
    }

    /// Sets a variable for all commands.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Returns the value of `MW_TEST_TAG` in all processes of the home.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Returns the directory in `MEANWHILE_HOME`, which the first command creates.
    #[must_use]
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Returns the working directory of commands and tasks.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    /// Returns the directory in `HOME`.
    #[must_use]
    pub fn user(&self) -> PathBuf {
        self.root().join("user")
    }

    fn root(&self) -> &Path {
        Path::new(&self.tag)
    }

    /// Prepares `mw` with these arguments.
    pub fn command<I>(&self, args: I) -> Invocation
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        let mut command = if self.is_bound {
            let mut command = self.isolated("setpriv");
            command.args(["--bounding-set", "-dac_override,-dac_read_search"]).arg(&self.mw);
            command
        } else {
            self.isolated(&self.mw)
        };
        command.args(args);
        Invocation::new(command)
    }

    /// Prepares another program in the same environment.
    pub fn program(&self, program: impl AsRef<OsStr>) -> Invocation {
        Invocation::new(self.isolated(program))
    }

    /// Runs `mw` with these arguments.
    ///
    /// # Panics
    /// When it takes longer than the default limit.
    pub fn mw<I>(&self, args: I) -> Outcome
    where
        I: IntoIterator,
        I::Item: AsRef<OsStr>,
    {
        self.command(args).run()
    }

    fn isolated(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.work());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.user()).env("LANG", "C.UTF-8");
        command.env("NO_COLOR", "1").env("MEANWHILE_HOME", &self.state);
        command.env(TAG, &self.tag);
        if !self.is_gated {
            command.env("MEANWHILE_MODE", "dangerous");
        }
        command.envs(self.env.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str())));
        command
    }

    /// Returns the ids of all living processes of this home, including those of tasks.
    #[must_use]
    pub fn tagged(&self) -> Vec<u32> {
        let ours = |pid: &u32| self.is_tagged(*pid) && processes::alive(*pid);
        processes::all().into_iter().filter(ours).collect()
    }

    pub(crate) fn is_tagged(&self, pid: u32) -> bool {
        processes::has_variable(pid, OsStr::new(&format!("{TAG}={}", self.tag)))
    }

    /// Waits until no process of this home is left.
    ///
    /// # Panics
    /// When some stay.
    pub fn wait_until_empty(&self, limit: Duration) {
        wait_until(limit, "no process of the home is left", || self.is_empty().then_some(()));
    }

    /// Searches twice: a process whose parent ended during the first search may be missing in it.
    fn is_empty(&self) -> bool {
        self.tagged().is_empty() && self.tagged().is_empty()
    }

    /// Creates the file for which a script waits, see [`crate::children::gate`].
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn open(&self, gate: &str) {
        fs::write(self.work().join(gate), "").expect("a gate can be opened");
    }

    /// Deletes the database, which the next command rebuilds.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    pub fn delete_database(&self) {
        // The other two files appear and disappear.
        let removed = ["meanwhile.db", "meanwhile.db-wal", "meanwhile.db-shm"]
            .map(|name| fs::remove_file(self.state.join(name)).is_ok());
        assert!(removed[0], "there is no database in {}", self.state.display());
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // A guardian may start a process while its supervisor dies, so this is repeated until none is left.
        let begun = Instant::now();
        while begun.elapsed() < DEATH_LIMIT {
            if self.is_empty() {
                break;
            }
            for pid in self.tagged() {
                kill_if(pid, Signal::KILL, |pid| self.is_tagged(pid));
            }
            std::thread::yield_now();
        }
        if std::thread::panicking() && std::env::var_os(KEEP).is_some() {
            eprintln!("kept test directory: {}", self.dir.path().display());
        }
    }
}

fn make_private(directory: &Path) {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .expect("a directory can be made in a temporary one");
}
