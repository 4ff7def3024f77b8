//! Homes to measure in. Their files stay until the end: on some file systems, making files is slow for a while after many
//! were deleted, and the benchmark that comes next would pay for it.
#![expect(clippy::expect_used, reason = "a benchmark that cannot go on has nobody to tell but its user")]

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use meanwhile::engine::model::wire::{JOURNAL_FILE, LOG_FILE, RESULT_FILE, SPEC_FILE};
use meanwhile::engine::model::{CommandSpec, EnvVar, Lifetime, RawText, TaskId, TaskKind, TaskSpec};
use meanwhile::engine::{Condition, Runtime, TaskRequest, WaitRequest};
use meanwhile::settings::Executables;
use meanwhile::{Scope, Settings, TaskFilter};
use tempfile::TempDir;

/// The owner of every task here.
pub(crate) const SESSION: &str = "bench";

/// Real lines at the end of a log whose beginning is a hole.
const REAL_LINES: u64 = 1 << 20;

/// Directories in use.
static DIRECTORIES: Mutex<Vec<TempDir>> = Mutex::new(Vec::new());

/// Removes every home that was made.
pub(crate) fn remove_all() {
    DIRECTORIES.lock().expect("nobody panicked").clear();
}

/// A home of its own, opened.
pub(crate) struct World {
    pub(crate) runtime: Runtime,
    request: TaskRequest,
}

impl World {
    /// A home where so many tasks may run at once.
    pub(crate) fn with_slots(slots: u32) -> Self {
        Self::new(&std::env::temp_dir(), slots)
    }

    /// A home on a file system in memory, where there is one.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Self::new(memory, 8) } else { Self::with_slots(8) }
    }

    /// A home with finished tasks.
    ///
    /// One is run; the others are copies of its directory under other ids. The database is then removed,
    /// and the library makes it anew from the directories.
    pub(crate) fn with_finished(count: u32) -> Self {
        let world = Self::with_slots(8);
        let model = world.run("true");
        let home = world.runtime.home();
        let spec = home.task(&model).spec().expect("the model's spec");
        for number in 2..=count {
            // Ids only have to differ.
            let id = TaskId::from_random(TaskKind::Shell, u64::from(number));
            let spec = TaskSpec { id: id.clone(), number: number.into(), ..spec.clone() };
            copy_task(&home.task(&model), &home.task(&id), &spec);
        }
        let World { runtime, request } = world;
        let (settings, database) = (runtime.settings().clone(), runtime.home().database());
        drop(runtime);
        for ending in ["", "-wal", "-shm"] {
            let mut path = database.clone().into_os_string();
            path.push(ending);
            let _ = fs::remove_file(path);
        }
        let runtime = Runtime::open(settings).expect("a home without a database can be opened");
        let total = runtime.tasks().list(&TaskFilter::new(Scope::All)).expect("a list").total;
        assert_eq!(total, u64::from(count), "the database was rebuilt from the directories");
        Self { runtime, request }
    }

    fn new(parent: &Path, slots: u32) -> Self {
        let directory = tempfile::Builder::new().prefix("mwb").tempdir_in(parent).expect("a directory");
        let home = directory.path().join("home");
        let mut settings = Settings::new(home.clone(), programs(&home));
        settings.queue.max_running = slots;
        let request = request(directory.path(), &settings);
        let runtime = Runtime::open(settings).expect("a new home can be opened");
        DIRECTORIES.lock().expect("nobody panicked").push(directory);
        Self { runtime, request }
    }

    /// Opens the same home once more.
    pub(crate) fn open_again(&self) -> Runtime {
        Runtime::open(self.runtime.settings().clone()).expect("the home can be opened")
    }

    /// Starts a script.
    pub(crate) fn start(&self, script: &str) -> TaskId {
        let command = CommandSpec::Shell { program: "/bin/sh".into(), script: script.into() };
        let request = TaskRequest { command, ..self.request.clone() };
        self.runtime.starts().start(&request).expect("the task can be started").task.id
    }

    /// Waits until all of these have ended.
    pub(crate) fn wait(&self, tasks: Vec<TaskId>) {
        let condition = Condition::Exit;
        let request = WaitRequest { tasks, any: false, condition, timeout: None, poll_interval: None };
        let reply = self.runtime.reader().wait(&request).expect("the tasks can be waited for");
        assert!(reply.tasks.iter().all(|task| task.exit_code == Some(0)), "every task completed");
    }

    /// Runs a script to its end.
    pub(crate) fn run(&self, script: &str) -> TaskId {
        let id = self.start(script);
        self.wait(vec![id.clone()]);
        id
    }

    /// Makes a finished task with a log of this size. All but the end of a large one is a hole: who reads
    /// the tail must not care.
    pub(crate) fn run_with_log(&self, size: u64) -> TaskId {
        let id = self.run("true");
        let mut log =
            OpenOptions::new().write(true).open(self.runtime.home().task(&id).log()).expect("the log");
        log.set_len(size).expect("the log can grow");
        let real = size.min(REAL_LINES);
        log.seek(SeekFrom::Start(size - real)).expect("the log can be written");
        let line = format!("{:079}\n", 7);
        let lines = line.repeat(real as usize / line.len() + 1);
        log.write_all(&lines.as_bytes()[lines.len() - real as usize..]).expect("the log can be written");
        id
    }
}

fn request(cwd: &Path, settings: &Settings) -> TaskRequest {
    let variable = |(name, value): (String, String)| EnvVar { name: name.into(), value: value.into() };
    let env = std::env::vars().map(variable).collect();
    let command = CommandSpec::Argv(vec!["true".into()]);
    TaskRequest {
        limits: settings.limits.clone(),
        lifetime: Lifetime::Detached,
        ..TaskRequest::new(SESSION, command, cwd.to_owned(), env)
    }
}

fn copy_task(from: &Path, to: &Path, spec: &TaskSpec) {
    fs::create_dir(to).expect("a task directory");
    fs::write(to.join(SPEC_FILE), serde_json::to_vec(spec).expect("a spec")).expect("a spec");
    for name in [JOURNAL_FILE, LOG_FILE, RESULT_FILE] {
        if from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).expect("a copy");
        }
    }
}

fn programs(home: &Path) -> Executables {
    let folder = programs_folder();
    let words = [folder.join("mw").as_os_str(), "settle".as_ref(), "--home".as_ref(), home.as_os_str()]
        .map(|word| RawText::from(word.as_bytes()));
    Executables { supervisor: folder.join("mw-supervisor"), settle: words.to_vec(), starter_exits: false }
}

/// Finds the executables: `MW_BIN_DIR`, or the folder that cargo built this benchmark into.
fn programs_folder() -> PathBuf {
    let given = std::env::var_os("MW_BIN_DIR").map(PathBuf::from);
    let own = std::env::current_exe().ok();
    let built = own.and_then(|file| Some(file.parent()?.parent()?.to_owned()));
    let folder = given.or(built).unwrap_or_default();
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    for name in ["mw", "mw-engine", "mw-supervisor"] {
        assert!(
            folder.join(name).is_file(),
            "{name} is not in {}: run `cargo build --release --package mw-cli` first, or set MW_BIN_DIR",
            folder.display()
        );
    }
    folder
}
