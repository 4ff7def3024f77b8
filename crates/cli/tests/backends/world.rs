//! A home with one back-end.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mw_testkit::{Home, SOON, processes, wait_until};
use serde_json::Value;

/// How tasks of a back-end are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Process,
    Mock,
    Remote,
}

/// A home with one back-end, on which behaviours are tried.
pub(crate) struct World {
    pub(crate) home: Home,
    pub(crate) on: String,
    pub(crate) kind: Kind,
}

impl World {
    /// Makes a home whose settings contain this text.
    pub(crate) fn new(on: &str, kind: Kind, settings: &str) -> Self {
        Self::with_home(Home::new(env!("CARGO_BIN_EXE_mw")), on, kind, settings)
    }

    /// Writes these settings into a home.
    pub(crate) fn with_home(home: Home, on: &str, kind: Kind, settings: &str) -> Self {
        let directory = home.user().join(".config/meanwhile");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("config.toml"), settings).unwrap();
        Self { home, on: on.to_owned(), kind }
    }

    /// Starts a script. A mock gets these lines as its input instead.
    pub(crate) fn start(&self, script: &str, mock: &[&str]) -> String {
        self.start_with(&[], script, mock)
    }

    pub(crate) fn start_with(&self, options: &[&str], script: &str, mock: &[&str]) -> String {
        let options: Vec<_> = ["--on", &self.on].iter().chain(options).copied().collect();
        let id = self.home.start_with(&options, script);
        if self.kind == Kind::Mock {
            for line in mock {
                self.home.command(["input", &id, line]).run().ok();
            }
        }
        id
    }

    /// Starts a script as soon as the back-end is available.
    pub(crate) fn start_when_ready(&self, script: &str) -> String {
        wait_until(SOON, "the back-end is available", || {
            (self.home.mw(["backends", &self.on]).code == Some(0)).then_some(())
        });
        self.start(script, &[])
    }

    /// Waits for the end and returns the task.
    pub(crate) fn ended(&self, id: &str) -> Value {
        self.home.ended(id)
    }

    /// Returns one stream of the output.
    pub(crate) fn output(&self, id: &str, stream: &str) -> Vec<u8> {
        self.home.mw(["output", id, "--stream", stream, "--raw", "--offset", "0", "--max-bytes", "0"]).stdout
    }

    /// Returns the processes on this machine that have this word in their command line.
    pub(crate) fn processes_with(&self, word: &str) -> Vec<u32> {
        let mut found = processes::all();
        found.retain(|pid| {
            processes::alive(*pid) && processes::command_line(*pid).iter().any(|it| it == word)
        });
        found
    }

    /// Waits until a process with this word runs, or until none does.
    pub(crate) fn until_running(&self, word: &str, runs: bool) {
        wait_until(SOON, &format!("a process with {word} runs: {runs}"), || {
            (self.processes_with(word).is_empty() != runs).then_some(())
        });
    }

    /// Kills everything of a task that runs here: driver, supervisor and guardian.
    pub(crate) fn kill_all_of(&self, id: &str) {
        // The guardian first, because it would take over.
        if let Some(pair) = self.home.find_pair(id) {
            self.home.try_kill_process(pair.guardian);
        }
        wait_until(SOON, "nothing of the task runs here", || {
            let left: Vec<_> = self.home.supervisors_of(id).into_iter().chain(self.drivers_of(id)).collect();
            left.iter().for_each(|pid| _ = self.home.try_kill_process(*pid));
            left.is_empty().then_some(())
        });
    }

    /// The drivers of a task, which have its directory as their working directory.
    pub(crate) fn drivers_of(&self, id: &str) -> Vec<u32> {
        let directory = self.home.task_dir(id);
        let mut found = processes::all();
        found.retain(|pid| {
            let is_driver = processes::command_line(*pid).iter().any(|word| word == "backend-driver");
            is_driver && processes::cwd(*pid).is_some_and(|cwd| cwd == directory) && processes::alive(*pid)
        });
        found
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Processes elsewhere do not have the tag of the home.
        let kill = self.home.command(["kill", "--all", "--signal", "KILL"]).limit(Duration::from_secs(60));
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| kill.run()));
    }
}

/// Returns a number that no other process of this machine has in its command line.
pub(crate) fn unique() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{}", 3000 + NEXT.fetch_add(1, Ordering::Relaxed), std::process::id())
}
